"""Shared ground of the linear selectors: standardised problems and coefficients in user units."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..design import Deflated, DesignMatrix, standardised
from ..design.convert import Standardisation
from .base import BaseSelector, TrainingData
from .validation import check_flag, check_integer, check_real


@dataclass(frozen=True)
class Covariates:
    """Unpenalised features that were projected out of a least-squares problem.

    Given the other coefficients W, theirs are Z^+ (Y - X W): kept as ``alone`` = Z^+ Y (for the
    user's outputs) minus ``shared`` = Z^+ X times W.
    """

    index: np.ndarray
    alone: np.ndarray
    shared: np.ndarray

    def complete(self, W):
        """W with the rows of the covariates filled in."""
        W = W.copy()
        W[self.index] = 0.0
        W[self.index] = self.alone - self.shared @ W
        return W


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

    def in_user_units(self, W):
        """(coef, intercept) of coefficients that already belong to the user's outputs."""
        if self.covariates is not None:
            W = self.covariates.complete(W)
        coef = (W / self.scale[:, None]).T.astype(W.dtype, copy=False)
        if not self.fit_intercept:
            return coef, np.zeros(coef.shape[0], dtype=coef.dtype)
        intercept = self.target_mean - coef @ self.centre
        return coef, intercept.astype(coef.dtype, copy=False)


@dataclass(frozen=True)
class LeastSquaresData:
    """A weighted, centred, standardised least-squares problem and the way back.

    ``target_power`` is the sum of squares of the target before its outputs were rescaled.
    """

    design: DesignMatrix
    Y: np.ndarray
    constant: np.ndarray
    units: Units
    target_power: float


class LinearSelector(BaseSelector):
    """Base of selectors with a linear model: ``fit_intercept``, ``standardize``, ``coef_``."""

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
        design, constant, covariates, Y = self._without_covariates(view, Y)
        target_power = float(np.vdot(Y, Y))
        decode = None
        if output_scale is not None:
            Y /= output_scale
            decode = np.diag(output_scale)
        if compress:
            Y, rotation = compress_outputs(Y, view.design.dtype)
            if rotation is not None:
                decode = rotation.T if decode is None else rotation.T @ decode
        return LeastSquaresData(
            design,
            np.ascontiguousarray(Y, dtype=design.dtype),
            constant,
            Units(view.centre, view.scale, target_mean, decode, self.fit_intercept, covariates),
            target_power,
        )

    def _without_covariates(self, view: Standardisation, Y: np.ndarray):
        """Project ``always_keep`` out of X and Y, and blank it and ``never_keep`` in X.

        For a squared loss this is exact (Frisch, Waugh and Lovell): minimising over the free
        coefficients of Z first leaves the same problem on what Z does not explain.
        """
        n_features = view.design.shape[1]
        keep = self._named_columns("always_keep", n_features)
        blank = keep | self._named_columns("never_keep", n_features)
        # Without centring a constant column acts as an intercept: it does carry information.
        constant = view.constant if self.fit_intercept else np.zeros_like(view.constant)
        if not blank.any():
            return view.design, constant, None, Y
        index = np.flatnonzero(keep)
        Z = view.design.dense_columns(index).astype(np.float64)
        left, singular, right = np.linalg.svd(Z, full_matrices=False)
        rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
        left, pinv = left[:, :rank], (right[:rank].T / singular[:rank]) @ left[:, :rank].T
        explained = view.design.rmatmul(left.astype(view.design.dtype)).T
        covariates = None
        if len(index):
            shared = view.design.rmatmul(pinv.T.astype(view.design.dtype)).T
            covariates = Covariates(index, pinv @ Y, shared)
        design = Deflated(view.design, left, explained, blank)
        return design, constant | blank, covariates, Y - left @ (left.T @ Y)

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
