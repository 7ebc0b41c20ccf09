"""Convex least squares with a penalty on rows, and scores that may be compared across data."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import in_double
from ...design import DesignMatrix
from ...penalties import L1Inf, row_norms
from ...solvers.base import FewRows, LeastSquares, Result, Rows
from ...solvers.paths.block_cd import BlockCD, GroupL21
from ...solvers.paths.engine import PathEngine
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..groups import PenalisedChoices
from ..path_selector import PathSelector, StrengthModel
from ..preparation import Prepared, of_several_columns

NORM_MEANING = (
    "Size of the feature's standardised coefficients: how much the prediction changes when the "
    "feature changes by one standard deviation, relative to the spread of the target."
)


def shares_of_target(
    gains: np.ndarray, ridge: float, power: float, spread: np.ndarray | None = None
) -> np.ndarray:
    """(1 + ridge) gain / ||Y||^2: 1 for a standardised copy of a target of one column.

    ``gains`` are decreases of ||Y - XW||^2 + ridge * n * ||W||^2 from adding a feature, and
    ``power`` is ||Y||^2. A column of noise gets about 1/n, whatever the ridge. ``spread`` is the
    largest variance of any direction in the columns of a feature: where it is above that of a
    standardised column, the ridge takes less, 1 + ridge / spread is what makes up for it, and no
    share is above 1.
    """
    if power <= 0:
        return np.zeros_like(gains, dtype=np.float64)
    gains = np.asarray(gains, dtype=np.float64)
    if spread is None:
        shares = (1.0 + ridge) * gains
    else:  # one array for all of it: of a million features new memory takes longest
        shares = np.maximum(spread, 1.0, dtype=np.float64)
        np.divide(ridge, shares, out=shares)
        shares += 1.0
        shares *= gains
    shares /= power
    return shares


def variances(design: DesignMatrix, total_weight: float) -> np.ndarray:
    """Mean squares of the columns of a problem."""
    return design.column_sq_norms().astype(np.float64) / total_weight


def row_norm_scores(
    result: Result[Any],
    problem: Prepared,
    total_weight: float,
    remedy: str,
    norms: np.ndarray | None = None,
) -> FeatureScores:
    """Scores by the norms of the rows of W, or of groups of them; ties by their correlations."""
    if norms is None:
        norms = row_norms(result.solution.W.astype(np.float64, copy=False))
    scores = in_target_units(norms, problem.target_power, total_weight)
    return FeatureScores.by_norms(scores, result.solution.correlation, problem.constant, remedy)


def standardised_row_norms(W: np.ndarray, power: float, total_weight: float) -> np.ndarray:
    """Row norms of W in units of the root mean square of the (weighted, centred) target.

    ``power`` is the sum of squares of the target.
    """
    return in_target_units(row_norms(W.astype(np.float64, copy=False)), power, total_weight)


def in_target_units(norms: np.ndarray, power: float, total_weight: float) -> np.ndarray:
    """Norms of coefficients in units of the root mean square of the target."""
    size = float(np.sqrt(power / total_weight))
    return norms / size if size > 0 else np.zeros_like(norms)


@dataclass(eq=False, repr=False, kw_only=True)
class RowPenaltySelector(PathSelector):
    """Base of selectors that minimise ``||XW - Y||^2 + alpha * penalty(W)``."""

    alpha: float | None = None
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    verbose: int = 0

    _accepts_external: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = NORM_MEANING

    @abstractmethod
    def _penalty(self, alpha: float) -> Any:
        """The penalty of one strength."""

    def _path_model(self, data: TrainingData) -> RowModel:
        return RowModel(self, data)


class RowModel(StrengthModel):
    """The problem on single rows, solved for any strengths."""

    def __init__(self, selector: RowPenaltySelector, data: TrainingData) -> None:
        self.selector = selector
        self.problem: Prepared = selector._make_problem(
            data,
            squared_loss=True,
            # Single rows are few at a time; every sweep over groups takes a product with all.
            n_products=0.0 if of_several_columns(data.groups) is None else np.inf,
        )
        self.total_weight: float = data.total_weight
        self.constant: np.ndarray = self.problem.constant
        self.penalty: Any = selector._penalty(1.0)
        self.equations: Any = LeastSquares(self.problem.design, self.problem.Y, self.penalty)
        self.solver: PathEngine = BlockCD(selector.tol, selector.max_iter)

    def at_zero(self) -> Any:
        G = 2.0 * self.problem.design.native_projection(self.problem.Y)
        return in_double(self.penalty.dual_norms(G))

    def nonzero_units(self, result: Result[Any]) -> np.ndarray:
        return result.solution.nonzero_features

    def scores(self, result: Result[Any]) -> FeatureScores:
        return row_norm_scores(result, self.problem, self.total_weight, "lower alpha")

    def null_model(self) -> tuple[float, Rows]:
        nothing = self.equations.nothing()
        return nothing.objective, nothing.solution

    def features(self, solution: Rows | FewRows) -> np.ndarray:
        return solution.nonzero_features

    def coefficients(self, solution: Rows | FewRows) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.units.coefficients(solution.W, solution.nonzero_features)


class GroupModel(RowModel):
    """The problem on groups of rows, with any penalty on them."""

    solver: GroupL21
    groups: FeatureGroups | None
    constant: np.ndarray
    equations: Any
    penalty: Any
    is_convex: bool

    def __init__(self, selector: RowPenaltySelector, data: TrainingData) -> None:
        super().__init__(selector, data)
        choices = PenalisedChoices.from_selector(selector, data, self.problem.design, self.constant)
        self.groups, self.constant = data.groups, choices.constant
        own = choices.columns, choices.weights
        self.solver = GroupL21(*own, selector.tol, selector.max_iter)
        self.penalty = self.penalty.rescale(data.total_weight)
        self.equations = replace(self.equations, penalty=self.penalty)
        self.is_convex = self.penalty.is_convex

    def at_zero(self) -> np.ndarray:
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.solver.entry_strengths(np.asarray(G, dtype=np.float64), 1, self.penalty)[0]

    def nonzero_units(self, result: Result[Any]) -> np.ndarray:
        return StrengthModel.nonzero_units(self, result)

    def scores(self, result: Result[Any]) -> FeatureScores:
        found = row_norm_scores(
            result, self.problem, self.total_weight, "lower alpha", result.solution.norms
        )
        return replace(found, constant=self.constant)


@dataclass(eq=False, repr=False, kw_only=True)
class LInfSelector(RowPenaltySelector):
    """Least squares with a penalty on the largest coefficient of every row.

    In short: Like l21, but penalises only the largest weight of a feature: favours features that
    matter to many classes.

    Minimises ``||XW - Y||^2 + alpha * sum_j max_k |w_jk|``. As with the l2,1 norm, a feature is
    used for all outputs or for none. Only its largest coefficient is penalised, and the others are
    free up to that size, so features that matter to many outputs enter before those that matter to
    one. Solved by block coordinate descent on working sets, with the exact proximal map and
    extrapolation, until the duality gap is small. With one output, or two classes, it is the lasso.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients (a
        smaller ``tol`` identifies these more reliably). If it is given and ``alpha`` is not,
        ``alpha`` is decreased along a path, features are ranked by the value at which they enter
        the model, and ``coef_`` is the solution at which enough features have entered.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    alpha : float or None, default=None
        Strength of the row penalty. If None, a path of decreasing strengths is followed when
        ``n_features_to_select`` is given; otherwise alpha is a tenth of alpha_max, the smallest
        strength at which no feature is kept.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of coordinate descent sweeps for one strength.
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
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
        After a path: the penalty strength at which the feature entered, relative to alpha_max; for
        features that did not enter, their correlation with the final residual on the same scale.
        For a given ``alpha``: the norm of the feature's standardised coefficients, relative to the
        root mean square of the centred target.
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
        Penalty strength at which ``coef_`` was computed.
    objective_ : float
        Objective at ``coef_``.
    optimality_ : float
        Duality gap relative to ``objective_``.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of sweeps.
    history_ : list of float
        Objective after every round of the working set (for the last strength).
    path_ : Path
        Features in the order in which they entered, with the strengths at which they did (only when
        a path was followed). :meth:`at` accepts at most this many features.

    See Also
    --------
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.

    References
    ----------
    B. A. Turlach, W. N. Venables, S. J. Wright (2005). Simultaneous variable selection.
    Technometrics 47, 349-363.

    A. Quattoni, X. Carreras, M. Collins, T. Darrell (2009). An efficient projection for l1,inf
    regularization. International Conference on Machine Learning 26, 857-864.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import LInfSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = LInfSelector(n_features_to_select=4).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 0,  9, 11, 12])
    >>> LInfSelector(alpha=100.0).fit(X, y).optimality_ < 1e-6
    True
    """

    _invariant_to_rotations: ClassVar[bool] = False  # the maximum norms of the rows are not
    _decides_zeros: ClassVar[bool] = False  # with hundreds of rows the last digits take long

    def _penalty(self, alpha: float) -> L1Inf:
        return L1Inf(alpha)
