"""Steps where features times outputs are too many for their Hessian, as with a thousand classes.

The curvature bound D of the loss is the same for all outputs of a sample, so that X'DX, one number
for every two features, bounds the Hessian for every output. Block coordinate descent on that model
finds the groups with weight, and conjugate gradients on these the Newton step.
"""

from __future__ import annotations

import numpy as np

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from .free import settled, shared
from .quadratic import block_spectra, ranges, solved

# Products with the Hessian for one Newton step, and how well they solve for it.
CG_STEPS, CG_TOL = 50, 0.05


def descend(
    loss: Loss,
    X: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    alpha: float,
    share: float,
    least: float,
    max_steps: int,
    W: np.ndarray,
    F: np.ndarray,
    gradient: np.ndarray,
    norms: np.ndarray,
    strengths: np.ndarray,
) -> tuple[float, float, int]:
    """As ``_newton_kernels.proximal_newton``: the objective, the gap and the number of steps."""
    from ._newton_kernels import MAX_SLOW, MODEL_SHARE, ROUNDING, SLOW_SHARE, judge

    n_free = int(starts[1]) if weights[0] == 0.0 else 0
    place = _Place(loss, X, starts, alpha * weights, n_free, W, F, gradient)
    steps, slow, best, is_newton = 0, 0, np.inf, False
    while True:
        slopes = X @ gradient
        price, largest = judge(W, slopes, starts, weights, norms, strengths)
        total = loss.value(F) + alpha * price
        gap = total - loss.dual_value(F, min(1.0, alpha / max(largest, alpha)))
        size = max(abs(total), total - least)
        slow = slow + 1 if gap > SLOW_SHARE * best else 0
        best = min(best, gap)
        if not gap > share * size or slow > 2 * MAX_SLOW or steps >= max_steps:
            return total, gap, steps
        is_newton = not is_newton and bool(norms[weights > 0.0].any()) and steps > 0
        if is_newton:
            change = place.newton(slopes, norms)
        else:
            change = place.bounded(slopes, max(MODEL_SHARE * gap / size, ROUNDING))
        if not place.move(change, slopes, total, alpha * price) and not is_newton:
            return total, gap, steps
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

    def bounded(self, slopes: np.ndarray, tol: float) -> np.ndarray:
        """The change that minimises the model with the bound."""
        from ._quadratic_kernels import minimise

        z = self.n_free
        D = self.loss.curvature(self.F).max(axis=1)
        A = (self.X * D) @ self.X.T
        system, follow = A[z:, z:], np.zeros((0, len(A) - z))
        if z:  # what the free columns do about a change of the others, at once
            found = solved(A[:z, :z], A[:z, z:])
            follow = follow if found is None else found
            system = system - A[z:, :z] @ follow
        starts = self.starts[self.is_free :] - z
        W, G = self.W[z:].T.copy(), slopes[z:].T.copy()
        spectra = block_spectra(system, np.diff(starts))
        costs = self.costs[self.is_free :]
        minimise(np.ascontiguousarray(system), W, G, starts, *spectra, costs, 1.0, tol)
        change = np.zeros_like(self.W)
        change[z:] = W.T - self.W[z:]
        change[:z] = -follow @ change[z:]
        return change

    def newton(self, slopes: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """The Newton step on the groups with weight, where the penalty is smooth, roughly."""
        loss, F, z, first = self.loss, self.F, self.n_free, self.is_free
        blocks = first + np.flatnonzero(norms[first:] > 0.0)
        sizes = np.diff(self.starts)[blocks]
        rows = ranges(self.starts[blocks], sizes)
        firsts = np.cumsum(sizes) - sizes
        pull = np.repeat(self.costs[blocks] / norms[blocks], sizes)[:, None]
        u = self.W[rows] / np.repeat(norms[blocks], sizes)[:, None]
        M = np.vstack((self.X[:z], self.X[rows]))

        def apply(V: np.ndarray) -> np.ndarray:
            image = M @ loss.hessian_product(F, M.T @ V)
            inner = np.add.reduceat((u * V[z:]).sum(axis=1), firsts)
            image[z:] += pull * (V[z:] - u * np.repeat(inner, sizes)[:, None])
            image[:z] += size * shared(loss, V[:z])
            return image

        target = np.zeros((len(M), self.W.shape[1]))
        target[z:] = -(slopes[rows] + pull * self.W[rows])
        scale = np.maximum(M**2 @ loss.diagonal(F), np.finfo(np.float64).tiny)
        scale[z:] += pull
        size = float(scale.mean())
        found = conjugate_gradients(
            apply, target, lambda V: V / scale, max_steps=CG_STEPS, tol=CG_TOL
        )
        change = np.zeros_like(self.W)
        change[:z], change[rows] = found[:z], found[z:]
        return change

    def move(self, change: np.ndarray, slopes: np.ndarray, total: float, price: float) -> bool:
        """Go along a direction as far as the objective falls, and settle the free columns."""
        from ._newton_kernels import MAX_HALVINGS, ROUNDING, first_length, penalty

        def cost(W: np.ndarray) -> float:
            return float(penalty(W, self.starts, self.costs, 1.0))

        moved = self.X.T @ change
        promised = min(float(np.vdot(slopes, change)) + cost(self.W + change) - price, 0.0)
        length = first_length(self.F, moved)
        for _ in range(MAX_HALVINGS):
            W, F = self.W + length * change, self.F + length * moved
            limit = total + 1e-4 * length * promised + ROUNDING * abs(total)
            if self.loss.value(F) + cost(W) <= limit:
                break
            length *= 0.5
        else:
            return False
        self.W[:] = W
        self.F[:], self.gradient[:], further = settled(self.loss, self.X[: self.n_free].T, F)
        self.W[: self.n_free] += further
        return True
