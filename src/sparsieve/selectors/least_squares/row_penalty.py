"""Row penalties on least squares, and the scores of features under them.

Shared ground of convex least squares with a penalty on the rows of the coefficients.

Importances that may be compared across features, numbers of features and data.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import in_double
from ...design import DesignMatrix
from ...penalties import row_norms
from ...solvers.base import Result
from ...solvers.least_squares import FewRows, LeastSquares, Rows
from ...solvers.paths.block_cd import BlockCD
from ...solvers.paths.engine import PathEngine
from ...solvers.paths.group_l21 import GroupL21
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
