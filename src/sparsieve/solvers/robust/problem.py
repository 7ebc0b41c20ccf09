"""The problem of the family, its solution, and what solvers with a certificate keep."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np

from ..._beside import in_double as doubled
from ..._beside import largest, rows_in_use, to_numpy, where
from ..._saved import Bools, Floats, Savable
from ...design import DesignMatrix, Scaled, in_double
from ...penalties import row_norms
from ...penalties.concave import TopKGap
from ..base import Result, relative
from .weighted_gram import SparseColumns

# Below so many samples dense columns are cheap.
DENSE_MAX_SAMPLES = 2000

_nothing = partial(np.empty, 0)


@dataclass(frozen=True)
class RobustSolution(Savable):
    """The unknowns of an l2,1-loss model.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients of all features.
    free : ndarray of shape (n_free, n_outputs)
        Coefficients on the unpenalised columns of the problem, the intercept first.
    correlations : ndarray of shape (n_features,)
        Correlations ||x_j' dual|| of the features with the dual point: at most alpha at the
        optimum. Empty where a solver has no dual point. Inside a solver they may be beside X.
    dual : ndarray of shape (n_samples, n_outputs)
        The dual point, with ||dual_i|| <= s_i and orthogonal to the unpenalised columns. Empty
        where a solver has none.
    """

    W: np.ndarray
    free: np.ndarray
    correlations: np.ndarray = field(default_factory=_nothing)
    dual: np.ndarray = field(default_factory=_nothing)


@dataclass(frozen=True)
class RobustRegression(Savable):
    """Minimise sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j||, with few rows of W.

    Attributes
    ----------
    design : DesignMatrix
        X.
    Y : ndarray of shape (n_samples, n_outputs)
        Target.
    weights : ndarray of shape (n_samples,)
        Weights s_i of the samples' norms.
    fit_intercept : bool
        Whether the f_i begin with a constant.
    covariates : ndarray of shape (n_samples, n_covariates) or None
        Further columns that are not penalised and that no limit counts; under the weights they
        are orthogonal to each other and to the intercept and of unit mean square.
    alpha : float
        Regularisation parameter of the row norms.
    k : int or None
        Maximum number of nonzero rows.
    rho : float or None
        Where the limit k is replaced by a penalty: its factor of the sum of all but the k largest
        row norms. None is the limit itself.
    eligible : ndarray of bool, or None
        Which features may have nonzero rows; None is all of them.
    """

    design: Annotated[DesignMatrix, "samples", "*"]
    Y: Annotated[Floats, "samples", "outputs"]
    weights: Annotated[Floats, "samples"]
    fit_intercept: bool
    covariates: Annotated[Floats, "samples", "covariates"] | None = None
    alpha: float = 0.0
    k: int | None = None
    rho: float | None = None
    eligible: Annotated[Bools, "*"] | None = None

    # -- features ---------------------------------------------------------------------------

    @cached_property
    def features(self) -> np.ndarray:
        """The eligible features."""
        return np.flatnonzero(self.is_eligible)

    @cached_property
    def X(self) -> np.ndarray | SparseColumns:
        """Their columns: dense, or sparse where they are tall and nearly all zeros."""
        if self.alpha > 0 and self.is_tall_and_sparse and len(self.features) < len(self.Y) // 2:
            columns = in_double(self.design.columns(self.features))
            return SparseColumns(columns, np.empty((len(self.Y), 0)))
        return self.dense_X

    @cached_property
    def dense_X(self) -> np.ndarray:
        """The same as dense columns."""
        return self.columns(self.features)

    @property
    def is_tall_and_sparse(self) -> bool:
        """Whether columns of many samples hold few numbers each."""
        tall = len(self.Y) > DENSE_MAX_SAMPLES and not self.design.is_remote
        return tall and self.design.is_very_sparse

    @property
    def mean_square(self) -> float:
        """The mean squared norm of the columns of X."""
        if isinstance(self.X, np.ndarray):
            return float(np.einsum("ij,ij->", self.X, self.X)) / max(self.X.shape[1], 1)
        return float(self.X.X.column_sq_norms().mean())

    @property
    def is_eligible(self) -> np.ndarray:
        """The same as a mask of all features."""
        n_features = self.design.shape[1]
        return np.ones(n_features, dtype=bool) if self.eligible is None else self.eligible

    def restrict(self, features: np.ndarray) -> RobustRegression:
        """The problem in which these features alone are eligible."""
        eligible = np.zeros(self.design.shape[1], dtype=bool)
        eligible[features] = True
        return replace(self, eligible=eligible)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """These features as dense columns in double precision."""
        return self.design.dense_columns(features).astype(np.float64, copy=False)

    def weighted_design(self) -> DesignMatrix:
        """diag(sqrt(weights)) X."""
        if (self.weights == 1.0).all():
            return self.design
        return Scaled(self.design, row_scale=np.sqrt(self.weights))

    def correlations(self, dual: np.ndarray) -> np.ndarray:
        """||x_j' dual|| of every feature."""
        return to_numpy(self.native_correlations(dual))

    def native_correlations(self, dual: np.ndarray) -> Any:
        """The same, left where X is."""
        product = self.design.native_projection(np.asarray(dual, dtype=self.design.dtype))
        return doubled(row_norms(product))

    def among_eligible(self, values: Any) -> Any:
        """Non-negative values of all features, here or beside X, and -1 for the others."""
        if self.eligible is None:
            return values
        is_here = isinstance(values, np.ndarray)
        return where(self.eligible if is_here else self._native_eligible, values, -1.0)

    @cached_property
    def _native_eligible(self) -> Any:
        return None if self.eligible is None else self.design.to_native(self.eligible)

    def kkt_violation(self, correlations: Any) -> float:
        """By which factor the dual point is too long to be feasible; 1 where it is."""
        return max(1.0, largest(self.among_eligible(correlations)) / self.alpha)

    def vanishing(self, rows: np.ndarray, correlations: np.ndarray, objective: float) -> np.ndarray:
        """Whether the share of a row in the objective is below the slack of its condition."""
        share = self.alpha * row_norms(rows) / max(objective, np.finfo(float).tiny)
        return share < 1.0 - (correlations / self.alpha) ** 2

    def coefficients(self, rows: np.ndarray) -> np.ndarray:
        """W with these rows for the eligible features, and zero elsewhere."""
        W = np.zeros((self.design.shape[1], self.Y.shape[1]))
        W[self.features] = rows
        return W

    # -- unpenalised columns ----------------------------------------------------------------

    @cached_property
    def free(self) -> np.ndarray:
        """The columns that are not penalised: a constant for the intercept, then covariates."""
        constant = np.ones((len(self.Y), int(self.fit_intercept)))
        return constant if self.covariates is None else np.hstack([constant, self.covariates])

    @cached_property
    def free_basis(self) -> np.ndarray:
        """An orthonormal basis of their span (without the weights)."""
        if self.covariates is None:
            return self.free / np.sqrt(len(self.Y))
        return orthonormal_basis(self.free)

    def free_coefficients(self, values: np.ndarray) -> np.ndarray:
        """Weighted least squares on the unpenalised columns, which are orthogonal."""
        return self.free.T @ (self.weights[:, None] * values) / self.total_weight

    # -- values -----------------------------------------------------------------------------

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        return float(self.weights.sum())

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean over the samples; positive, so that it can serve as a scale."""
        return max(float(self.weights @ values) / self.total_weight, 1e-300)

    @property
    def penalty(self) -> TopKGap:
        """The penalty in the place of the limit k."""
        if self.k is None or self.rho is None:
            raise ValueError("the limit on the number of rows has no penalty: give k and rho")
        return TopKGap(self.k, self.rho, self.alpha)

    def objective(self, rows: np.ndarray, residual: np.ndarray) -> float:
        """The convex objective, from the rows of the eligible features and the residual."""
        return float(self.weights @ row_norms(residual) + self.alpha * row_norms(rows).sum())

    def residual_norms(self, solution: RobustSolution) -> np.ndarray:
        """||y_i - x_i W - f_i B|| of every sample."""
        used = rows_in_use(solution.W)
        return row_norms(self.Y - self.columns(used) @ solution.W[used] - self.free @ solution.free)

    def usual_rows(self, columns: np.ndarray) -> np.ndarray:
        """The norm of a row with which a column alone would give predictions of usual length.

        A place to start from that follows the units of the target and of the columns.
        """
        squares = np.einsum("ij,ij->j", columns, columns * self.weights[:, None])
        squares /= self.total_weight
        usual = self.mean(row_norms(self.Y))
        return usual / np.sqrt(np.where(squares > 0, squares, 1.0))

    def alpha_max(self) -> float:
        """max_j ||x_j' L|| with L the weighted, normalised rows of Y."""
        return largest(self.native_correlations(self.normalised_target()))

    def normalised_target(self) -> np.ndarray:
        """The rows of Y with norms equal to the weights of the samples."""
        norms = row_norms(self.Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(norms > 0, self.weights / norms, 0.0)[:, None] * self.Y

    def without_features(self) -> Result[RobustSolution]:
        """The model W = 0, B = 0, with nearly its dual point: a start for want of a better one."""
        norms = row_norms(self.Y)
        dual = self.Y / np.maximum(norms, 1e-3 * self.mean(norms))[:, None]
        dual *= self.weights[:, None]
        free = np.zeros((self.free.shape[1], self.Y.shape[1]))
        W = np.zeros((self.design.shape[1], self.Y.shape[1]))
        solution = RobustSolution(W, free, self.native_correlations(dual), dual)
        return Result(solution, float(self.weights @ norms), np.inf, 0, False)


class BestSoFar:
    """The best coefficients and the highest dual objective, which need not be of the same step.

    Parameters
    ----------
    zero_loss : float
        An objective that counts as zero.
    """

    dual: np.ndarray
    dual_objective: float
    objective: float

    def __init__(self, zero_loss: float = -np.inf):
        self.zero_loss = zero_loss
        self.objective, self.dual_objective = np.inf, -np.inf
        self.trace: list[float] = []
        self.W = self.B = self.dual = np.empty(0)

    def see(
        self,
        objective: float,
        W: np.ndarray,
        B: np.ndarray,
        dual_objective: float,
        dual: np.ndarray,
    ) -> None:
        """Take what is better of a step; the first one in any case."""
        if not self.trace or objective < self.objective:
            self.objective, self.W, self.B = objective, W, B
        if not self.trace or dual_objective > self.dual_objective:
            self.dual_objective, self.dual = dual_objective, dual
        self.trace.append(objective)
        if self.objective <= self.zero_loss:
            self.objective = self.dual_objective = 0.0

    @property
    def gap(self) -> float:
        """The duality gap, relative to the objective."""
        return relative(self.objective - self.dual_objective, self.objective)

    def result(self, solution: RobustSolution, n_iter: int, tol: float) -> Result[RobustSolution]:
        """Where the steps have ended."""
        return Result(solution, self.objective, self.gap, n_iter, self.gap <= tol, self.trace)


def lower_bound(result: Result[RobustSolution]) -> float:
    """The dual objective behind a result whose optimality is a relative duality gap."""
    return result.objective * (1.0 - result.optimality)


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the span of ``columns``, dependent ones dropped."""
    if columns.shape[1] == 0:
        return columns
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    rank_tol = singular[0] * max(columns.shape) * np.finfo(float).eps
    return np.ascontiguousarray(left[:, singular > rank_tol])
