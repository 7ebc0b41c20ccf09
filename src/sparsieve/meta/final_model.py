"""Prediction with the model that was fitted on the selected columns."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saved import Bools, Maybe
from ..scoring.engine import columns_of
from ..scoring.scorers import one_score
from ..selectors.around import for_numbers_only
from ..selectors.base import TrainingData
from ..validation.external import check_same_features, is_tensor
from ..validation.training_data import transform_data
from .base import MetaSelector


def _model_has(name: str):
    """``predict`` and others exist where the final estimator has them."""

    def check(self) -> bool:
        getattr(getattr(self, "estimator_", None) or self._models()[1], name)
        return True

    return check


class FinalModel(MetaSelector):
    """A selector with an ``estimator_`` on the columns that ``support_`` keeps."""

    estimator: Any
    scoring: Any
    estimator_: Maybe[BaseEstimator]
    support_: Annotated[Bools, "features"]

    def _models(self, data: TrainingData | None = None) -> tuple[Any, Any]:
        """The selector and the estimator, as given or by default."""
        raise NotImplementedError

    def _restored(self) -> None:
        """Complete what was loaded from a file."""
        if hasattr(self, "support_"):
            model = getattr(self, "estimator_", None) or self._models()[1]
            self.scorer_: Callable[..., Any] = one_score(self.scoring, model).scorer

    @property
    def _scale_free(self):  # type: ignore[override]
        return False  # the estimator may not be, and predicts from the columns as they are

    @property
    def _accepts_regression(self) -> bool:  # type: ignore[override]
        scores_classes = self.estimator is not None and is_classifier(self.estimator)
        return super()._accepts_regression and not scores_classes

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        scores_numbers = self.estimator is not None and for_numbers_only(self.estimator)
        return scores_numbers or super()._needs_numbers

    def _selected(self, X: Any) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                "this SelectorCV was made by at(k) and has no model for its columns; fit a "
                "SelectorCV with ks=[k] instead"
            )
        if is_tensor(X):
            check_same_features(self, X)
        else:
            X = self._prepared(X)
        return columns_of(X, np.flatnonzero(self.support_), dense=self.estimator is None)

    def _prepared(self, X: Any) -> Any:
        """X as an array or sparse matrix, as the selector and the estimator have seen it."""
        X = transform_data(self, X)
        prepare = getattr(self, "prepare_", None)
        return X if prepare is None else prepare.transform(X)

    @available_if(_model_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the final model."""
        X = self._selected(X)
        return self.estimator_.predict(X)

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the final model."""
        X = self._selected(X)
        return self.estimator_.predict_proba(X)

    @available_if(_model_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision values of the final model."""
        X = self._selected(X)
        return self.estimator_.decision_function(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the final model on other data with the scorer of the cross-validation."""
        return self.scorer_(self.estimator_, self._selected(X), y, **params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            of_model = get_tags(self.estimator)
            tags.estimator_type = of_model.estimator_type
            tags.target_tags.multi_output &= of_model.target_tags.multi_output
            tags.classifier_tags = copy.deepcopy(of_model.classifier_tags)
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_label &= tags.target_tags.multi_output
            tags.regressor_tags = copy.deepcopy(of_model.regressor_tags)
        return tags
