"""Efficient sparse feature selection: discriminant coding and a fixed number of features.

Iterative hard thresholding under a bound on the number of rows.

Two kinds of thresholded steps follow each other. Normalised ones (Blumensath and Davies) move W
from zero: their length is the best one for the rows in use, and is cut until it decreases the
objective where it changes them. Once they have come to rest, W is fitted on its rows; from there
the gradient vanishes on the support, so a step exchanges the shortest rows with the largest
gradient, the more of them the longer it is. Steps of growing length are tried, each followed by a
fit (hard thresholding pursuit, Foucart), as long as one of them lowers the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg

from ..._beside import rows_in_use
from ...penalties import row_norms
from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...selectors.least_squares.row_penalty import standardised_row_norms
from ...selectors.linear import LinearSelector
from ...solvers.base import Callback, Event, LeastSquares, Result, Rows, printer, relative
from ...solvers.exact.support_values import rounding


@dataclass(eq=False, repr=False, kw_only=True)
class ESFSSelector(LinearSelector):
    """Least squares regression of class codes on a given number of features.

    In short: Chooses a given number of features jointly, so that a linear model separates the
    classes.

    Minimises ``||XW - Y (Y'Y)^(-1/2)||^2`` over W with ``n_features_to_select`` nonzero rows: the
    classes are coded so that a single feature is ranked by its ratio of between-class to
    within-class scatter. From zero, W takes hard-thresholded gradient steps with the step length of
    normalised iterative hard thresholding; once they converge, W is refitted on its nonzero rows by
    least squares, and further thresholded steps follow as long as they lower the objective. The
    result is never worse than the fit on the features with the largest ratios.

    The publication itself was not available: the objective and the coding are rebuilt from its
    abstract and from descriptions by others, and the optimisation is our own. Results may differ
    from those of the authors' code.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best. Features are chosen jointly
        for this number; :meth:`at` with fewer keeps those with the largest coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    max_iter : int, default=1000
        Maximum number of steps.
    tol : float, default=1e-4
        Stop when no step lowers the objective by more than this fraction.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        coded target; 0 if the feature is not used.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Unused features are ranked by the gradient of the
        loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X, for Y in 0/1 coding.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Residual sum of squares of the coded problem.
    optimality_ : float
        Relative decrease of the objective that one more step would give.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of steps.
    history_ : list of float
        Residual sum of squares after every step.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.

    References
    ----------
    T. Pang, F. Nie, J. Han and X. Li, "Efficient feature selection via l2,0-norm constrained
    sparse regression", IEEE TKDE 31(5), 2019.

    T. Blumensath and M. E. Davies, "Normalized iterative hard thresholding: guaranteed stability
    and performance", IEEE Journal of Selected Topics in Signal Processing 4(2), 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ESFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> ESFSSelector(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    max_iter: int = 1000
    tol: float = 1e-4
    verbose: int = 0

    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "Size of the feature's standardised coefficients, 0 if it is not used; coefficients "
        "depend on the other features, so compare only within one fit."
    )

    def _fit(self, data: TrainingData) -> FeatureScores:
        sizes = np.bincount(data.target.codes, weights=data.sample_weight)
        problem = self._make_problem(data, squared_loss=True, output_scale=np.sqrt(sizes))
        count = min(self._n_own(data, DEFAULT_COUNT), int((~problem.constant).sum()))
        # Under this coding ||x'Y||^2 is the between-class scatter of a centred feature, so that
        # the search starts from the features with the largest Fisher ratios.
        equations = LeastSquares(problem.design, problem.Y, eligible=~problem.constant)
        solver = TopKIHT(count, tol=float(self.tol), max_iter=self.max_iter)
        result = solver.solve(equations, callback=printer(self.verbose, type(self).__name__))
        self._keep_result(result)
        W, power = result.solution.W, float(np.vdot(problem.Y, problem.Y))
        self._keep_coefficients(*problem.units.coefficients(W))
        return FeatureScores(
            standardised_row_norms(W, power, data.total_weight).astype(W.dtype),
            n_kept=count,
            ties=result.solution.correlation,
            constant=problem.constant,
            complete=False,
        )


# A step that changes the support must decrease the objective by this share of what a quadratic
# model promises; one that does not is shortened by the second factor.
MIN_DECREASE_SHARE, STEP_SHRINKAGE = 0.01, 0.5
# Steps that leave the support alone do worse than a fit: after this many of them comes the fit.
MAX_STEPS_ON_SUPPORT = 10
# Decreases below this share of ||Y||^2 are rounding.
ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}


