"""What the linear selectors with the hinge loss share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._checks import check_real
from ...design import blanked, standardised
from ...solvers.base import Result, printer
from ...solvers.hinge.linear_program import (
    ExactPenaltyProgram,
    SparsePlane,
    SurrogateProgram,
    WeightedL1SVM,
    solve_l0_svm,
)
from ...solvers.hinge.restricted import solve_program
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..margins import MarginPredictions, class_signs, joint_sizes, shared_out
from ..preparation import Units


@dataclass(eq=False, repr=False, kw_only=True)
class HingeSelector(MarginPredictions, LinearSelector):
    """Base of linear selectors with the hinge loss, solved by linear programs."""

    C: float = 1.0
    max_iter: int = 50
    tol: float = 1e-6
    verbose: int = 0

    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "The feature's part of what the machine explains (the share of the hinge loss that it "
        "saves, between 0 and 1), shared out by squared standardised weights; with several "
        "classes by the mean of weights relative to the largest of each class, of the mean share."
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("C", self.C, minimum=0, strict=True)

    @abstractmethod
    def _program(self, svm: WeightedL1SVM) -> SurrogateProgram | ExactPenaltyProgram:
        """The DC program of this model on these data."""

    def _largest_weight(self) -> float:
        return np.inf

    def _fit(self, data: TrainingData) -> FeatureScores:
        view = standardised(
            data.design,
            centre=self.fit_intercept,
            scale=self.standardize,
            sample_weight=data.sample_weight,
            weight_rows=False,
        )
        n_samples, n_features = data.design.shape
        design = blanked(view.design, data.fixed.never)
        always = np.flatnonzero(data.fixed.always)
        counts = np.ones(n_samples) if data.sample_weight is None else data.sample_weight
        results: list[Result[SparsePlane]] = []
        self._models: list[_Model] = []
        explained = []
        for y in class_signs(data.target):
            svm = WeightedL1SVM(
                design,
                y,
                float(self.C) * counts,
                self._largest_weight(),
                self.fit_intercept,
                always,
            )
            result = solve_l0_svm(
                self._program(svm),
                max_iter=self.max_iter,
                tol=self.tol,
                callback=printer(self.verbose, type(self).__name__),
            )
            results.append(result)
            self._models.append(_Model.of(svm, result.solution))
            without = svm.unpenalised_loss()
            saved = 1.0 - svm.loss(result.solution) / without if without > 0.0 else 0.0
            explained.append(max(saved, 0.0))
        self._dtype = data.design.dtype
        self._units = Units(
            view.centre, view.scale, np.zeros(len(results)), None, self.fit_intercept
        )
        self._keep_result(results)
        planes = [result.solution for result in results]
        weights = np.array([np.abs(plane.dense(n_features)) for plane in planes])
        weights[:, always] = 0.0  # nor do they measure the others
        return FeatureScores(
            shared_out(float(np.mean(explained)), joint_sizes(weights)),
            n_kept=int(weights.any(axis=0).sum()),
            ties=np.mean([_closeness(plane) for plane in planes], axis=0),
            constant=view.constant if self.fit_intercept else np.zeros_like(view.constant),
        )

    def _refit(self, n_chosen: int) -> None:
        W = np.zeros((len(self.ranking_), len(self._models)))
        bias = np.zeros(len(self._models))
        for k, model in enumerate(self._models):
            features, weights, bias[k] = model.at(self.support_)
            W[features, k] = weights
        coef, intercept = self._units.in_user_units(W)
        self.coef_ = coef.astype(self._dtype)
        self.intercept_ = (intercept + bias).astype(self._dtype)


def _closeness(plane: SparsePlane) -> np.ndarray:
    """How close the price of every feature comes to what it costs: ranks those without weight."""
    assert plane.costs is not None
    assert plane.prices is not None
    charged = plane.costs > 0
    return np.divide(plane.prices, plane.costs, where=charged, out=np.ones(len(plane.costs)))


@dataclass(frozen=True)
class _Model:
    """A fitted plane with the few columns it uses, to solve again on some of them."""

    features: np.ndarray
    weights: np.ndarray
    bias: float
    columns: np.ndarray
    costs: np.ndarray
    y: np.ndarray
    C: np.ndarray
    bounds: np.ndarray
    fit_bias: bool

    @classmethod
    def of(cls, svm: WeightedL1SVM, plane: SparsePlane) -> _Model:
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

    def at(self, support: np.ndarray):
        """(features, weights, bias) of the last convex program without the unselected features."""
        kept = support[self.features]
        if kept.all():
            return self.features, self.weights, self.bias
        weights, bias, _ = solve_program(
            self.columns[:, kept],
            self.y,
            self.C,
            self.costs[kept],
            bounds=self.bounds[kept],
            fit_bias=self.fit_bias,
        )
        return self.features[kept], weights, bias
