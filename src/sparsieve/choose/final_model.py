"""Prediction with the model that was fitted on the selected columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..selectors.foreign import check_same_features, is_tensor, places_beside
from ..selectors.plain import naming_arguments, plain_matrix
from .folds import dense


def _model_has(name: str):
    """``predict`` and others exist where the final estimator has them."""

    def check(self) -> bool:
        getattr(getattr(self, "estimator_", None) or self._models()[1], name)
        return True

    return check


class FinalModel:
    """Mixin: ``estimator_`` on the columns that ``support_`` keeps."""

    estimator: Any
    estimator_: Any
    scorer_: Any
    support_: np.ndarray
    _accepts_sparse: Any
    _accepts_nan: Any

    def _selected(self, X):
        check_is_fitted(self)
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                "this SelectorCV was made by at(k) and has no model for its columns; set "
                "ks=[k] and fit it"
            )
        if is_tensor(X):
            check_same_features(self, X)
            return X[:, places_beside(X, self.support_)].detach().cpu().numpy()
        X = self._prepared(X)[:, self.support_]
        return dense(X) if self.estimator is None else X

    def _prepared(self, X):
        """X as an array or sparse matrix, as the selector and the estimator have seen it."""
        X = plain_matrix(X)
        with naming_arguments():
            X = validate_data(
                self,
                X,
                reset=False,
                accept_sparse="csr" if self._accepts_sparse else False,
                dtype=(np.float64, np.float32),
                ensure_all_finite=not self._accepts_nan,
            )
        prepare = getattr(self, "prepare_", None)
        return X if prepare is None else prepare.transform(X)

    @available_if(_model_has("predict"))
    def predict(self, X):
        """Predict with the final model."""
        X = self._selected(X)
        return self.estimator_.predict(X)

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X):
        """Class probabilities of the final model."""
        X = self._selected(X)
        return self.estimator_.predict_proba(X)

    @available_if(_model_has("decision_function"))
    def decision_function(self, X):
        """Decision values of the final model."""
        X = self._selected(X)
        return self.estimator_.decision_function(X)

    def score(self, X, y, **params):
        """Score the final model on other data with the scorer of the cross-validation."""
        return self.scorer_(self.estimator_, self._selected(X), y, **params)
