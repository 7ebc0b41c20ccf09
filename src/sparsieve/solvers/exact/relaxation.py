"""The convex relaxation of "at most k features" for least squares with a ridge.

With z_j in {0, 1} saying whether feature j is used, min over W of ||Y - X_z W||^2 + ridge ||W||^2
is f(z) = tr Y'(I + X diag(z) X' / ridge)^-1 Y, which is convex in z. Letting z move in [0, 1] with
sum z <= k is the perspective relaxation (Pilanci, Wainwright and El Ghaoui 2015; Bertsimas and
van Parys 2020); its value bounds from below what any k features can reach.

With A = (I + X diag(z) X' / ridge)^-1 Y and C = X'A the derivatives are

    df/dz_j = -||c_j||^2 / ridge,      d2f/dz_i dz_j = 2 / ridge^2 (c_i'c_j) K_ij,
    K = X'(I + X diag(z) X' / ridge)^-1 X,

the Hessian being positive semidefinite as the entrywise product of two such matrices. Few z_j
are nonzero at the solution, so Newton's method on a working set needs only the Gram matrix of
a hundred columns or so.

Where groups of columns are used together, one z_g stands for all columns of a group: derivatives
are summed over them. Groups may have discounts, which f is less by: the sum of z_g times these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from .support_values import EPS, TINY

# Newton steps, changes of the active set per step, and halvings of a step that does not descend.
MAX_ITER_NEWTON, MAX_ITER_ACTIVE_SET, MAX_HALVINGS = 50, 30, 12
# Added to the Hessian, relative to its mean diagonal: equal columns make it singular. More, up to
# the second, while steps bring little, as with more features in play than there are samples.
DAMPING_MIN, DAMPING_MAX = 1e-9, 1e-2
ZERO_TOL = 1e-12  # a z below this is zero
MAX_ATTEMPTS = 8  # to make a system regular


@dataclass
class Relaxed:
    """A point of the relaxation on a working set.

    Attributes
    ----------
    z : ndarray of shape (m,)
    weights : ndarray of shape (m, c)
        W such that A = Y - X_S W.
    squares : ndarray of shape (m,)
        ||x_j'A||^2 for the features of the set, and the ridge times their discounts.
    value : float
        f(z), less the discounts.
    gap : float
        How far f(z) is above the optimum on the set, at most.
    """

    z: np.ndarray
    weights: np.ndarray
    squares: np.ndarray
    value: float
    gap: float

    def multiplier(self, nothing: float = 0.0) -> float:
        """The multiplier of the limit on sum z; a z within ``nothing`` of 0 or 1 is that."""
        inner = (self.z > nothing) & (self.z < 1.0 - nothing)
        if inner.any():
            return float(self.squares[inner].max())
        held = self.squares[self.z > nothing]
        return float(held.min()) if len(held) else 0.0


@dataclass(frozen=True)
class GramProblem:
    """X_S'X_S, X_S'Y and ||Y||^2: all that the relaxation needs of some features."""

    gram: np.ndarray
    cross: np.ndarray
    power: float
    ridge: float
    numbers: np.ndarray | None = None  # the group of every column, rising from 0
    discounts: np.ndarray | None = None  # of every group, not negative

    def sum_by_unit(self, values: np.ndarray, n_units: int) -> np.ndarray:
        """One number per column added up within groups."""
        if self.numbers is None:
            return values
        return np.bincount(self.numbers, weights=values, minlength=n_units)

    def evaluate(self, z: np.ndarray) -> _Point:
        """Value and first derivatives at z."""
        wide = z if self.numbers is None else z[self.numbers]
        used = np.flatnonzero(wide > 0.0)
        root = np.sqrt(wide[used])
        system = root[:, None] * self.gram[np.ix_(used, used)] * root
        system.flat[:: len(used) + 1] += self.ridge
        lower = _lower_factor(system)
        seen = solve_triangular(
            lower, root[:, None] * self.cross[used], lower=True, check_finite=False
        )
        rows = solve_triangular(lower, seen, lower=True, trans=1, check_finite=False)
        weights = np.zeros_like(self.cross)
        weights[used] = root[:, None] * rows
        correlation = self.cross - self.gram[:, used] @ weights[used]
        # Exact on the support, where the difference above may cancel.
        correlation[used] = self.ridge * rows / root[:, None]
        value = self.power - float(np.vdot(seen, seen))
        squares = np.einsum("ij,ij->i", correlation, correlation)
        squares = self.sum_by_unit(squares, len(z))
        fit = value
        if self.discounts is not None:
            squares = squares + self.ridge * self.discounts
            value -= float(self.discounts @ z)
        return _Point(z, used, root, lower, weights, correlation, value, squares, fit)


@dataclass
class _Point:
    z: np.ndarray
    used: np.ndarray
    root: np.ndarray
    lower: np.ndarray
    weights: np.ndarray
    correlation: np.ndarray
    value: float
    squares: np.ndarray
    fit: float  # the value without discounts, which is not negative


def _lower_factor(system: np.ndarray) -> np.ndarray:
    """The Cholesky factor; of a system that rounding made singular that of one close to it.

    A point that is a little off gives a bound that is a little lower, but still a bound.
    """
    more = len(system) * EPS * system.diagonal() + TINY
    for _ in range(MAX_ATTEMPTS):
        try:
            return cho_factor(system, lower=True, check_finite=False)[0]
        except np.linalg.LinAlgError:
            system = system + np.diag(more)
            more *= 100.0
    return np.diag(np.sqrt(np.abs(system.diagonal())))


def relax(
    problem: GramProblem,
    z: np.ndarray,
    budget: float,
    *,
    tol: float,
    low: np.ndarray | None = None,
    enough: float = np.inf,
) -> Relaxed:
    """Minimise f over low <= z <= 1, sum z <= budget, from a feasible z.

    Parameters
    ----------
    low : zeros, with ones for features that are used for sure.
    tol : relative accuracy of the value.
    enough : a lower bound above this ends the search: a node of a tree is then decided.
    """
    low = np.zeros_like(z) if low is None else low
    budget = min(budget, float(len(z)))
    point = problem.evaluate(z)
    damping, before = DAMPING_MIN, np.inf
    for _ in range(MAX_ITER_NEWTON):
        squares = point.squares
        vertex = _vertex(squares, low, budget)
        gap = float(squares @ (vertex - point.z)) / problem.ridge
        if not gap > tol * point.fit or point.value - gap > enough:
            break
        damping = (
            min(30.0 * damping, DAMPING_MAX)
            if gap > 0.5 * before
            else max(damping / 30, DAMPING_MIN)
        )
        before = gap
        target = _newton_target(problem, point, low, budget, damping)
        following = _descend(problem, point, target, low)
        if following is None:  # the direction of steepest descent within the set always helps
            following = _descend(problem, point, vertex, low)
        if following is None:
            break
        point = following
    squares = point.squares
    gap = float(squares @ (_vertex(squares, low, budget) - point.z)) / problem.ridge
    return Relaxed(point.z, point.weights, squares, point.value, max(gap, 0.0))


def _descend(
    problem: GramProblem, point: _Point, target: np.ndarray, low: np.ndarray
) -> _Point | None:
    """The first of ever shorter steps towards the target that lowers the value."""
    slope = -float(point.squares @ (target - point.z)) / problem.ridge
    if not slope < 0.0:
        return None
    for halving in range(MAX_HALVINGS):
        step = 0.5**halving
        trial = np.clip(point.z + step * (target - point.z), low, 1.0)
        trial[trial < ZERO_TOL] = 0.0
        candidate = problem.evaluate(trial)
        if candidate.value <= point.value + 1e-4 * step * slope:
            return candidate
    return None


def _vertex(squares: np.ndarray, low: np.ndarray, budget: float) -> np.ndarray:
    """The feasible z with the largest squares'z."""
    order = np.lexsort((-squares, -low))
    z = np.zeros_like(squares)
    z[order[: int(np.floor(budget + 1e-12))]] = 1.0
    return z


