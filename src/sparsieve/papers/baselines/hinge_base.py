"""What the linear selectors with the hinge loss share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np

from ..._checks import check_real
from ..._saved import Floats, Ints, Savable
from ...design import blank_columns, in_double
from ...selectors.base import FeatureScores, TrainingData
from ...selectors.linear import LinearSelector
from ...selectors.margins import (
    MarginPredictions,
    class_signs,
    joint_sizes,
    machine_view,
    shared_out,
)
from ...selectors.preparation import Units
from ...solvers.base import Result, printer
from .solvers.column_generation import ColumnStore, Hinge, SparsePlane, without_features
from .solvers.l0_svm import L0SVM, ExactPenaltySVM, SurrogateSVM
from .solvers.linear_program import HighsSolver, LinearProgram


@dataclass(eq=False, repr=False, kw_only=True)
class HingeSelector(MarginPredictions, LinearSelector):
    """Base of linear selectors with the hinge loss, solved by linear programs."""

    C: float = 1.0
    max_iter: int = 50
    tol: float = 1e-6
    verbose: int = 0

    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "The feature's share of the reduction in hinge loss (between 0 and 1), divided among the "
        "features in proportion to their squared standardised weights; with several classes, "
        "weights are averaged after dividing by the largest of each class."
    )

    _models: Annotated[list[_Model], "outputs"] = field(init=False)
    _dtype: np.dtype = field(init=False)
    _units: Annotated[Units, "features"] = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("C", self.C, minimum=0, strict=True)

    @abstractmethod
    def _problem(self, hinge: Hinge) -> SurrogateSVM | ExactPenaltySVM:
        """The model on these data."""

    def _largest_weight(self) -> float:
        return np.inf

    def _fit(self, data: TrainingData) -> FeatureScores:
        weights, centre = data.sample_weight, self.fit_intercept
        view = machine_view(data.design, weights, self.standardize, centre)
        n_samples, n_features = data.design.shape
        design = in_double(blank_columns(view.design, data.fixed.never))
        always = np.flatnonzero(data.fixed.always)
        C = np.ones(n_samples) if data.sample_weight is None else data.sample_weight
        C = float(self.C) * C
        signs, store = class_signs(data.target), ColumnStore(design)
        solver, show = L0SVM(self.max_iter, self.tol), printer(self.verbose, type(self).__name__)
        bound, fit_bias = self._largest_weight(), self.fit_intercept
        hinge = Hinge(design, signs[0], C, store, np.zeros(n_features), bound, fit_bias, always)
        costs = self._problem(hinge).costs(hinge.origin())
        empty = np.zeros(len(signs), dtype=bool)
        if len(signs) > 1 and self.fit_intercept and not len(always):
            empty = without_features(design, signs.codes, C, costs)
        results: list[Result[None]] = []
        self._models = []
        weights, explained = np.zeros((len(signs), n_features)), np.zeros(len(signs))
        left, alone = np.zeros(n_features), np.zeros(n_features)
        for k, y in enumerate(signs):
            svm = replace(hinge, y=y, costs=costs)
            nothing = svm.origin()
            if empty[k]:
                loss = svm.loss(nothing)
                result = Result(nothing, loss, 0.0, 1, True, [loss])
            else:
                result = solver.solve(self._problem(svm), callback=show)
            plane = result.solution
            results.append(replace(result, solution=None))  # type: ignore[arg-type]
            self._models.append(_Model.from_plane(svm, plane))
            weights[k, plane.features] = np.abs(plane.weights)
            without = svm.unpenalised_loss()
            if without > 0.0:
                explained[k] = max(1.0 - svm.loss(plane) / without, 0.0)
            missing = np.column_stack([svm.missing(plane), svm.missing(nothing)])
            squares = design.rmatmul(missing) ** 2
            left, alone = left + squares[:, 0], alone + squares[:, 1]
        self._dtype = data.design.dtype
        self._units = Units(
            view.centre, view.scale, np.zeros(len(results)), None, self.fit_intercept
        )
        self._keep_result(results)
        weights[:, always] = 0.0  # nor do they measure the others
        return FeatureScores(
            shared_out(float(np.mean(explained)), joint_sizes(weights)),
            n_kept=int(weights.any(axis=0).sum()),
            ties=(np.sqrt(left), np.sqrt(alone)),
            constant=view.constant if self.fit_intercept else np.zeros_like(view.constant),
            beyond="how much they would reduce the remaining margin violations",
            remedy="raise C",
        )

    def _refit(self, n_chosen: int) -> None:
        W = np.zeros((len(self.ranking_), len(self._models)))
        bias = np.zeros(len(self._models))
        for k, model in enumerate(self._models):
            features, weights, bias[k] = model.restrict(self.support_)
            W[features, k] = weights
        coef, intercept = self._units.in_user_units(W)
        self.coef_: np.ndarray = coef.astype(self._dtype)
        self.intercept_: np.ndarray = (intercept + bias).astype(self._dtype)


@dataclass(frozen=True)
class _Model(Savable):
    """A fitted plane with the few columns it uses, to solve again on some of them."""

    features: Annotated[Ints, "features"]
    weights: Annotated[Floats, "features"]
    bias: float
    columns: Annotated[Floats, "samples", "features"]
    costs: Annotated[Floats, "features"]
    y: Annotated[Floats, "samples"]
    C: Annotated[Floats, "samples"]
    bounds: Annotated[Floats, "features"]
    fit_bias: bool

    @classmethod
    def from_plane(cls, svm: Hinge, plane: SparsePlane) -> _Model:
        if not len(plane.features):  # nothing to take away, so the samples are not needed
            none = np.empty(0)
            alone = plane.features, none, plane.bias, np.empty((0, 0)), none, none, none, none
            return cls(*alone, svm.fit_bias)
        assert plane.costs is not None
        return cls(
            plane.features,
            plane.weights,
            plane.bias,
            svm.columns(plane.features),
            plane.costs[plane.features],
            svm.y,
            svm.C,
            svm.bounds[plane.features],
            svm.fit_bias,
        )

    def restrict(self, support: np.ndarray):
        """(features, weights, bias) of the last convex program without the unselected features."""
        kept = support[self.features]
        if kept.all():
            return self.features, self.weights, self.bias
        columns, costs, bounds = self.columns[:, kept], self.costs[kept], self.bounds[kept]
        program = LinearProgram.from_columns(columns, self.y, self.C, costs, bounds, self.fit_bias)
        plane = HighsSolver().solve(program).solution
        return self.features[kept], plane.weights, plane.bias
