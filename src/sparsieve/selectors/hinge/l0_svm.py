"""Linear SVMs under a surrogate of the number of features: PiE-SVM, CAP-SVM and relatives."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ..._checks import check_choice, check_real
from ...design import blanked, standardised
from ...penalties import SURROGATES, surrogate
from ...solvers.base import Event
from ...solvers.hinge.linear_program import (
    L0SVMResult,
    SurrogateProgram,
    WeightedL1SVM,
    solve_l0_svm,
    solve_program,
)
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..margins import MarginPredictions, class_signs, joint_scores
from ..preparation import Units


class HingeSelector(MarginPredictions, LinearSelector):
    """Base of linear selectors with the hinge loss, solved by linear programs."""

    _accepts_regression = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("C", self.C, minimum=0, strict=True)

    @abstractmethod
    def _program(self, svm: WeightedL1SVM):
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
        results: list[L0SVMResult] = []
        self._models: list[_Model] = []
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
                callback=_print_step if self.verbose else None,
            )
            results.append(result)
            self._models.append(_Model.of(svm, result))
        self._dtype = data.design.dtype
        self._units = Units(
            view.centre, view.scale, np.zeros(len(results)), None, self.fit_intercept
        )
        self._keep_certificates(results)
        weights = np.array([np.abs(result.plane.dense(n_features)) for result in results])
        weights[:, always] = 0.0  # nor do they measure the others
        # A feature without weight ranks by how close its price comes to what it costs.
        closeness = [
            np.divide(result.prices, result.costs, where=result.costs > 0, out=np.ones(n_features))
            for result in results
        ]
        return FeatureScores(
            joint_scores(weights),
            n_kept=int(weights.any(axis=0).sum()),
            ties=np.mean(closeness, axis=0),
            constant=view.constant if self.fit_intercept else np.zeros_like(view.constant),
        )

    def _keep_certificates(self, results: list[L0SVMResult]) -> None:
        self.objective_ = float(sum(result.objective for result in results))
        self.optimality_ = float(max(result.optimality for result in results))
        self.n_iter_ = max(result.n_iter for result in results)
        histories = [result.history for result in results]
        self.history_ = histories[0] if len(histories) == 1 else histories
        if not all(result.converged for result in results):
            self._warn_not_converged("an optimality measure of", self.optimality_, self.tol)

    def _refit(self, n_chosen: int) -> None:
        W = np.zeros((len(self.ranking_), len(self._models)))
        bias = np.zeros(len(self._models))
        for k, model in enumerate(self._models):
            features, weights, bias[k] = model.at(self.support_)
            W[features, k] = weights
        coef, intercept = self._units.in_user_units(W)
        self.coef_ = coef.astype(self._dtype)
        self.intercept_ = (intercept + bias).astype(self._dtype)

    def _margins(self, X):
        used = np.flatnonzero(self.coef_.any(axis=0))
        return np.asarray(X[:, used] @ self.coef_[:, used].T + self.intercept_)


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
    def of(cls, svm: WeightedL1SVM, result: L0SVMResult) -> _Model:
        plane = result.plane
        return cls(
            plane.features,
            plane.weights,
            plane.bias,
            svm.columns(plane.features),
            result.costs[plane.features],
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


def _print_step(event: Event) -> None:
    count = len(event.solution.features)
    print(f"program {event.n_iter}: {count} features, objective {event.objective:.6g}")


class L0SVMSelector(HingeSelector):
    """Linear SVM that pays for the number of features instead of their squared weights.

    Minimises ``sum_j delta(w_j) + C sum_i max(0, 1 - y_i (w'x_i + b))`` where delta is a
    concave surrogate of "w_j is not zero". ``surrogate="exp"`` is PiE-SVM, ``"capped_l1"``
    is CAP-SVM and ``"l1"`` the convex l1-SVM. The DC algorithm replaces delta by its tangent at
    the current weights, which leaves a linear program; programs hold only the few features that
    can have a weight, and one product with all the others certifies that none was missed.

    Several classes get one model each against the rest. The joint score of a feature is the
    mean over classes of ``|w_j|`` divided by the largest of that class: the scale of a margin says
    nothing about how much its class matters, so the best feature of every class counts the same.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with a weight.
    surrogate : {"exp", "capped_l1", "log", "scad", "l1"}, default="exp"
        What stands in for counting features.
    C : float, default=1.0
        Price of a margin violation, in features.
    theta : float, default=5.0
        Steepness of the surrogate; "l1" does not look at it.
    fit_intercept : bool, default=True
        Centre X and fit a bias, which costs nothing.
    standardize : bool, default=True
        Scale columns to unit variance. Constant columns are left alone.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    max_iter : int, default=50
        Most linear programs per model (of the DC algorithm; each may take several rounds).
    tol : float, default=1e-6
        Stop when a program lowers the objective by less than this share of it.
    verbose : int, default=0
        1 prints every program.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ``|w_j|`` of the standardised problem; for several classes the joint score.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by how close their price comes to their cost.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights in the units of X. With fewer features than the model uses (see :meth:`at`) the
        last linear program is solved again on the kept ones.
    intercept_ : ndarray of shape (1 or n_classes,)
        Biases.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective of the model as fitted, summed over the models.
    optimality_ : float
        How far the weights are from solving the linear program that they define: the larger of
        its duality gap relative to the objective and of what any feature offers above its cost,
        over all features; the largest of the models.
    n_iter_ : int
        Linear programs of the DC algorithm; the most of any model.
    history_ : list of float
        Objective after every program; a list of such lists for several classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L0SVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = L0SVMSelector(C=0.1).fit(X, y)
    >>> selector.get_support(indices=True)
    array([20, 21, 27])
    >>> float((selector.predict(X) == y).mean()) > 0.9
    True
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        surrogate="exp",
        C=1.0,
        theta=5.0,
        fit_intercept=True,
        standardize=True,
        always_keep=None,
        never_keep=None,
        class_weight=None,
        max_iter=50,
        tol=1e-6,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.surrogate = surrogate
        self.C = C
        self.theta = theta
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_real("theta", self.theta, minimum=0, strict=True)

    def _program(self, svm):
        return SurrogateProgram(svm, surrogate(self.surrogate, self.theta))
