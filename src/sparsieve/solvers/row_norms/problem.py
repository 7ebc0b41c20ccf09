"""Problems with an l2,1 loss, sum_i s_i ||y_i - x_i W - f_i B||, and what solves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...design import DesignMatrix, Scaled
from ...penalties import row_norms
from .interior_point import RowNormProblem, constant_column, unpenalised_basis


@dataclass(frozen=True)
class RobustSolution:
    """The unknowns of an l2,1-loss model.

    ``free`` are the coefficients on the free columns of the data, the intercept first. ``pulls``
    are ||x_j' dual|| for a dual point with ||dual_i|| <= s_i that the free columns are orthogonal
    to, where a solver has one: at most the strength of the row penalty at the optimum.
    """

    W: np.ndarray
    free: np.ndarray
    pulls: np.ndarray | None = None


@dataclass
class RobustData:
    """An l2,1-loss problem: design, target, weights of the samples' norms, free columns.

    ``covariates`` are unpenalised columns that no limit counts; under the weights they are
    orthogonal to each other and to the intercept and of unit mean square.
    """

    design: DesignMatrix
    Y: np.ndarray
    weights: np.ndarray
    fit_intercept: bool
    covariates: np.ndarray | None = None

    @cached_property
    def free(self) -> np.ndarray:
        """The columns that are not penalised: a constant for the intercept, then covariates."""
        constant = np.ones((len(self.Y), int(self.fit_intercept)))
        return constant if self.covariates is None else np.hstack([constant, self.covariates])

    @cached_property
    def free_basis(self) -> np.ndarray:
        """The same span with an orthonormal basis (without the weights)."""
        if self.covariates is None:
            return constant_column(len(self.Y), self.fit_intercept)
        return unpenalised_basis(self.free)

    def free_coefficients(self, values: np.ndarray) -> np.ndarray:
        """Weighted least squares on the free columns, which are orthogonal."""
        return self.free.T @ (self.weights[:, None] * values) / self.total_weight

    def columns(self, features: np.ndarray) -> np.ndarray:
        """These features as double-precision columns."""
        return self.design.dense_columns(features).astype(np.float64, copy=False)

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        return float(self.weights.sum())

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean over the samples; positive, so that it can serve as a scale."""
        return max(float(self.weights @ values) / self.total_weight, 1e-300)

    def usual_rows(self, squares: np.ndarray) -> np.ndarray:
        """The norm of a row with which a column alone would give predictions of usual length.

        A place to start from that follows the units of the target and of the column, of which
        the weighted squares are given.
        """
        squares = squares / self.total_weight
        usual = self.mean(row_norms(self.Y))
        return usual / np.sqrt(np.where(squares > 0, squares, 1.0))

    def weighted_design(self) -> DesignMatrix:
        """diag(sqrt(weights)) X."""
        if (self.weights == 1.0).all():
            return self.design
        return Scaled(self.design, row_scale=np.sqrt(self.weights))

    def pulls(self, dual: np.ndarray) -> np.ndarray:
        """||x_j' dual|| of every feature."""
        product = self.design.rmatmul(np.asarray(dual, dtype=self.design.dtype))
        return row_norms(product).astype(np.float64)

    def restricted(self, features: np.ndarray, alpha: float) -> RowNormProblem:
        """The convex problem on a few features."""
        return RowNormProblem(
            self.columns(features),
            self.Y,
            np.full(len(features), float(alpha)),
            self.weights,
            self.free_basis,
        )

    def reference_strength(self) -> float:
        """alpha_max = max_j ||x_j' L|| with L the weighted, normalised rows of Y."""
        norms = row_norms(self.Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.where(norms > 0, self.weights / norms, 0.0)[:, None] * self.Y
        return float(self.pulls(start).max(initial=0.0))
