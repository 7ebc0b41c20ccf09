"""Shared ground of the selectors with an l2,1 loss: a sum of residual norms, not of squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..design import standardised
from ..solvers.rfs import RobustData
from .base import TrainingData
from .linear import LinearSelector, Units, compress_outputs
from .validation import check_real


@dataclass(frozen=True)
class RobustProblem:
    """The standardised problem, its informationless columns and the way back."""

    data: RobustData
    constant: np.ndarray
    units: Units

    def in_user_units(self, W: np.ndarray, intercept: np.ndarray):
        """(coef, intercept) of a solution, in the units and the precision of the user's X."""
        dtype = self.data.design.dtype
        units = self.units
        shift = units.outputs(np.asarray(intercept, dtype=np.float64)[None])[0]
        units = replace(units, target_mean=units.target_mean + shift)
        coef, offset = units.coefficients(np.asarray(W, dtype=np.float64))
        return coef.astype(dtype), offset.astype(dtype)


class RobustSelector(LinearSelector):
    """Base of selectors that minimise a weighted sum of residual norms."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if hasattr(self, "gamma"):
            check_real("gamma", self.gamma, minimum=0, strict=True, optional=True)

    def _robust_problem(self, data: TrainingData) -> RobustProblem:
        """Standardise the columns and rotate the outputs; the intercept is left to the solver.

        Centring is not the optimal intercept of this loss, but it changes nothing when the
        intercept is free, and makes for better numbers. A rotation of the outputs leaves every
        norm as it is, so that the coordinates outside the row space of Y can be dropped.
        """
        weights = data.sample_weight
        view = standardised(
            data.design,
            centre=self.fit_intercept,
            scale=self.standardize,
            sample_weight=weights,
            weight_rows=False,
        )
        Y = data.target.Y.astype(np.float64)
        target_mean = np.zeros(Y.shape[1])
        if self.fit_intercept:
            target_mean = np.average(Y, axis=0, weights=weights)
            Y = Y - target_mean
        Y, rotation = compress_outputs(Y, view.design.dtype)
        if weights is None:
            weights = np.ones(len(Y))
        # Without centring a constant column acts as an intercept: it does carry information.
        constant = view.constant if self.fit_intercept else np.zeros_like(view.constant)
        return RobustProblem(
            RobustData(view.design, np.ascontiguousarray(Y), weights, bool(self.fit_intercept)),
            constant,
            Units(
                view.centre,
                view.scale,
                target_mean,
                None if rotation is None else rotation.T,
                self.fit_intercept,
            ),
        )

    def _strength(self, problem: RobustProblem, share: float) -> float:
        """``gamma`` itself, or the given share of gamma_max."""
        if self.gamma is not None:
            return float(self.gamma)
        # All-zero data have gamma_max = 0; any positive strength then gives W = 0.
        return share * problem.data.reference_strength() or 1.0
