"""Shared ground of convex least squares with a penalty on the rows of the coefficients."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import in_double
from ...solvers.base import Result
from ...solvers.least_squares import FewRows, LeastSquares, Rows
from ...solvers.paths.block_cd import BlockCD
from ...solvers.paths.engine import PathEngine
from ...solvers.paths.group_l21 import GroupL21
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..choices import PenalisedChoices
from ..path_selector import PathSelector
from ..preparation import Prepared
from ..strengths import StrengthModel
from .scores import NORM_MEANING, row_norm_scores


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
        self.problem: Prepared = selector._prepared(data, squared_loss=True)
        self.total_weight: float = data.total_weight
        self.constant: np.ndarray = self.problem.constant
        self.penalty: Any = selector._penalty(1.0)
        self.equations: Any = LeastSquares(self.problem.design, self.problem.Y, self.penalty)
        self.solver: PathEngine = BlockCD(selector.tol, selector.max_iter)

    def at_zero(self) -> Any:
        G = 2.0 * self.problem.design.project_beside(self.problem.Y)
        return in_double(self.penalty.dual_norms(G))

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return result.solution.used

    def scores(self, result: Result[Any]) -> FeatureScores:
        return row_norm_scores(result, self.problem, self.total_weight, "lower alpha")

    def without(self) -> tuple[float, Rows]:
        nothing = self.equations.nothing()
        return nothing.objective, nothing.solution

    def features(self, solution: Rows | FewRows) -> np.ndarray:
        return solution.used

    def coefficients(self, solution: Rows | FewRows) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.units.coefficients(solution.W, solution.used)


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
        choices = PenalisedChoices.of(selector, data, self.problem.design, self.constant)
        self.groups, self.constant = data.groups, choices.constant
        own = choices.columns, choices.weights
        self.solver = GroupL21(*own, selector.tol, selector.max_iter)
        self.penalty = self.penalty.on(data.total_weight)
        self.equations = replace(self.equations, penalty=self.penalty)
        self.is_convex = self.penalty.is_convex

    def at_zero(self) -> np.ndarray:
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.solver.strengths_of(np.asarray(G, dtype=np.float64), 1, self.penalty)[0]

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return StrengthModel.weighted(self, result)

    def scores(self, result: Result[Any]) -> FeatureScores:
        found = row_norm_scores(
            result, self.problem, self.total_weight, "lower alpha", result.solution.norms
        )
        return replace(found, constant=self.constant)
