"""Linear selectors: parameters, problems in standard units, and predictions by coefficients."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_integer, check_real
from .._saved import Floats, Maybe
from ..validation.training_data import TrainingData, transform_data
from .base import BaseSelector, ClassWeight
from .margins import Predictions, linear_predictors
from .preparation import Prepared, prepare

# What predicts the target of a task; of survival times it is a risk, which is neither.
KIND_OF_TASK = {
    "classification": "classifier",
    "regression": "regressor",
    "counts": "regressor",
}


# By how well a target of the task is predicted; class labels by accuracy.
_MEASURES = {"regression": r2_score, "counts": partial(d2_tweedie_score, power=1)}


def with_kind(tags: Any, task: str | None, *, multi_label: bool = False) -> Any:
    """Tags of an estimator that predicts the target of this task; None where that is not known.

    Examples
    --------
    >>> from sklearn.utils import get_tags
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.linear import with_kind
    >>> with_kind(get_tags(FisherSelector()), "counts").estimator_type
    'regressor'
    """
    tags.estimator_type = kind = KIND_OF_TASK.get(task or "")
    is_classifier, is_regressor = kind == "classifier", kind == "regressor"
    tags.classifier_tags = ClassifierTags(multi_label=multi_label) if is_classifier else None
    tags.regressor_tags = RegressorTags() if is_regressor else None
    return tags


def _has_classes(selector: Any) -> bool:
    if "ranking_" in vars(selector):
        return selector._can_predict and selector._seen_task == "classification"
    return selector._can_predict and getattr(selector, "task", "classification") != "regression"


class LinearPredictions(Predictions):
    """Predictions of selectors that fit ``coef_`` and ``intercept_`` to 0/1 classes or numbers.

    With ``task="classification"`` or ``"regression"`` scikit-learn knows a selector as a
    classifier or a regressor before the fit, with ``"auto"`` only after it.
    """

    _has_coefficients: ClassVar[bool] = True  # the same for the same data, up to rounding

    classes_: Any
    coef_: Any
    intercept_: Any
    _has_labels: Maybe[bool]

    @property
    def _can_predict(self) -> bool:
        return self._has_coefficients and ("ranking_" not in vars(self) or "coef_" in vars(self))

    @property
    def _can_score(self) -> bool:
        return self._can_predict

    @available_if(_has_classes)
    def decision_function(self, X: Any) -> np.ndarray:
        """Value of every class, by the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, by how much the value of the second is larger.
        """
        F = self._outputs(X)
        return F[:, 1] - F[:, 0] if F.shape[1] == 2 else F

    def _predict(self, X: Any) -> np.ndarray:
        F = self._outputs(X)
        if self._seen_task == "multilabel":
            return (F.dtype.type(0.5) < F).astype(int)
        if self._seen_task == "regression":
            return F[:, 0] if F.shape[1] == 1 else F
        classes: np.ndarray = self.classes_
        if F.shape[1] == 2:
            return np.asarray(classes[(F[:, 1] - F[:, 0] > 0).astype(int)])
        return np.asarray(classes[F.argmax(axis=1)])

    @available_if(lambda self: self._can_score)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy for class labels, R squared for numbers, explained deviance for counts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their labels, numbers or counts.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            At most 1, which is perfect.
        """
        check_is_fitted(self)
        measure = _MEASURES.get(self._seen_task, accuracy_score)
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def _seen_task(self) -> str:
        """What the fit read y as, such as "classification", "multilabel" or "regression"."""
        if vars(self).get("_has_labels"):
            return "multilabel"
        return "regression" if getattr(self, "classes_", None) is None else "classification"

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        data: TrainingData = super()._training_data(X, y, sample_weight)  # type: ignore[misc]
        self._has_labels = data.target.task == "multilabel"
        return data

    def _outputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return linear_predictors(transform_data(self, X), self.coef_, self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if not self._can_predict:
            return tags
        takes_numbers = getattr(self, "_accepts_regression", True)
        task = getattr(self, "task", "auto" if takes_numbers else "classification")
        if "ranking_" in vars(self):
            task = self._seen_task.replace("multilabel", "classification")
        return with_kind(tags, task, multi_label=tags.target_tags.multi_output)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSelector(LinearPredictions, BaseSelector):
    """Base of selectors with a linear model: ``fit_intercept``, ``standardize``, ``coef_``.

    The problems handed to the models know nothing of ``always_keep`` and ``never_keep``: their
    columns are zero and marked as ``constant``, and coefficients of covariates come back with
    the units of the user.
    """

    fit_intercept: bool = True
    standardize: bool = True
    class_weight: ClassWeight = None

    coef_: Maybe[Annotated[Floats, "outputs", "features"]] = field(init=False)
    intercept_: Maybe[Annotated[Floats, "outputs"]] = field(init=False)

    # Whether the model sees coefficients and residuals through the l2 norms of their rows alone
    # (or their squares). Only then may the outputs be rotated, which `compress` of `prepare` does.
    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _adjusts_for_kept: ClassVar[bool] = True
    _invariant_to_rotations: ClassVar[bool] = True

    def _n_own(self, data: TrainingData, default: int) -> int:
        """How many features the model has to choose itself; by default at most ``default``."""
        return data.choices.own_count(self.n_features_to_select, default)

    def _keep_coefficients(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Keep the model, in the units of X."""
        self.coef_, self.intercept_ = coef, intercept

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        if hasattr(self, "max_iter"):
            check_integer("max_iter", self.max_iter)
        if hasattr(self, "tol"):
            check_real("tol", self.tol, minimum=0, strict=True)

    def _make_problem(self, data: TrainingData, **options: Any) -> Prepared:
        """The problem in standard units."""
        options.setdefault("compress", self._invariant_to_rotations)
        return prepare(
            data, fit_intercept=self.fit_intercept, standardize=self.standardize, **options
        )