@dataclass(frozen=True)
class TopKIHT:
    """Minimise ||XW - Y||^2 over W with at most ``n_rows`` nonzero rows, by thresholded steps.

    Parameters
    ----------
    n_rows : int
        Rows kept.
    tol, max_iter
        Stop when no step lowers the objective by more than ``tol`` relative to it.
    """

    n_rows: int
    tol: float = 1e-6
    max_iter: int = 1000

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Thresholded steps from W = 0; the fit on the rows of the start is the worst end.

        By default that has the rows that explain most of Y on their own.
        """
        run = _Run(problem, callback)
        first = None if start is None else rows_in_use(start.solution.W)
        best = run.fit(run.first_rows(self.n_rows) if first is None else first)
        optimality = 0.0
        if best.value > run.floor:  # else there is nothing left to lower
            support, optimality = self._threshold(run, best.support)
            # Thresholding has no eye on the fit that follows it: keep what it was given if better.
            best = min(run.fit(support), best, key=lambda fit: fit.value)
        run.tell(best.value, optimality)
        if len(run.trace) < self.max_iter and best.value > run.floor:
            best, optimality = self._pursue(run, best)
        solution = Rows(best.W, 2.0 * row_norms(run.gradient(best.W, best.support)))
        done = optimality <= self.tol
        return Result(solution, best.value, optimality, len(run.trace), done, run.trace)

    def _threshold(self, run: _Run, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Normalised steps from zero: the support at which they rest, and the last decrease."""
        design, Y = run.design, run.Y
        W = np.zeros((design.shape[1], Y.shape[1]), dtype=Y.dtype)
        value, optimality = float(np.vdot(Y, Y)), np.inf
        n_same = 0
        while len(run.trace) < self.max_iter - 1 and not run.stopped:
            gradient = run.gradient(W, support)
            inside = gradient[support]
            image = run.columns(support) @ inside
            curvature = float(np.vdot(image, image))
            if not curvature > 0:
                return support, 0.0
            step = float(np.vdot(inside, inside)) / curvature
            while True:
                V = W - step * gradient
                sizes = np.where(run.eligible, row_norms(V), -1.0)
                kept = np.sort(np.argsort(-sizes, kind="stable")[: self.n_rows])
                following = np.zeros_like(W)
                following[kept] = V[kept]
                if np.array_equal(kept, support):
                    break
                either = np.union1d(kept, support)
                moved = following[either] - W[either]
                image = run.columns(either) @ moved
                bound = (1.0 - MIN_DECREASE_SHARE) * float(np.vdot(moved, moved))
                if step * float(np.vdot(image, image)) <= bound:
                    break
                step *= STEP_SHRINKAGE
            n_same = n_same + 1 if np.array_equal(kept, support) else 0
            W, support = following, kept
            new_value = run.value(W, support)
            optimality = run.decrease(value, new_value)
            value = new_value
            run.tell(value, optimality)
            if n_same >= MAX_STEPS_ON_SUPPORT or (n_same and optimality <= self.tol):
                break
        return support, optimality

    def _pursue(self, run: _Run, best: _Fit) -> tuple[_Fit, float]:
        """Thresholded steps from one fit to the next, and what a further one would gain."""
        while True:
            better = _best_step(run, best)
            optimality = run.decrease(best.value, better.value)
            if optimality <= self.tol or len(run.trace) >= self.max_iter or run.stopped:
                return best, optimality
            best = better
            run.tell(best.value, optimality)


def _best_step(run: _Run, start: _Fit) -> _Fit:
    """The best fit after a thresholded step from ``start``, over lengths of the step."""
    support = start.support
    sizes = row_norms(run.gradient(start.W, support))
    sizes[support] = -1.0
    sizes[~run.eligible] = -1.0
    shortest = support[np.argsort(row_norms(start.W[support]), kind="stable")]
    most = min(len(support), int(run.eligible.sum()) - len(support))
    entering = np.argsort(-sizes, kind="stable")[:most]
    fits = [
        run.fit(np.sort(np.concatenate([shortest[count:], entering[:count]])))
        for count in 2 ** np.arange(most.bit_length())
    ]
    return min(fits, key=lambda fit: fit.value, default=start)


class _Fit(NamedTuple):
    """Least squares on a support, and its value."""

    W: np.ndarray
    value: float
    support: np.ndarray


class _Run:
    """A problem on the way to its solution, with the objective after every step."""

    def __init__(self, problem: LeastSquares, callback: Callback | None):
        self.design, self.Y, self.callback = problem.design, problem.Y, callback
        self.eligible = problem.is_eligible
        self.trace: list[float] = []
        self.stopped = False
        self.floor = ROUNDING[np.dtype(self.Y.dtype)] * float(np.vdot(self.Y, self.Y))

    def first_rows(self, count: int) -> np.ndarray:
        """The rows with the largest ratio of explained to unexplained sum of squares."""
        explained = row_norms(self.design.rmatmul(self.Y)).astype(np.float64) ** 2
        total = self.design.column_sq_norms().astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = explained / np.maximum(total - explained, 1e-300)
        ratio = np.where(self.eligible, np.nan_to_num(ratio, nan=-1.0), -1.0)
        return np.sort(np.argsort(-ratio, kind="stable")[:count])

    def decrease(self, value: float, new_value: float) -> float:
        """What a step gained, relative to what is left."""
        return relative(value - new_value, new_value, self.floor)

    def tell(self, value: float, optimality: float) -> None:
        self.trace.append(value)
        event = Event(len(self.trace), value, optimality)
        self.stopped = bool(self.callback is not None and self.callback(event))

    def columns(self, support: np.ndarray) -> np.ndarray:
        return self.design.dense_columns(support)

    def residual(self, W: np.ndarray, support: np.ndarray) -> np.ndarray:
        return self.columns(support) @ W[support] - self.Y

    def value(self, W: np.ndarray, support: np.ndarray) -> float:
        residual = self.residual(W, support)
        return float(np.vdot(residual, residual))

    def gradient(self, W: np.ndarray, support: np.ndarray) -> np.ndarray:
        return self.design.rmatmul(self.residual(W, support))

    def fit(self, support: np.ndarray) -> _Fit:
        W = np.zeros((self.design.shape[1], self.Y.shape[1]), dtype=self.Y.dtype)
        columns = self.columns(support).astype(np.float64)
        Y = self.Y.astype(np.float64)
        # Where columns depend on each other, rounding must not say how many of them do.
        how = {"cond": rounding(len(columns)), "lapack_driver": "gelsy", "check_finite": False}
        W[support] = linalg.lstsq(columns, Y, **how)[0]
        return _Fit(W, self.value(W, support), support)
