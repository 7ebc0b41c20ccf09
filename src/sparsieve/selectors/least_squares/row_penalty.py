"""Shared ground of convex least squares with a penalty on the rows of the coefficients."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..._checks import check_integer, check_real
from ...penalties import L21, L1Inf, row_norms
from ...solvers.base import Callback, Path, Result, printer
from ...solvers.engines.group_products import group_ranks
from ...solvers.least_squares.block_cd import BlockCD
from ...solvers.least_squares.group_l21 import GroupL21
from ...solvers.least_squares.problem import LeastSquares, Rows
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..preparation import Prepared
from .scores import GAP, NORM_MEANING, norm_scores

PATH_RATIO = 0.9  # from one strength to the next when only a number of features is asked for
PATH_END = 1e-3  # weakest strength of that path, relative to the strongest
DEFAULT_SHARE = 0.1  # of the largest useful strength, when nothing is asked for


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
        return (
            "Penalty strength at which the feature entered the model, relative to the smallest "
            "strength that keeps no feature; for features that did not enter, their correlation "
            "with the final residual."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._prepared(data, squared_loss=True)
        model = self._model(data, problem)
        entering = model.at_zero()
        largest = float(entering.max(initial=0.0))
        if self.alpha is None and self.n_features_to_select is not None and largest > 0:
            return self._follow_path(problem, model, entering, self._n_own(data, 1))
        alpha = DEFAULT_SHARE * largest if self.alpha is None else float(self.alpha)
        decided = self._decides_zeros and self.n_features_to_select is None
        result = next(model.solve([alpha], decided))
        self._keep(result, alpha, problem)
        return norm_scores(
            model.norms(result),
            result.solution.correlation,
            *(problem.target_power, data.total_weight, model.constant, "lower alpha"),
        )

    def _follow_path(
        self, problem: Prepared, model: RowModel, correlation: np.ndarray, count: int
    ) -> FeatureScores:
        """Lower the strength until ``count`` features have been in the model."""
        largest = float(correlation.max())
        steps = int(np.ceil(np.log(PATH_END) / np.log(PATH_RATIO)))
        alphas = largest * PATH_RATIO ** np.arange(1, steps + 1)
        entry = np.zeros(len(correlation))
        order: list[int] = []
        before = largest
        for alpha, result in zip(alphas, model.solve(alphas, decided=True), strict=True):
            new = np.flatnonzero((entry == 0) & model.weighted(result))
            # Within a step features enter in the order of their correlation before it.
            new = new[np.lexsort((new, -correlation[new]))]
            entry[new] = np.clip(correlation[new], alpha, before)
            order += new.tolist()
            before, correlation = alpha, result.solution.correlation
            if len(order) >= count or not result.converged:
                break
        self._keep(result, float(alpha), problem)
        strength = np.append(largest, entry[order])
        self.path_ = entry_path(model.groups, order, strength=strength)
        # The correlation of what never entered is at most the last strength.
        scores = np.where(entry > 0, entry, np.minimum(correlation, np.nextafter(alpha, 0)))
        return FeatureScores(
            scores / largest,
            n_kept=len(order),
            order=np.array(order, dtype=np.int64),
            constant=model.constant,
            complete=False,
        )

    @abstractmethod
    def _penalty(self, alpha: float) -> L21 | L1Inf:
        """The penalty of one strength."""

    def _model(self, data: TrainingData, problem: Prepared) -> RowModel:
        return RowModel(self, problem)

    def _keep(self, result: Result[Rows], alpha: float, problem: Prepared) -> None:
        self.coef_, self.intercept_ = problem.units.coefficients(result.solution.W)
        self.alpha_ = alpha
        self._keep_result(result, measure=GAP)

    def path(self, X, y, *, alphas=None, n_alphas=50, ratio=0.01, sample_weight=None) -> Path:
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
        check_integer("n_alphas", n_alphas)
        check_real("ratio", ratio, minimum=0, strict=True)
        data = self._training_data(X, y, sample_weight)
        problem = self._prepared(data, squared_loss=True)
        model = self._model(data, problem)
        largest = float(model.at_zero().max(initial=0.0))
        if alphas is None:
            alphas = np.geomspace(largest, ratio * largest, n_alphas + 1)[1:]
        alphas = np.asarray(alphas, dtype=np.float64)
        if alphas.ndim != 1 or len(alphas) == 0 or not (alphas > 0).all():
            raise ValueError("alphas must be a list of positive numbers")
        if (np.diff(alphas) > 0).any():
            raise ValueError("alphas must be in decreasing order, the largest first")
        n_features, n_outputs = problem.design.shape[1], problem.Y.shape[1]
        nothing = np.zeros((n_features, n_outputs), dtype=problem.design.dtype)
        power = float(np.vdot(problem.Y, problem.Y))
        results = list(model.solve(alphas))
        # A path is no fit: it warns like one, and leaves no attributes behind.
        copy.copy(self)._keep_result(results, measure=GAP)
        solutions = [nothing, *(result.solution.W for result in results)]
        models = [problem.units.coefficients(W) for W in solutions]
        return Path(
            supports=[np.flatnonzero(W.any(axis=1)) for W in solutions],
            objective=np.array([power, *(result.objective for result in results)]),
            strength=np.append(largest, alphas),
            optimality=np.array([0.0, *(result.optimality for result in results)]),
            coefs=[sparse.csc_array(coef) for coef, _ in models],
            intercepts=[intercept for _, intercept in models],
        )


class RowModel:
    """The problem on single rows, solved for any strengths."""

    groups: ClassVar[FeatureGroups | None] = None

    def __init__(self, selector: RowPenaltySelector, problem: Prepared) -> None:
        self.selector, self.problem = selector, problem
        self.constant = problem.constant

    def at_zero(self) -> np.ndarray:
        """The strength at which every feature would enter where all coefficients are zero."""
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.selector._penalty(1.0).dual_norms(G).astype(np.float64, copy=False)

    def solve(self, alphas: Iterable[float], decided: bool = False) -> Iterator[Result[Rows]]:
        """One result per strength, each from the last."""
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
        self.groups = groups  # type: ignore[misc]
        self.constant = np.array([bool(problem.constant[some].all()) for some in groups.columns])
        open_ = open_ & ~self.constant
        own = [some if open_[g] else some[:0] for g, some in enumerate(groups.columns)]
        if weights is None:
            weights = np.sqrt(np.maximum(group_ranks(problem.design, own), 1))
        self.solver = GroupL21(own, weights, selector.tol, selector.max_iter)

    def at_zero(self) -> np.ndarray:
        G = 2.0 * self.problem.design.rmatmul(self.problem.Y)
        return self.solver.strengths(np.asarray(G, dtype=np.float64))

    def solve(self, alphas: Iterable[float], decided: bool = False) -> Iterator[Result[Any]]:
        problem = LeastSquares(self.problem.design, self.problem.Y, L21(1.0))
        return self.solver.path(problem, alphas, self.printer)

    def weighted(self, result: Result[Any]) -> np.ndarray:
        return np.asarray(result.solution.norms > 0)

    def norms(self, result: Result[Any]) -> np.ndarray:
        return result.solution.norms


def entry_path(groups: FeatureGroups | None, order: Sequence[int], **along: Any) -> Path:
    """The path on which features, or all features of a group at once, enter in this order."""
    if groups is None:
        return Path.nested(order, **along)
    supports = [np.arange(0)]
    for g in order:
        new = groups.columns[g]
        supports.append(np.append(supports[-1], new[~np.isin(new, supports[-1])]))
    return Path(supports, **along)
