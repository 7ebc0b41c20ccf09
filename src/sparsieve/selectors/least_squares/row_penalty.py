"""Shared ground of convex least squares with a penalty on the rows of the coefficients."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._checks import check_real
from ...penalties import L21, L1Inf, row_norms
from ...solvers.base import Callback, Path, Result, printer
from ...solvers.engines.group_products import group_ranks
from ...solvers.least_squares import LeastSquares, Rows
from ...solvers.paths.block_cd import BlockCD
from ...solvers.paths.group_l21 import GroupL21
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..preparation import Prepared
from ..strengths import (
    DEFAULT_SHARE,
    ENTRY_MEANING,
    entry_path,
    follow_path,
    given_strengths,
    strength_path,
)
from .scores import GAP, NORM_MEANING, norm_scores


@dataclass(eq=False, repr=False, kw_only=True)
class RowPenaltySelector(LinearSelector):
    """Base of selectors that minimise ``||XW - Y||^2 + alpha * penalty(W)``."""

    alpha: float | None = None
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    verbose: int = 0

    _accepts_external: ClassVar[bool] = True
    # Where the nonzero rows are the selection, go on until the gap tells which they are.
    _decides_zeros: ClassVar[bool] = True

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if self.alpha is not None or self.n_features_to_select is None:
            return NORM_MEANING
        return ENTRY_MEANING

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._prepared(data, squared_loss=True)
        model = self._model(data, problem)
        entering = model.at_zero()
        largest = float(entering.max(initial=0.0))
        if self.alpha is None and self.n_features_to_select is not None and largest > 0:
            entries = follow_path(model, entering, self._n_own(data, 1))
            self._keep(entries.result, entries.alpha, problem)
            self.path_: Path = entry_path(model.groups, entries.order, strength=entries.strength)
            return entries.scores
        alpha = DEFAULT_SHARE * largest if self.alpha is None else float(self.alpha)
        decided = self._decides_zeros and self.n_features_to_select is None
        result = next(model.solve([alpha], decided))
        self._keep(result, alpha, problem)
        return norm_scores(
            model.norms(result),
            result.solution.correlation,
            *(problem.target_power, data.total_weight, model.constant, "lower alpha"),
        )

    @abstractmethod
    def _penalty(self, alpha: float) -> L21 | L1Inf:
        """The penalty of one strength."""

    def _model(self, data: TrainingData, problem: Prepared) -> RowModel:
        return RowModel(self, problem)

    def _keep(self, result: Result[Rows], alpha: float, problem: Prepared) -> None:
        self._keep_coefficients(*problem.units.coefficients(result.solution.W))
        self.alpha_ = alpha
        self._keep_result(result, measure=GAP)

    def path(
        self,
        X: Any,
        y: Any,
        *,
        alphas: ArrayLike | None = None,
        n_alphas: int = 50,
        ratio: float = 0.01,
        sample_weight: ArrayLike | None = None,
    ) -> Path:
        """Compute the solutions for a sequence of penalty strengths, each started from the previous
        one.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`.
        alphas : array-like or None, default=None
            Strengths in decreasing order. None uses ``n_alphas`` values, log-spaced from alpha_max
            (the smallest strength at which no feature is kept) down to ``ratio`` times alpha_max.
        n_alphas : int, default=50
            Number of strengths.
        ratio : float, default=0.01
            Last strength, relative to alpha_max.

        Returns
        -------
        path : Path
            The empty selection at alpha_max, followed by one selection per strength, with
            coefficients in the units of X, objectives and relative duality gaps.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import L21Selector
        >>> path = L21Selector().path(*load_wine(return_X_y=True), n_alphas=4)
        >>> path.n_features
        array([ 0,  6,  9, 11, 12])
        """
        self._check_parameters()
        data = self._training_data(X, y, sample_weight)
        problem = self._prepared(data, squared_loss=True)
        model = self._model(data, problem)
        largest = float(model.at_zero().max(initial=0.0))
        alphas = given_strengths(alphas, largest, n_alphas, ratio)
        n_features, n_outputs = problem.design.shape[1], problem.Y.shape[1]
        nothing = np.zeros((n_features, n_outputs), dtype=problem.design.dtype)
        power = float(np.vdot(problem.Y, problem.Y))
        results = list(model.solve(alphas))
        # A path is no fit: it warns like one, and leaves no attributes behind.
        copy.copy(self)._keep_result(results, measure=GAP)
        solutions = [nothing, *(result.solution.W for result in results)]
        models = [problem.units.coefficients(W) for W in solutions]
        supports = [np.flatnonzero(W.any(axis=1)) for W in solutions]
        return strength_path(supports, models, power, np.append(largest, alphas), results)


class RowModel:
    """The problem on single rows, solved for any strengths."""

    problem: Prepared
    selector: RowPenaltySelector

    groups: FeatureGroups | None = None

    def __init__(self, selector: RowPenaltySelector, problem: Prepared) -> None:
        self.selector, self.problem = selector, problem
        self.constant: np.ndarray = problem.constant

    def at_zero(self) -> np.ndarray:
        """The strength at which every feature would enter where all coefficients are zero."""
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.selector._penalty(1.0).dual_norms(G).astype(np.float64, copy=False)

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[Rows]]:
        """One result per strength, each from the last, until ``enough`` features have weight."""
        selector, problem = self.selector, self.problem
        return BlockCD(tol=selector.tol, max_iter=selector.max_iter, decided=decided).path(
            LeastSquares(problem.design, problem.Y, L21(1.0)),  # every strength brings its own
            (selector._penalty(float(alpha)) for alpha in alphas),
            callback=self.printer,
        )

    @property
    def printer(self) -> Callback | None:
        """What says how far a solver is."""
        return printer(self.selector.verbose, type(self.selector).__name__)

    def weighted(self, result: Result[Rows]) -> np.ndarray:
        """Which features have weight."""
        return np.asarray(result.solution.W.any(axis=1))

    def norms(self, result: Result[Rows]) -> np.ndarray:
        """The norm of every feature's coefficients."""
        return row_norms(result.solution.W.astype(np.float64, copy=False))


class GroupModel(RowModel):
    """The problem on groups of rows."""

    def __init__(
        self,
        selector: RowPenaltySelector,
        problem: Prepared,
        groups: FeatureGroups,
        open_: np.ndarray,
        weights: np.ndarray | None,
    ) -> None:
        super().__init__(selector, problem)
        self.groups: FeatureGroups | None = groups
        self.constant: np.ndarray = np.array(
            [bool(problem.constant[some].all()) for some in groups.columns]
        )
        open_ = open_ & ~self.constant
        own = [some if open_[g] else some[:0] for g, some in enumerate(groups.columns)]
        if weights is None:
            weights = np.sqrt(np.maximum(group_ranks(problem.design, own), 1))
        self.solver: GroupL21 = GroupL21(own, weights, selector.tol, selector.max_iter)

    def at_zero(self) -> np.ndarray:
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.solver.strengths(np.asarray(G, dtype=np.float64))

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[Any]]:
        problem = LeastSquares(self.problem.design, self.problem.Y, L21(1.0))
        solver = replace(self.solver, decided=decided)
        return solver.path(problem, alphas, self.printer, enough=enough)

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return np.asarray(result.solution.norms > 0)

    def norms(self, result: Result[Any]) -> np.ndarray:
        return result.solution.norms
