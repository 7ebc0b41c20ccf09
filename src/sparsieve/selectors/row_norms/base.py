"""Shared ground of the selectors with an l2,1 loss: a sum of residual norms, not of squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._checks import check_real
from ...design import as_design
from ...penalties import row_norms
from ...solvers.base import Result
from ...solvers.row_norms.on_support import exact_fit
from ...solvers.row_norms.problem import RobustData, RobustSolution
from ..base import TrainingData
from ..linear import LinearSelector
from ..preparation import Units


@dataclass(frozen=True)
class RobustProblem:
    """The standardised problem, its informationless columns and the way back.

    ``target_size`` is the root mean square of the rows of the centred target.
    """

    data: RobustData
    constant: np.ndarray
    units: Units
    target_size: float

    def in_user_units(self, solution: RobustSolution) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of a solution, in the units and the precision of the user's X."""
        dtype = self.data.design.dtype
        units = self.units
        free = units.outputs(np.asarray(solution.free, dtype=np.float64))
        if units.fit_intercept:
            units, free = replace(units, target_mean=units.target_mean + free[0]), free[1:]
        W = units.outputs(np.asarray(solution.W, dtype=np.float64))
        coef, offset = units.in_user_units(W, free)
        return coef.astype(dtype), offset.astype(dtype)

    def importances(self, W: np.ndarray) -> np.ndarray:
        """Row norms relative to the size of the target: standardised coefficients."""
        return row_norms(W) / self.target_size if self.target_size > 0 else np.zeros(len(W))


@dataclass(frozen=True)
class UserModel:
    """Coefficients in the units of the user, and the importances of all features."""

    coef: np.ndarray
    intercept: np.ndarray
    importances: np.ndarray


@dataclass(frozen=True)
class ModelOnSupports:
    """What it takes to fit the model on any support made of some known features.

    Holds the columns of those features only, so that a fitted selector stays small and can
    still give the exact coefficients at every number of features.
    """

    problem: RobustProblem
    features: np.ndarray
    alpha: float
    tol: float
    max_iter: int

    @classmethod
    def of(
        cls, problem: RobustProblem, features: np.ndarray, alpha: float, tol: float, max_iter: int
    ) -> ModelOnSupports:
        """Keep the columns of ``features``."""
        features = np.unique(np.asarray(features, dtype=np.int64))
        data = problem.data
        columns = data.design.dense_columns(features)
        small = replace(problem, data=replace(data, design=as_design(columns)))
        return cls(small, features, float(alpha), float(tol), int(max_iter))

    def fit(self, support: np.ndarray) -> Result[UserModel]:
        """The certified model on ``support``."""
        local = np.searchsorted(self.features, support)
        fit = exact_fit(self.problem.data, local, self.alpha, tol=self.tol, max_iter=self.max_iter)
        W = np.zeros((len(self.problem.units.scale), fit.solution.W.shape[1]))
        W[self.features] = fit.solution.W
        coef, intercept = self.problem.in_user_units(replace(fit.solution, W=W))
        model = UserModel(coef, intercept, self.problem.importances(W))
        return Result(model, fit.objective, fit.optimality, fit.n_iter, fit.converged, fit.trace)


@dataclass(eq=False, repr=False, kw_only=True)
class RobustSelector(LinearSelector):
    """Base of selectors that minimise a weighted sum of residual norms."""

    tol: float = 1e-6
    task: str = "auto"

    _accepts_device: ClassVar[bool] = True
    # Multiplications of a fit for every number of the target, measured with 200 to 1,600 classes.
    _work_per_number: ClassVar[float]
    _takes_less: ClassVar[str] = "fewer samples, or classes, take less"

    @property
    def score_meaning(self) -> str:
        """What ``scores_`` say, in one sentence for their reader."""
        columns = "standardised columns" if self.standardize else "the columns as given"
        return (
            f"Norm of the feature's coefficients on {columns}, relative to the root mean square "
            "of the centred target; 0 where the model leaves the feature out."
        )

    def _work(self, data: TrainingData) -> float:
        n_samples, n_outputs = data.target.Y.shape
        n_outputs -= data.target.codes is not None  # centred, the classes add up to zero
        return self._work_per_number * n_samples * n_outputs

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
        robust = RobustData(
            problem.design,
            problem.Y,
            weights,
            bool(self.fit_intercept),
            None if units.covariates is None else units.covariates.directions,
        )
        centred = data.target.Y.astype(np.float64) - units.target_mean
        size = np.sqrt(robust.mean(np.einsum("ij,ij->i", centred, centred)))
        return RobustProblem(robust, problem.constant, units, float(size))


def check_alpha(alpha: float | None, *, zero: bool) -> None:
    """Refuse what is no strength of the row penalty; None stands for a share of alpha_max."""
    check_real("alpha", alpha, minimum=0, strict=not zero, optional=True)


def resolve_alpha(alpha: float | None, problem: RobustProblem, share: float) -> float:
    """``alpha`` itself, or the given share of alpha_max."""
    if alpha is not None:
        return float(alpha)
    # All-zero data have alpha_max = 0; any positive strength then gives W = 0.
    return share * problem.data.reference_strength() or 1.0


SupportModel = ModelOnSupports  # what the least-squares wing still calls it
