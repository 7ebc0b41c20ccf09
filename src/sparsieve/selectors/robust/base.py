"""Shared ground of the selectors with an l2,1 loss: a sum of residual norms, not of squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..._beside import rows_in_use
from ..._saved import Bools, Ints, Savable
from ...design import as_design
from ...penalties import row_norms
from ...solvers.base import Result
from ...solvers.robust.problem import RobustRegression, RobustSolution
from ...solvers.robust.working_set import RobustRefit
from ..base import TrainingData
from ..linear import LinearSelector
from ..preparation import Units


@dataclass(frozen=True)
class RobustProblem(Savable):
    """The standardised problem, its informationless columns and the way back.

    ``target_size`` is the root mean square of the rows of the centred target.
    """

    data: RobustRegression
    constant: Annotated[Bools, "features"]
    units: Annotated[Units, "features"]
    target_size: float

    def in_user_units(self, solution: RobustSolution) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of a solution, in the units and the precision of the user's X."""
        units = self.units
        free = units.outputs(np.asarray(solution.free, dtype=np.float64))
        if units.fit_intercept:
            units, free = replace(units, target_mean=units.target_mean + free[0]), free[1:]
        used = rows_in_use(solution.W)
        W = np.zeros((len(solution.W), free.shape[1]))
        W[used] = units.outputs(np.asarray(solution.W[used], dtype=np.float64))
        return units.in_user_units(W, free, used, self.data.design.dtype)

    def importances(self, W: np.ndarray) -> np.ndarray:
        """Row norms relative to the size of the target: standardised coefficients."""
        norms, used = np.zeros(len(W)), rows_in_use(W)
        norms[used] = row_norms(W[used])
        return self.in_target_units(norms)

    def in_target_units(self, norms: np.ndarray) -> np.ndarray:
        """Norms of coefficients relative to the size of the target."""
        return norms / self.target_size if self.target_size > 0 else np.zeros(len(norms))


@dataclass(frozen=True)
class UserModel:
    """Coefficients in the units of the user, and the importances of all features."""

    coef: np.ndarray
    intercept: np.ndarray
    importances: np.ndarray


@dataclass(frozen=True)
class ModelOnSupports(Savable):
    """What it takes to fit the model on any support made of some known features.

    Holds the columns of those features only, so that a fitted selector stays small and can
    still give the exact coefficients at every number of features.
    """

    problem: Annotated[RobustProblem, "features"]
    features: Annotated[Ints, "seen"]
    tol: float
    max_iter: int

    @classmethod
    def from_features(
        cls, problem: RobustProblem, features: np.ndarray, tol: float, max_iter: int
    ) -> Self:
        """Keep the columns of ``features``."""
        features = np.unique(np.asarray(features, dtype=np.int64))
        data = problem.data
        columns = data.design.dense_columns(features)
        small = replace(data, design=as_design(columns), eligible=None)
        return cls(replace(problem, data=small), features, float(tol), int(max_iter))

    def fit(self, support: np.ndarray) -> Result[UserModel]:
        """The certified model on ``support``."""
        local = np.searchsorted(self.features, support)
        fit = RobustRefit(self.tol, self.max_iter).solve(self.problem.data.restrict(local))
        W = np.zeros((len(self.problem.units.scale), fit.solution.W.shape[1]))
        W[self.features] = fit.solution.W
        coef, intercept = self.problem.in_user_units(replace(fit.solution, W=W))
        found: Result[Any] = fit
        return replace(found, solution=UserModel(coef, intercept, self.problem.importances(W)))


@dataclass(eq=False, repr=False, kw_only=True)
class RobustSelector(LinearSelector):
    """Base of selectors that minimise a weighted sum of residual norms."""

    tol: float = 1e-6
    task: str = "auto"

    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _accepts_device: ClassVar[bool] = True
    # Multiplications of a fit for every number of the target, measured with 200 to 1,600 classes.
    _work_per_number: ClassVar[float]
    _takes_less: ClassVar[str] = "fewer samples or classes are faster"

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        columns = "standardised columns" if self.standardize else "the columns as given"
        return (
            f"Size of the feature's coefficients on {columns}, relative to the spread of the "
            "target; 0 if the feature is not used."
        )

    def _keep_fit(
        self, fit: Result[UserModel], way: Result, charge: float = 0.0, **words: str
    ) -> None:
        """Keep the model on a support, and how good it and the way to it are together."""
        self._keep_coefficients(fit.solution.coef, fit.solution.intercept)
        both = replace(
            way,
            objective=fit.objective + charge,
            optimality=max(fit.optimality, way.optimality),
            converged=fit.converged and way.converged,
        )
        self._keep_result(both, **words)

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
        problem = self._make_problem(data, squared_loss=False)
        units = problem.units
        weights = np.ones(len(problem.Y)) if data.sample_weight is None else data.sample_weight
        robust = RobustRegression(
            problem.design,
            problem.Y,
            weights,
            bool(self.fit_intercept),
            None if units.covariates is None else units.covariates.directions,
            eligible=~problem.constant,
        )
        centred = data.target.Y.astype(np.float64) - units.target_mean
        size = np.sqrt(robust.mean(np.einsum("ij,ij->i", centred, centred)))
        return RobustProblem(robust, problem.constant, units, float(size))


def resolve_alpha(alpha: float | None, alpha_max: Callable[[], float], share: float) -> float:
    """``alpha`` itself, or the given share of alpha_max."""
    if alpha is not None:
        return float(alpha)
    # All-zero data have alpha_max = 0; any positive strength then gives W = 0.
    return share * alpha_max() or 1.0