def _newton_target(
    problem: GramProblem,
    point: _Point,
    low: np.ndarray,
    budget: float,
    damping: float,
) -> np.ndarray:
    """Minimise the quadratic model over the feasible z, by a primal-dual active set."""
    z, used, squares = point.z, point.used, point.squares
    reach = solve_triangular(
        point.lower,
        point.root[:, None] * problem.gram[used],
        lower=True,
        check_finite=False,
    )
    curvature = problem.gram - reach.T @ reach
    curvature *= point.correlation @ point.correlation.T
    # In units where the slope is minus ||c_j||^2: f * ridge.
    curvature *= 2.0 / problem.ridge
    if problem.numbers is not None:
        starts = np.searchsorted(problem.numbers, np.arange(len(z)))
        curvature = np.add.reduceat(np.add.reduceat(curvature, starts, axis=0), starts, axis=1)
    diagonal = float(np.trace(curvature)) / len(z)
    curvature.flat[:: len(z) + 1] += damping * diagonal + TINY
    slope = -squares
    worth = 1e-9 * float(squares.max(initial=0.0))
    movable = low < 1.0
    free = movable & (z > low) & (z < 1.0)
    # Features whose z violates its optimality condition at the multiplier's estimate.
    level = _level(squares, z, movable, low, budget)
    free |= movable & (((z <= low) & (squares > level)) | ((z >= 1.0) & (squares < level)))
    x = z.copy()
    for _ in range(MAX_ITER_ACTIVE_SET):
        inside = np.flatnonzero(free)
        if len(inside) == 0:
            break
        step = x - z
        step[free] = 0.0
        right = slope[inside] + curvature[inside] @ step
        lower = _lower_factor(curvature[np.ix_(inside, inside)])
        both = np.column_stack([right, np.ones(len(inside))])
        both = cho_solve((lower, True), both, check_finite=False)
        needed = budget - float(x[~free].sum()) - float(z[inside].sum())
        total = max(float(both[:, 1].sum()), TINY)
        price = max((-float(both[:, 0].sum()) - needed) / total, 0.0)
        x[inside] = z[inside] - both[:, 0] - price * both[:, 1]
        reduced = slope + curvature @ (x - z) + price
        reduced[inside] = 0.0
        under, over = free & (x < low), free & (x > 1.0)
        x[under], x[over] = low[under], 1.0
        wrong = movable & ~free & (np.abs(reduced) > worth)
        wrong &= ((x <= low) & (reduced < 0.0)) | ((x >= 1.0) & (reduced > 0.0))
        if not (under.any() or over.any() or wrong.any()):
            break
        free = (free & ~under & ~over) | wrong
    return _project(x, low, budget)


def _level(squares, z, movable, low, budget) -> float:
    """An estimate of the multiplier of the limit on sum z."""
    inner = movable & (z > low) & (z < 1.0)
    if inner.any():
        return float(
            np.average(squares[inner], weights=np.minimum(z[inner], 1.0 - z[inner]) + 1e-12)
        )
    values = np.sort(squares[movable])[::-1]
    place = int(budget - low.sum())
    return float(values[min(2 * place + 1, len(values) - 1)]) if len(values) else 0.0


def _project(x: np.ndarray, low: np.ndarray, budget: float) -> np.ndarray:
    """The nearest feasible point."""
    x = np.clip(x, low, 1.0)
    if x.sum() <= budget:
        return x
    below, above = 0.0, 1.0
    for _ in range(60):
        shift = 0.5 * (below + above)
        if np.clip(x - shift, low, 1.0).sum() > budget:
            below = shift
        else:
            above = shift
    return np.clip(x - above, low, 1.0)
