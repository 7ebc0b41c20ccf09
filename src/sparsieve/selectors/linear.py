"""Shared ground of the linear selectors: standardised problems and coefficients in user units."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..design import DesignMatrix, standardised
from .base import BaseSelector, TrainingData
from .covariates import Covariates, without_fixed
from .validation import check_flag, check_integer, check_real


@dataclass(frozen=True)
class Units:
    """How to translate coefficients of the problem solved into the units of the user's data."""

    centre: np.ndarray
    scale: np.ndarray
    target_mean: np.ndarray
    decode: np.ndarray | None
    fit_intercept: bool
    covariates: Covariates | None = None

    def outputs(self, W):
        """From the columns of the problem solved to the user's outputs."""
        return W if self.decode is None else W @ self.decode.astype(W.dtype)

    def coefficients(self, W):
        """(coef, intercept) of W, of shapes (n_outputs, n_features) and (n_outputs,)."""
        return self.in_user_units(self.outputs(W))

    def completed(self, W, further=0.0):
        """W with the rows of the covariates, if there are any."""
        return W if self.covariates is None else self.covariates.complete(W, further)

    def in_user_units(self, W, further=0.0):
        """(coef, intercept) of coefficients that already belong to the user's outputs.

        ``further`` is what a model says about the directions of its covariates.
        """
        W = self.completed(W, further)
        coef = (W / self.scale[:, None]).T.astype(W.dtype, copy=False)
        if not self.fit_intercept:
            return coef, np.zeros(coef.shape[0], dtype=coef.dtype)
        intercept = self.target_mean - coef @ self.centre
        return coef, intercept.astype(coef.dtype, copy=False)


@dataclass(frozen=True)
class LeastSquaresData:
    """A weighted, centred, standardised least-squares problem and the way back.

    ``constant`` marks the columns that cannot be chosen: constant ones, those of
    ``always_keep``, which were projected out, and those of ``never_keep``.
    ``target_power`` is the sum of squares of the target before its outputs were rescaled.
    """

    design: DesignMatrix
    Y: np.ndarray
    constant: np.ndarray
    units: Units
    target_power: float


class LinearSelector(BaseSelector):
    """Base of selectors with a linear model: ``fit_intercept``, ``standardize``, ``coef_``.

    The problems handed to the models know nothing of ``always_keep`` and ``never_keep``: their
    columns are zero and marked as ``constant``, and coefficients of covariates come back with
    the units of the user.
    """

    def _n_own(self, data: TrainingData, default: int) -> int:
        """How many features the model has to choose itself; by default at most ``default``."""
        return data.fixed.own_count(self.n_features_to_select, default)

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        if hasattr(self, "max_iter"):
            check_integer("max_iter", self.max_iter)
        if hasattr(self, "tol"):
            check_real("tol", self.tol, minimum=0, strict=True)

    def _least_squares_data(
        self,
        data: TrainingData,
        *,
        compress: bool,
        clip: float | None = None,
        output_scale: np.ndarray | None = None,
    ) -> LeastSquaresData:
        """Centre (the exact intercept of a squared loss), scale, weight and compress.

        ``compress`` replaces Y by as many columns as it has independent ones. This loses
        nothing for a model that sees W through its row norms and the residual through its
        Frobenius norm: writing Y = Y_c V' with orthonormal V, the part of W outside the span of
        V could only add to both. Two classes become one column, c classes become c - 1.
        ``output_scale`` divides the columns of Y.
        """
        weights = data.sample_weight
        view = standardised(
            data.design,
            centre=self.fit_intercept,
            scale=self.standardize,
            sample_weight=weights,
            clip=clip,
        )
        Y = data.target.Y.astype(np.float64)
        target_mean = np.zeros(Y.shape[1])
        if self.fit_intercept:
            target_mean = np.average(Y, axis=0, weights=weights)
            Y -= target_mean
        if weights is not None:
            Y *= np.sqrt(weights)[:, None]
        # Without centring a constant column acts as an intercept: it does carry information.
        constant = view.constant if self.fit_intercept else np.zeros_like(view.constant)
        open_ = without_fixed(view.design, Y, data.fixed)
        Y = open_.Y
        target_power = float(np.vdot(Y, Y))
        decode = None
        if output_scale is not None:
            Y /= output_scale
            decode = np.diag(output_scale)
        if compress:
            Y, rotation = compress_outputs(Y, view.design.dtype)
            if rotation is not None:
                decode = rotation.T if decode is None else rotation.T @ decode
        units = Units(
            view.centre, view.scale, target_mean, decode, self.fit_intercept, open_.covariates
        )
        Y = np.ascontiguousarray(Y, dtype=view.design.dtype)
        return LeastSquaresData(open_.design, Y, constant | open_.blank, units, target_power)

    def _warn_not_converged(self, measure: str, reached: float, wanted: float) -> None:
        warn_not_converged(self, measure, reached, wanted)


def warn_not_converged(selector, measure: str, reached: float, wanted: float) -> None:
    """Say how far an iterative fit got; called from a method that ``_fit`` calls."""
    warnings.warn(
        f"{type(selector).__name__} stopped after max_iter={selector.max_iter} iterations with "
        f"{measure} {reached:.3g} instead of {wanted:.3g}; raise max_iter or tol",
        ConvergenceWarning,
        stacklevel=5,
    )


def compress_outputs(Y: np.ndarray, dtype=np.float64) -> tuple[np.ndarray, np.ndarray | None]:
    """Y = Y_c V' with orthonormal V and independent columns of Y_c; (Y, None) at full rank.

    ``dtype`` is the precision of the data: differences below it do not count as independent.
    """
    left, singular, right = np.linalg.svd(Y, full_matrices=False)
    floor = singular[0] * max(Y.shape) * np.finfo(np.float64).eps
    if dtype == np.float32:
        floor = max(floor, singular[0] * np.finfo(np.float32).eps)
    rank = max(1, int((singular > floor).sum()))
    if rank == Y.shape[1]:
        return Y, None
    return left[:, :rank] * singular[:rank], right[:rank].T
