"""Exactly k rows under an l2,1 loss by an augmented Lagrangian (Cai, Nie and Huang, 2013).

Minimises sum_i s_i ||y_i - x_i W - f_i B|| over W with k nonzero rows, where f_i are unpenalised
columns such as the intercept. The residual E and a copy V of W are split off; E is found by
shrinking rows, V by keeping the k longest, and (W, B) by least squares with one factorisation
for the whole run. Sample weights multiply both the loss and the quadratic terms of a sample, so
that a weight of two is the sample given twice.

The weight mu of the constraints is compared with residuals, so that the published method depends
on the units of Y. Dividing Y by the mean norm of its rows takes that away.

The growing mu alone brings the copies together in the end, whatever they are. Two things follow.
Once the long rows of V are the same for a while, mu may grow faster: only digits are left to find.
And where fewer than k rows are long, the others are left over from the multipliers: features take
turns in them, and the last iteration would decide. Such places are filled one by one with the
feature that lowers the loss most.

The first support that fits all samples exactly is the answer: no loss is lower than zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ....penalties import row_norms
from ....penalties.concave import largest
from ....solvers.base import Callback, Event, Result
from ....solvers.robust.problem import RobustRegression, orthonormal_basis
from ...robust_l20.greedy import filled_support

# Rows of V below this share of the longest are left over from the multipliers.
MIN_ROW_SHARE = 1e-3
# After every so many iterations with the same long rows mu grows faster, up to this factor.
N_NO_CHANGE, MAX_GROWTH = 20, 1.2
# From this mu on residuals are hardly shrunk: what is left is to bring the copies together.
CONSENSUS_MU = 1e6
# Copies below this many roundings of the usual size of a row are zero.
ZERO_TOL_ROUNDINGS = 1e3


@dataclass(frozen=True)
class SplitSolution:
    """Both copies of the coefficients.

    ``features`` are the rows of the sparse copy V, ``candidate`` is what V was chosen from (the
    norms of its rows rank all features), ``W`` the copy that fits the data and agrees with V in
    the end only.
    """

    features: np.ndarray
    candidate: np.ndarray
    W: np.ndarray


@dataclass(frozen=True)
class TopKLagrangian:
    """Settings of the iteration.

    Parameters
    ----------
    mu, growth : weight of the constraints and its factor from one iteration to the next, at first.
    copy_weight : weight of W = V relative to that of the residuals. None is the mean square
        norm of the columns divided by sqrt(n): sqrt(n) on standardised columns.
    scaled : divide Y by the mean norm of its rows first, let mu grow faster once the long rows stay
        the same, and fill places without a long row by what lowers the loss.
    max_iter, tol : stop when the copies differ by less than ``tol``, relative to V.
    """

    mu: float = 0.1
    growth: float = 1.02
    copy_weight: float | None = None
    scaled: bool = True
    max_iter: int = 2000
    tol: float = 1e-6

    @classmethod
    def published(cls, max_iter: int = 2000, tol: float = 1e-6) -> TopKLagrangian:
        """As published: Y as it is, and the same weight for both constraints."""
        return cls(copy_weight=1.0, scaled=False, max_iter=max_iter, tol=tol)

    def solve(
        self,
        problem: RobustRegression,
        start: Result[SplitSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[SplitSolution]:
        """Run from ``start`` or the ridge regression; the trace is the loss at the sparse copy."""
        k = len(problem.features) if problem.k is None else problem.k
        eligible = problem.is_eligible
        if k == 0:  # nothing to choose; the copies would approach zero for ever
            nothing = np.zeros((problem.design.shape[1], problem.Y.shape[1]))
            objective = float(problem.weights @ row_norms(problem.Y))
            solution = SplitSolution(np.empty(0, dtype=np.int64), nothing, nothing)
            return Result(solution, objective, 0.0, 1, True, [objective])
        unit = problem.mean(row_norms(problem.Y)) if self.scaled else 1.0
        if unit <= np.finfo(np.float64).tiny:
            unit = 1.0  # nothing to explain
        Y = (problem.Y / unit).astype(problem.design.dtype)
        system = _RidgeSystem(problem, self.copy_weight)
        W, image, free = system.solve(Y)
        if start is not None:
            W = (start.solution.W / unit).astype(Y.dtype)
            image = problem.design.matmul(W)
            free = (problem.free @ problem.free_coefficients(Y - image)).astype(Y.dtype)
        # Multipliers divided by mu, and X times those of W = V.
        gap_E, gap_V, image_gap = np.zeros_like(Y), np.zeros_like(W), np.zeros_like(Y)
        mu = self.mu
        trace: list[float] = []
        disagreement = np.inf
        known, columns = None, np.empty((len(Y), 0))  # of the last rows, as the same come again
        zero = _rounding(problem, Y)
        growth, long_rows, standing = self.growth, None, 0
        while len(trace) < self.max_iter:
            E = _shrink_rows(Y - image - free - gap_E, 1.0 / mu)
            candidate = W + gap_V
            rows = largest(np.where(eligible, row_norms(candidate), -1.0), k)
            changed = known is None or not np.array_equal(rows, known)
            exact = self.scaled and changed and _fits_exactly(problem, rows)
            if exact:  # no support has a lower loss, whatever the copies are
                trace.append(0.0)
                disagreement = 0.0
                break
            V = candidate[rows]
            if changed:
                known, columns = rows, problem.design.dense_columns(rows)
            image_V = columns @ V
            image_goal = image_V - image_gap  # of the goal V - gap_V
            step, image_step, free = system.solve(Y - E - gap_E - image_goal)
            image = image_goal + image_step
            gap_E += E - (Y - image - free)
            W = step - gap_V
            W[rows] = V - gap_V[rows] + step[rows]
            # The new multiplier gap_V + W - V is just the step.
            step[rows] = gap_V[rows] + (W[rows] - V)
            disagreement = _copy_distance(W, V, rows, zero)
            trace.append(unit * float(problem.weights @ row_norms(Y - image_V - free)))
            stop = callback is not None and callback(Event(len(trace), trace[-1], disagreement, k))
            if disagreement <= self.tol or stop:
                break
            if self.scaled:
                found = rows[_long(V, zero)]
                same = long_rows is not None and np.array_equal(found, long_rows)
                long_rows, standing = found, standing + 1 if same else 0
                growth = min(self.growth ** (1 + standing // N_NO_CHANGE), MAX_GROWTH)
            mu *= growth
            gap_E /= growth
            held_back = growth
            if self.scaled and mu > CONSENSUS_MU and not system.tight:
                held_back *= system.tighten()
            gap_V = np.divide(step, held_back, out=step)
            image_gap = np.divide(image_step, held_back, out=image_step)
        if self.scaled:
            if not exact:
                long = np.sort(rows[_long(V, zero)])
                rows = np.sort(filled_support(replace(problem, alpha=0.0), long))
            rows = _first_copies(problem, rows, eligible)
        solution = SplitSolution(
            rows, unit * candidate.astype(np.float64), unit * W.astype(np.float64)
        )
        converged = disagreement <= self.tol
        return Result(solution, trace[-1], disagreement, len(trace), converged, trace)


class _RidgeSystem:
    """min sum_i s_i ||t_i - x_i U - f_i B||^2 + weight ||U||^2 for many T, factorised once.

    The columns of X are orthogonal to the unpenalised ones (under the weights), so that F B is
    found without X.
    """

    def __init__(self, problem: RobustRegression, weight: float | None):
        self.problem = problem
        self.design = problem.weighted_design()
        self.root = np.sqrt(problem.weights).astype(self.design.dtype)[:, None]
        self.wide = self.design.shape[1] >= self.design.shape[0]
        self.tight = False
        matrix = self._matrix()
        self.column = float(np.trace(matrix)) / max(len(problem.features), 1)
        if weight is None:
            # Between the published 1, with which the copies hardly ever agree, and n, with which
            # the first support is seldom left: on eight data sets the lowest losses.
            weight = self.column / np.sqrt(problem.total_weight) or 1.0
        self._factorise(matrix, weight)

    def _matrix(self):
        return self.design.cross_gram() if self.wide else self.design.gram()

    def _factorise(self, matrix, weight: float) -> None:
        matrix[np.diag_indices(len(matrix))] += weight
        self.weight = weight
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True)

    def tighten(self) -> float:
        """Raise the weight to that of the samples, and return the factor.

        The copies come together by a share of 1 / (1 + column / weight) in every iteration.
        """
        before, self.tight = self.weight, True
        self._factorise(self._matrix(), max(self.column, before))
        return self.weight / before

    def solve(self, T):
        """U, X U and F B."""
        free = (self.problem.free @ self.problem.free_coefficients(T)).astype(T.dtype, copy=False)
        scaled = (T - free) * self.root
        if not self.wide:
            U = cho_solve(self.factor, self.design.rmatmul(scaled), overwrite_b=True)
            return U, self.problem.design.matmul(U), free
        dual = cho_solve(self.factor, scaled)
        U = self.design.rmatmul(dual)
        if dual.dtype != np.float64:  # the difference below would lose too many digits
            return U, self.problem.design.matmul(U), free
        # (D D' + weight) dual = scaled with D = root X and U = D' dual: no product is needed.
        # Samples without weight have no say in anything.
        image = (scaled - self.weight * dual) / np.where(self.root > 0, self.root, 1.0)
        return U, image, free


def _fits_exactly(problem: RobustRegression, rows: np.ndarray) -> bool:
    """Whether these features and the unpenalised columns explain Y up to rounding."""
    counted = np.flatnonzero(problem.weights > 0)
    columns, Y = np.hstack([problem.columns(rows), problem.free]), problem.Y.astype(np.float64)
    # What does not fit a few of the samples does not fit them all.
    some = counted[:: max(1, len(counted) // (4 * columns.shape[1]))]
    return all(_is_explained_exactly(columns[part], Y[part]) for part in (some, counted))


def _is_explained_exactly(columns: np.ndarray, Y: np.ndarray) -> bool:
    basis = orthonormal_basis(columns)
    rest = float(np.linalg.norm(Y - basis @ (basis.T @ Y)))
    return rest <= ZERO_TOL_ROUNDINGS * float(np.finfo(np.float64).eps) * float(np.linalg.norm(Y))


def _first_copies(problem: RobustRegression, rows: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """Of equal columns the first ones; the multipliers make copies take turns."""
    columns = problem.columns(rows)
    products = problem.design.rmatmul(columns.astype(problem.design.dtype))
    squares = np.einsum("ij,ij->j", columns, columns)
    chosen = {int(j) for j in rows}
    for place, j in enumerate(rows):
        off = np.abs(products[:j, place] - squares[place])
        for i in np.flatnonzero(eligible[:j] & (off <= 1e-5 * squares[place])):
            if int(i) in chosen:
                continue
            if np.array_equal(problem.columns(np.array([i]))[:, 0], columns[:, place]):
                chosen = (chosen - {int(j)}) | {int(i)}
                break
    return np.array(sorted(chosen), dtype=np.int64)


def _rounding(problem: RobustRegression, Y: np.ndarray) -> float:
    """A length of rows that rounding alone can explain."""
    squares = problem.weighted_design().column_sq_norms()
    column = np.sqrt(float(squares.max(initial=0.0)) / problem.total_weight) or 1.0
    usual = problem.mean(row_norms(Y)) / column
    return ZERO_TOL_ROUNDINGS * float(np.finfo(Y.dtype).eps) * usual


def _long(V: np.ndarray, zero: float) -> np.ndarray:
    """Which rows of the sparse copy belong to the model."""
    norms = row_norms(V)
    return norms > max(MIN_ROW_SHARE * float(norms.max(initial=0.0)), zero)


def _copy_distance(W: np.ndarray, V: np.ndarray, rows: np.ndarray, zero: float) -> float:
    """Length of the difference of the copies, relative to that of the sparse one."""
    length = float(np.linalg.norm(V))
    if max(length, float(np.linalg.norm(W))) <= zero:
        return 0.0  # no feature helps: both are zero up to rounding
    difference = W.copy()
    difference[rows] -= V
    return float(np.linalg.norm(difference)) / max(length, np.finfo(V.dtype).tiny)


def _shrink_rows(R, threshold: float):
    norms = row_norms(R)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(norms > threshold, 1.0 - threshold / norms, 0.0)
    return (R * factor).astype(R.dtype)
