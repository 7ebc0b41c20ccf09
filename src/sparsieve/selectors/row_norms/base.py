"""Shared ground of the selectors with an l2,1 loss: a sum of residual norms, not of squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._checks import check_real
from ...design import as_design
from ...penalties import row_norms
from ...solvers.row_norms.greedy import exact_fit
from ...solvers.row_norms.problem import RobustData, RobustFit
from ..base import TrainingData
from ..linear import LinearSelector
from ..preparation import Units


@dataclass(frozen=True)
class RobustProblem:
    """The standardised problem, its informationless columns and the way back."""

    data: RobustData
    constant: np.ndarray
    units: Units

    def in_user_units(self, W: np.ndarray, free: np.ndarray):
        """(coef, intercept) of a solution, in the units and the precision of the user's X."""
        dtype = self.data.design.dtype
        units = self.units
        free = units.outputs(np.asarray(free, dtype=np.float64))
        if units.fit_intercept:
            units, free = replace(units, target_mean=units.target_mean + free[0]), free[1:]
        W = units.outputs(np.asarray(W, dtype=np.float64))
        coef, offset = units.in_user_units(W, free)
        return coef.astype(dtype), offset.astype(dtype)


@dataclass(frozen=True)
class SupportModel:
    """What it takes to fit the model on any support made of some known features.

    Holds the columns of those features only, so that a fitted selector stays small and can
    still give the exact coefficients at every number of features.
    """

    problem: RobustProblem
    features: np.ndarray
    gamma: float
    tol: float
    max_iter: int

    @classmethod
    def of(cls, problem: RobustProblem, features, gamma, tol, max_iter) -> SupportModel:
        """Keep the columns of ``features``."""
        features = np.unique(np.asarray(features, dtype=np.int64))
        data = problem.data
        columns = data.design.dense_columns(features)
        small = replace(problem, data=replace(data, design=as_design(columns)))
        return cls(small, features, gamma, tol, max_iter)

    def fit(self, support: np.ndarray) -> SupportFitted:
        """The certified model on ``support``, in the units of the user."""
        local = np.searchsorted(self.features, support)
        fit = exact_fit(self.problem.data, local, self.gamma, tol=self.tol, max_iter=self.max_iter)
        units = self.problem.units
        n_features = len(units.scale)
        W = np.zeros((n_features, fit.W.shape[1]))
        W[self.features] = fit.W
        coef, intercept = self.problem.in_user_units(W, fit.free)
        return SupportFitted(fit, row_norms(W), coef, intercept)


@dataclass(frozen=True)
class SupportFitted:
    """A fit on a support: solver's view, row norms of all features, user's coefficients."""

    fit: RobustFit
    norms: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


class RobustSelector(LinearSelector):
    """Base of selectors that minimise a weighted sum of residual norms."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if hasattr(self, "gamma"):
            check_real("gamma", self.gamma, minimum=0, strict=True, optional=True)

    def _robust_problem(self, data: TrainingData) -> RobustProblem:
        """Standardise the columns and rotate the outputs; the intercept is left to the solver.

        Centring is not the optimal intercept of this loss, but it changes nothing when the
        intercept is free, and makes for better numbers; the same holds for what ``always_keep``
        explains of X and Y by least squares. A rotation of the outputs leaves every
        norm as it is, so that the coordinates outside the row space of Y can be dropped.
        """
        problem = self._prepared(data, squared_loss=False)
        units = problem.units
        weights = np.ones(len(problem.Y)) if data.sample_weight is None else data.sample_weight
        return RobustProblem(
            RobustData(
                problem.design,
                problem.Y,
                weights,
                bool(self.fit_intercept),
                None if units.covariates is None else units.covariates.directions,
            ),
            problem.constant,
            units,
        )

    def _strength(self, problem: RobustProblem, share: float) -> float:
        """``gamma`` itself, or the given share of gamma_max."""
        if self.gamma is not None:
            return float(self.gamma)
        # All-zero data have gamma_max = 0; any positive strength then gives W = 0.
        return share * problem.data.reference_strength() or 1.0
