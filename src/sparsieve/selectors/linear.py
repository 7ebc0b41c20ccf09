"""Shared ground of the linear selectors: standardised problems and coefficients in user units."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..design import DesignMatrix, standardised
from .base import BaseSelector, TrainingData
from .validation import check_flag, check_integer, check_real


@dataclass(frozen=True)
class LeastSquaresData:
    """A weighted, centred, standardised least-squares problem with compressed outputs.

    ``Y`` has as many columns as the centred target has independent ones; ``rotation`` leads
    back (W_original = W @ rotation.T). This loses nothing for any model whose loss and penalty
    only see row norms of W and the Frobenius norm of the residual: writing Y = Y_c V' with
    orthonormal V, the part of W outside the span of V can only add to both. Two classes
    become one column, c classes become c - 1.
    """

    design: DesignMatrix
    Y: np.ndarray
    constant: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    target_mean: np.ndarray
    rotation: np.ndarray | None

    def coefficients(self, W, fit_intercept: bool):
        """(coef, intercept) in the units of the user's X, of shape (n_outputs, n_features)."""
        if self.rotation is not None:
            W = W @ self.rotation.T
        coef = (W / self.scale[:, None]).T.astype(self.design.dtype, copy=False)
        if not fit_intercept:
            return coef, np.zeros(coef.shape[0], dtype=coef.dtype)
        intercept = self.target_mean - coef @ self.centre.astype(coef.dtype)
        return coef, intercept.astype(coef.dtype, copy=False)


class LinearSelector(BaseSelector):
    """Base of selectors with a linear model: ``fit_intercept``, ``standardize``, ``coef_``."""

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        if hasattr(self, "max_iter"):
            check_integer("max_iter", self.max_iter)
        if hasattr(self, "tol"):
            check_real("tol", self.tol, minimum=0, strict=True)

    def _least_squares_data(self, data: TrainingData, *, compress: bool) -> LeastSquaresData:
        """Centre (the exact intercept of a squared loss), scale, weight and compress."""
        weights = data.sample_weight
        view = standardised(
            data.design,
            centre=self.fit_intercept,
            scale=self.standardize,
            sample_weight=weights,
        )
        Y = data.target.Y
        target_mean = np.zeros(Y.shape[1])
        if self.fit_intercept:
            target_mean = np.average(Y.astype(np.float64), axis=0, weights=weights)
            Y = Y - target_mean
        if weights is not None:
            Y = Y * np.sqrt(weights)[:, None]
        rotation = None
        if compress:
            Y, rotation = compress_outputs(Y)
        return LeastSquaresData(
            view.design,
            np.ascontiguousarray(Y, dtype=view.design.dtype),
            # Without centring a constant column acts as an intercept: it does carry information.
            view.constant if self.fit_intercept else np.zeros_like(view.constant),
            view.centre,
            view.scale,
            target_mean,
            rotation,
        )

    def _warn_not_converged(self, measure: str, reached: float, wanted: float) -> None:
        warnings.warn(
            f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations with "
            f"{measure} {reached:.3g} instead of {wanted:.3g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )


def compress_outputs(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Y = Y_c V' with orthonormal V and independent columns of Y_c; (Y, None) at full rank."""
    Y64 = Y.astype(np.float64, copy=False)
    left, singular, right = np.linalg.svd(Y64, full_matrices=False)
    floor = singular[0] * max(Y.shape) * np.finfo(np.float64).eps
    if Y.dtype == np.float32:
        floor = max(floor, singular[0] * np.finfo(np.float32).eps)
    rank = max(1, int((singular > floor).sum()))
    if rank == Y.shape[1]:
        return Y, None
    return left[:, :rank] * singular[:rank], right[:rank].T
