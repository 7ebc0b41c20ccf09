"""Steps where features times outputs are too many for their Hessian, as with a thousand classes.

The diagonal h of the Hessian of the loss, a number for every sample i and output k, is close to a
product a_i c_k of sums over outputs and over samples. So X'diag(a)X, one number for every two
features, times c_k is a model of the Hessian of every output. Block coordinate descent on that
model finds the groups with weight. Conjugate gradients find the Newton step on these, with the
model as their preconditioner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from ..losses.expansion import usual_length
from .free import common_part, minimise_free, solve_semidefinite
from .proximal_newton import MAX_HALVINGS, MAX_SLOW, MODEL_SHARE, ROUNDING, SLOW_SHARE, Point
from .quadratic_model import block_norms, block_spectra, minimise, ranges

# Products with the Hessian for one Newton step, and how well they solve for it, at best and at
# worst.
CG_STEPS, CG_TOL, MAX_CG_TOL = 50, 0.05, 0.3
# Of the curvature of a column without penalty: what takes the place of a penalty.
FREE_RIDGE = 1e-6
# A Newton step has to leave at most this share of the gap.
MAX_GAP_SHARE = 0.5
SINGLE = np.float32
TINY = np.finfo(np.float64).tiny


def descend(
    loss: Loss,
    X: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    alpha: float,
    share: float,
    least: float,
    max_steps: int,
    point: Point,
) -> tuple[Point, float, float, int]:
    """As :func:`.proximal_newton`: the point, the objective, the gap and the number of steps."""
    W, F, gradient = point.W.copy(), point.F.copy(), loss.gradient(point.F)
    inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0.0)
    n_free = int(starts[1]) if weights[0] == 0.0 else 0
    place = _Place(loss, X, starts, alpha * weights, n_free, W, F, gradient)
    steps, slow, best, before, is_settled = 0, 0, np.inf, np.inf, False
    while True:
        slopes = X @ gradient
        norms, strengths = block_norms(W, starts), block_norms(slopes, starts) * inverse
        price = float(weights @ norms)
        total = loss.value(F) + alpha * price
        gap = total - loss.dual_value(F, min(1.0, alpha / max(float(strengths.max()), alpha)))
        size = max(abs(total), total - least)
        slow = slow + 1 if gap > SLOW_SHARE * best else 0
        is_last = not gap > share * size or slow > 2 * MAX_SLOW or steps >= max_steps
        if is_last and not is_settled:
            place.settle()
            is_settled = True
            continue
        if is_last:
            return Point(W, F, gradient, norms, strengths), total, gap, steps
        rest = gap / size
        weighted = norms > 0.0
        # A Newton step is of no use where groups have to enter or to leave, and where the last one
        # did little.
        is_newton = (
            bool(weighted[place.is_free :].any())
            and bool((strengths[~weighted] <= (1.0 + rest) * alpha).all())
            and not place.has_turned
            and gap <= MAX_GAP_SHARE * before
        )
        before = gap if is_newton else np.inf
        best = min(best, gap)
        place.model()
        if is_newton:
            change = place.newton(slopes, norms, min(max(CG_TOL, rest, share / rest), MAX_CG_TOL))
        else:
            change = place.bounded_step(slopes, max(MODEL_SHARE * rest, ROUNDING))
        moved = place.move(change, slopes, total, alpha * price)
        if not moved and not is_newton:
            return Point(W, F, gradient, norms, strengths), total, gap, steps
        is_settled = is_settled and not moved
        steps += 1


class _Place:
    """Where a descent is, and directions from there; everything moves in place."""

    def __init__(
        self,
        loss: Loss,
        X: np.ndarray,
        starts: np.ndarray,
        costs: np.ndarray,
        n_free: int,
        W: np.ndarray,
        F: np.ndarray,
        gradient: np.ndarray,
    ) -> None:
        self.loss, self.X, self.starts, self.costs, self.n_free = loss, X, starts, costs, n_free
        self.W, self.F, self.gradient = W, F, gradient
        self.is_free = int(n_free > 0)
        self.has_turned = False  # a group, in the last step

    def model(self) -> None:
        """X'diag(a)X and c here."""
        h = self.loss.diagonal(self.F)
        self.A: np.ndarray = (self.X * h.sum(axis=1)) @ self.X.T
        self.scales: np.ndarray = np.maximum(h.sum(axis=0) / h.sum(), TINY)

    def bounded_step(self, slopes: np.ndarray, tol: float) -> np.ndarray:
        """The change that minimises the model."""
        z, A = self.n_free, self.A
        # What the free columns do about a change of the others, and about their own slopes.
        both = np.zeros((z, len(A) - z + len(self.scales)))
        if z:
            found = solve_semidefinite(A[:z, :z], np.hstack((A[:z, z:], slopes[:z])))
            both = both if found is None else found
        follow, own = both[:, : len(A) - z], both[:, len(A) - z :]
        system = A[z:, z:] - A[z:, :z] @ follow
        starts = self.starts[self.is_free :] - z
        W, G = self.W[z:].T.copy(), (slopes[z:] - A[z:, :z] @ own).T.copy()
        spectra = block_spectra(system, np.diff(starts))
        costs = self.costs[self.is_free :]
        system = np.ascontiguousarray(system)
        minimise(system, self.scales, W, G, starts, *spectra, costs, 1.0, tol)
        change = np.zeros_like(self.W)
        change[z:] = W.T - self.W[z:]
        change[:z] = -follow @ change[z:] - own / self.scales
        return change

    def newton(self, slopes: np.ndarray, norms: np.ndarray, tol: float) -> np.ndarray:
        """The Newton step on the groups with weight, where the penalty is smooth, roughly.

        In single precision, with columns of unit curvature and a target of unit length.
        """
        loss, z, first = self.loss, self.n_free, self.is_free
        blocks = first + np.flatnonzero(norms[first:] > 0.0)
        sizes = np.diff(self.starts)[blocks]
        rows = np.append(np.arange(z), ranges(self.starts[blocks], sizes))
        A = self.A[np.ix_(rows, rows)]
        bends = A.diagonal()[:, None] * self.scales.mean()
        units = 1.0 / np.sqrt(np.where(bends > TINY, bends, 1.0))
        lengths = np.repeat(norms[blocks], sizes)[:, None]
        pull = np.repeat(self.costs[blocks], sizes)[:, None] / lengths
        target = -slopes[rows]
        target[z:] -= pull * self.W[rows[z:]]
        target *= units
        length = max(float(np.linalg.norm(target)), TINY)
        product = loss.curvature_operator(self.F, (self.X[rows] * units).T, SINGLE)
        # The norm of a group is straight along the group.
        along = (units[z:] * self.W[rows[z:]] * np.sqrt(pull) / lengths).astype(SINGLE)
        firsts = np.cumsum(sizes) - sizes
        ridge = np.vstack((np.full((z, 1), FREE_RIDGE), pull * units[z:] ** 2))
        across = ridge[z:].astype(SINGLE)

        def apply(V: np.ndarray) -> np.ndarray:
            image = product(V)
            inner = np.add.reduceat(np.einsum("jk,jk->j", along, V[z:]), firsts)
            image[z:] += across * V[z:] - np.repeat(inner, sizes)[:, None] * along
            image[:z] += common_part(loss, V[:z])
            return image

        inverse = _inverse(units * A * units.T, self.scales, ridge)
        target = (target / length).astype(SINGLE)
        found = conjugate_gradients(apply, target, inverse, max_steps=CG_STEPS, tol=tol)
        change = np.zeros_like(self.W)
        change[rows] = length * units * found
        return change

    def move(self, change: np.ndarray, slopes: np.ndarray, total: float, price: float) -> bool:
        """Go along a direction as far as the objective falls."""

        def cost(W: np.ndarray) -> float:
            return float(self.costs @ block_norms(W, self.starts))

        moved = self.X.T @ change
        promised = min(float(np.vdot(slopes, change)) + cost(self.W + change) - price, 0.0)
        length = usual_length(self.F, moved)
        for _ in range(MAX_HALVINGS):
            W, F = self.W + length * change, self.F + length * moved
            limit = total + 1e-4 * length * promised + ROUNDING * abs(total)
            if self.loss.value(F) + cost(W) <= limit:
                break
            length *= 0.5
        else:
            return False
        turned = np.einsum("jk,jk->j", self.W, W) < 0.0
        self.has_turned = bool(turned[self.n_free :].any())
        self.W[:], self.F[:], self.gradient[:] = W, F, self.loss.gradient(F)
        return True

    def settle(self) -> None:
        """Bring the columns without penalty to their optimum."""
        self.F[:], self.gradient[:], further = minimise_free(
            self.loss, self.X[: self.n_free].T, self.F
        )
        self.W[: self.n_free] += further


def _inverse(
    A: np.ndarray, scales: np.ndarray, ridge: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Solve with A times the scale of an output plus a diagonal, for all outputs."""
    root = 1.0 / np.sqrt(ridge)
    values, Q = np.linalg.eigh(root * A * root.T)
    inner = (1.0 / (np.maximum(values, 0.0)[:, None] * scales + 1.0)).astype(SINGLE)
    Q = (root * Q).astype(SINGLE)
    return lambda V: Q @ (inner * (Q.T @ V))
