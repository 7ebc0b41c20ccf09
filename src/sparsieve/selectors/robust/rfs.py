"""Robust feature selection (Nie, Huang, Cai and Ding, 2010)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._beside import rows_in_use
from ..._checks import check_choice
from ...solvers.base import Result, Solver
from ...solvers.robust.irls import ReweightedLeastSquares
from ...solvers.robust.problem import RobustRegression, RobustSolution
from ...solvers.robust.working_set import RobustRefit, RobustWorkingSet
from ..base import FeatureScores, TrainingData
from ..path_selector import PathSelector, StrengthModel
from .base import RobustProblem, RobustSelector, resolve_alpha

DEFAULT_SHARE = 0.3
SOLVERS = ("interior-point", "published")
# The published iteration makes rows small but never zero: shorter ones than this share of the
# longest do not count as kept.
ZERO_ROW_TOL = 1e-5


@dataclass(eq=False, repr=False, kw_only=True)
class RFSSelector(RobustSelector, PathSelector):
    """Sparse regression robust to outliers (l2,1 loss and l2,1 penalty).

    In short: Like l21, but robust: numbers of the target that are far off have little influence.

    Minimises ``sum_i s_i ||y_i - x_i W - b|| + alpha * sum_j ||w_j||`` over W and b, with s_i the
    sample weights. Residuals enter by their norm, not its square, so that outliers cannot dominate;
    the penalty makes whole rows of W exactly zero. The problem is convex and is solved until the
    proven duality gap is small.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    alpha : float or None, default=None
        Strength of the row penalty. None means 0.3 times alpha_max, the largest norm of x_j'L where
        the rows of L are those of the centred target divided by their norms.
    solver : {"interior-point", "published"}, default="interior-point"
        "published" is the reweighting algorithm of the paper, on all features at once. It comes
        close to the same optimum but takes many more iterations, has no proven gap, and gives no
        rows that are exactly zero (those below 1e-5 times the largest count as zero).
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this; "published" stops when the relative
        decrease of its objective is. Predictions deserve a smaller one, such as 1e-9.
    max_iter : int, default=200
        Maximum number of iterations. When many features of a large sparse X are in use, an
        iteration is twenty primal-dual steps.
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
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        centred target; 0 if the feature is not used.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero coefficients are ranked by the
        gradient of the loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    alpha_ : float
        Penalty strength used.
    objective_ : float
        Objective on the standardised data.
    optimality_ : float
        Proven relative duality gap: the objective exceeds the optimum by at most this fraction. For
        "published", the last relative change of the objective.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of iterations.
    history_ : list of float
        Objective after every iteration, on the features in use at that time.

    See Also
    --------
    sparsieve.RobustL20Selector : Robust regression with few features.
    sparsieve.RPMFSSelector : Robust regression with a given number of features.
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.

    References
    ----------
    F. Nie, H. Huang, X. Cai and C. Ding (2010). Efficient and robust feature selection via
    joint l2,1-norms minimization. NIPS 23.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RFSSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RFSSelector(n_features_to_select=4).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 7, 20, 21, 27])
    >>> selector.optimality_ <= 1e-6
    True
    """

    alpha: float | None = None
    solver: str = "interior-point"
    max_iter: int = 200
    verbose: int = 0

    _work_per_number: ClassVar[float] = 2e3

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)

    @property
    def _accepts_external(self) -> bool:  # type: ignore[override]
        return self.solver == "interior-point"  # the published one works with all columns

    def _path_model(self, data: TrainingData) -> RobustPath:
        return RobustPath(self, data)

    def _fit(self, data: TrainingData) -> FeatureScores:
        model = self._path_model(data)
        alpha = resolve_alpha(self.alpha, model.alpha_max, DEFAULT_SHARE)
        (fit,) = model.solve([alpha])
        self._keep(model, fit, alpha)
        return model.scores(fit)

    def _measure(self) -> str:
        published = self.solver == "published"
        return "a relative change of the objective of" if published else super()._measure()


class RobustPath(StrengthModel):
    """The robust problem of some data, solved for any strengths."""

    def __init__(self, selector: RFSSelector, data: TrainingData) -> None:
        self.selector = selector
        self.problem: RobustProblem = selector._robust_problem(data)
        self.constant: np.ndarray = self.problem.constant

    def alpha_max(self) -> float:
        """The largest norm of x_j'L, with the rows of L those of the centred target over norms."""
        return self.problem.data.alpha_max()

    @cached_property
    def _nothing(self) -> Result[RobustSolution]:
        none = np.empty(0, dtype=np.int64)
        return RobustRefit(float(self.selector.tol)).solve(self.problem.data.restrict(none))

    def at_zero(self) -> np.ndarray:
        solution = self._nothing.solution
        return np.where(self.constant, 0.0, solution.correlations)

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[RobustSolution]]:
        """One model for every strength, each started from the last where that helps."""
        selector = self.selector
        tol, max_iter = float(selector.tol), int(selector.max_iter)
        published = selector.solver == "published"
        solver: Solver[RobustRegression, Any] = RobustWorkingSet(tol, max_iter)
        if published:
            solver = ReweightedLeastSquares(max_iter, tol, published=True)
        fit: Result[RobustSolution] | None = None
        for alpha in alphas:
            start = None if published else fit
            fit = solver.solve(replace(self.problem.data, alpha=float(alpha)), start, self.printer)
            yield fit

    def scores(self, result: Result[Any]) -> FeatureScores:
        solution, problem = result.solution, self.problem
        scores = problem.importances(solution.W)
        published = self.selector.solver == "published"
        least = ZERO_ROW_TOL * scores.max(initial=0.0) if published else 0.0
        ties, constant = solution.correlations, self.constant
        return FeatureScores.by_norms(scores, ties, constant, "lower alpha", least)

    def null_model(self) -> tuple[float, RobustSolution]:
        return self._nothing.objective, self._nothing.solution

    def features(self, solution: RobustSolution) -> np.ndarray:
        return rows_in_use(solution.W)

    def coefficients(self, solution: RobustSolution) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.in_user_units(solution)
