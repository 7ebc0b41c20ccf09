"""Shared ground of convex least squares with a penalty on the rows of the coefficients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import in_double
from ...penalties import GroupPenalty
from ...solvers.base import Callback, Result, printer
from ...solvers.least_squares import FewRows, LeastSquares, Rows
from ...solvers.paths.block_cd import BlockCD
from ...solvers.paths.group_l21 import GroupL21
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..choices import PenalisedChoices
from ..path_selector import PathSelector
from ..preparation import Prepared
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


class RowModel:
    """The problem on single rows, solved for any strengths."""

    groups: FeatureGroups | None = None
    is_convex: bool = True

    def __init__(self, selector: RowPenaltySelector, data: TrainingData) -> None:
        self.selector: RowPenaltySelector = selector
        self.problem: Prepared = selector._prepared(data, squared_loss=True)
        self.total_weight: float = data.total_weight
        self.constant: np.ndarray = self.problem.constant

    def at_zero(self) -> Any:
        G = 2.0 * self.problem.design.project_beside(self.problem.Y)
        return in_double(self.selector._penalty(1.0).dual_norms(G))

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[Any]]:
        """One result per strength, each from the last."""
        selector = self.selector
        problem = LeastSquares(self.problem.design, self.problem.Y, selector._penalty(1.0))
        solver = BlockCD(tol=selector.tol, max_iter=selector.max_iter, decided=decided)
        return solver.path(problem, alphas, callback=self.printer, enough=enough)

    @property
    def printer(self) -> Callback | None:
        """What says how far a solver is."""
        return printer(self.selector.verbose, type(self.selector).__name__)

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return result.solution.used

    def scores(self, result: Result[Any]) -> FeatureScores:
        return row_norm_scores(result, self.problem, self.total_weight, "lower alpha")

    def without(self) -> tuple[float, Rows]:
        problem = self.problem
        n_features, n_outputs = problem.design.shape[1], problem.Y.shape[1]
        W = np.zeros((n_features, n_outputs), dtype=problem.design.dtype)
        return float(np.vdot(problem.Y, problem.Y)), Rows(W, np.zeros(n_features))

    def features(self, solution: Rows | FewRows) -> np.ndarray:
        return solution.used

    def coefficients(self, solution: Rows | FewRows) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.units.coefficients(solution.W, solution.used)


class GroupModel(RowModel):
    """The problem on groups of rows, with any penalty on them."""

    groups: FeatureGroups | None
    constant: np.ndarray
    is_convex: bool

    def __init__(self, selector: RowPenaltySelector, data: TrainingData) -> None:
        super().__init__(selector, data)
        choices = PenalisedChoices.of(selector, data, self.problem.design, self.constant)
        self.groups, self.constant = data.groups, choices.constant
        self.solver: GroupL21 = GroupL21(
            choices.columns, choices.weights, selector.tol, selector.max_iter
        )
        self.penalty: GroupPenalty = selector._penalty(1.0).on(data.total_weight)
        self.is_convex = self.penalty.is_convex

    def at_zero(self) -> np.ndarray:
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.solver.strengths_of(np.asarray(G, dtype=np.float64), 1, self.penalty)[0]

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[Any]]:
        problem = LeastSquares(self.problem.design, self.problem.Y, self.penalty)
        solver = replace(self.solver, decided=decided)
        return solver.path(problem, alphas, callback=self.printer, enough=enough)

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return np.flatnonzero(result.solution.norms > 0)

    def scores(self, result: Result[Any]) -> FeatureScores:
        found = row_norm_scores(
            result, self.problem, self.total_weight, "lower alpha", result.solution.norms
        )
        return replace(found, constant=self.constant)
