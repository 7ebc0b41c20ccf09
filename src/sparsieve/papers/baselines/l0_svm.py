"""Linear SVMs that count features: by a surrogate (PiE-SVM, CAP-SVM) or an exact penalty."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np

from ..._checks import check_choice, check_real
from ..._saved import Floats, Ints, Savable
from ...design import blank_columns, in_double
from ...penalties import SURROGATES, surrogate
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


@dataclass(eq=False, repr=False, kw_only=True)
class L0SVMSelector(HingeSelector):
    """Linear SVM with a penalty on the number of features instead of the squared weights.

    In short: Linear classifier (SVM) with a penalty on the number of features it uses.

    Minimises ``sum_j delta(w_j) + C sum_i max(0, 1 - y_i (w'x_i + b))`` where delta is a concave
    surrogate of "w_j is not zero". ``surrogate="exp"`` is PiE-SVM, ``"capped_l1"`` is CAP-SVM and
    ``"l1"`` the convex l1-SVM. The DC algorithm replaces delta by its tangent at the current
    weights, which gives a linear program. Each program contains only the few features that can have
    a nonzero weight; one product with all the others verifies that none was missed.

    With several classes, one model is fitted per class against the rest. Features are ranked by the
    mean over classes of ``|w_j|`` divided by the largest weight of that class, so that the best
    feature of every class counts the same.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    surrogate : {"exp", "capped_l1", "log", "scad", "l1"}, default="exp"
        Function used in place of the number of nonzero weights.
    C : float, default=1.0
        Penalty on margin violations; larger values allow fewer of them.
    theta : float, default=5.0
        Steepness of the l0 surrogate; larger values come closer to counting features.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    max_iter : int, default=50
        Maximum number of linear programs per model (steps of the DC algorithm).
    tol : float, default=1e-6
        Stop when a step lowers the objective by less than this fraction of it; ``optimality_`` must
        also be at most this.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The feature's share of the reduction in hinge loss (between 0 and 1), divided among the
        features in proportion to their squared standardised weights; with several classes, weights
        are averaged after dividing by the largest of each class.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero weight are ranked by how much they
        would reduce the remaining margin violations (the gradient of the squared hinge loss; ties
        by the gradient at zero weights).
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights in the units of X. With fewer features than the model uses (see :meth:`at`), the
        last linear program is solved again on those kept.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercept of every model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective at the solution, summed over the models.
    optimality_ : float
        How far the weights are from solving the last linear program: the larger of its relative
        duality gap and the largest violation of the optimality conditions over all features; the
        largest over the models.
    n_iter_ : int
        Number of linear programs; the largest over the models.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every linear program, summed over the models.

    See Also
    --------
    sparsieve.ExactPenaltySVMSelector : The same problem with 0/1 variables.
    sparsieve.SVMRFESelector : Recursive feature elimination with a linear SVM.

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

    surrogate: str = "exp"
    theta: float = 5.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_real("theta", self.theta, minimum=0, strict=True)

    def _problem(self, hinge: Hinge) -> SurrogateSVM:
        return SurrogateSVM(hinge, surrogate(self.surrogate, self.theta))


@dataclass(eq=False, repr=False, kw_only=True)
class ExactPenaltySVMSelector(HingeSelector):
    """Linear SVM that counts features through 0/1 variables and an exact penalty (EP-SVM).

    In short: Linear classifier (SVM) that uses few features; a slower variant of l0-svm.

    Minimises ``C sum_i max(0, 1 - y_i (w'x_i + b)) + sum_j u_j + t sum_j min(u_j, 1 - u_j)`` under
    ``|w_j| <= max_weight * u_j`` and ``0 <= u_j <= 1``, where t is ``penalty``: with t large enough
    every u_j ends at 0 or 1 and their sum is the number of features. For t >= 1 the best u_j has a
    closed form, which gives the capped l1 penalty of :class:`L0SVMSelector` with ``theta = (1 +
    penalty) / max_weight``. The differences are the bound on the weights, and that the penalty
    stays constant only beyond a weight of half that bound.

    With several classes, one model is fitted per class against the rest, and features are ranked
    jointly as in :class:`L0SVMSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    C : float, default=1.0
        Penalty on margin violations; larger values allow fewer of them.
    penalty : float, default=4.0
        Strength t of the penalty on u_j strictly between 0 and 1; at least 1.
    max_weight : float, default=1.0
        Upper bound on ``|w_j|`` (for standardised features if ``standardize=True``); features in
        ``always_keep`` are not bounded.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    max_iter : int, default=50
        Maximum number of linear programs per model (steps of the DC algorithm).
    tol : float, default=1e-6
        Stop when a step lowers the objective by less than this fraction of it; ``optimality_`` must
        also be at most this.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The feature's share of the reduction in hinge loss (between 0 and 1), divided among the
        features in proportion to their squared standardised weights; with several classes, weights
        are averaged after dividing by the largest of each class.
    ranking_, support_, coef_, intercept_, classes_
        As in :class:`L0SVMSelector`.
    objective_, optimality_, n_iter_, converged_, history_
        As in :class:`L0SVMSelector`.

    See Also
    --------
    sparsieve.L0SVMSelector : Linear SVM with a penalty on the number of features.
    sparsieve.SVMRFESelector : Recursive feature elimination with a linear SVM.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import ExactPenaltySVMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ExactPenaltySVMSelector(C=0.1).fit(X, y).get_support(indices=True)
    array([ 6,  7, 20, 21, 24, 27, 28])
    """

    penalty: float = 4.0
    max_weight: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("penalty", self.penalty, minimum=1)
        check_real("max_weight", self.max_weight, minimum=0, strict=True)

    def _work(self, data: TrainingData) -> float:
        return 0.3 * float(data.design.shape[0]) ** 2  # measured with 300,000 samples

    def _largest_weight(self) -> float:
        return float(self.max_weight)

    def _problem(self, hinge: Hinge) -> ExactPenaltySVM:
        return ExactPenaltySVM(hinge, float(self.penalty))
