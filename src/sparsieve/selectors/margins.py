"""What selectors built from two-class margins share: models per class, predictions, a ranking."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .target import Target

# Margins closer than this share of their size are equal up to rounding.
TIE = 1e-9


def class_signs(target: Target) -> list[np.ndarray]:
    """Labels -1 and 1 of the models to fit: the second class of two, or each against the rest."""
    assert target.classes is not None
    assert target.codes is not None
    positive = range(1, 2) if len(target.classes) == 2 else range(len(target.classes))
    return [np.where(target.codes == k, 1.0, -1.0) for k in positive]


def joint_scores(importances) -> np.ndarray:
    """One score per feature from the importances of shape (n_models, n_features).

    Each model is divided by its largest importance before the mean is taken. The scale of a
    margin says nothing about how much its class matters, and a share of the model's total would
    favour classes that need few features; this way the best feature of every class counts the
    same, so the first features serve all classes, and those that serve several come first.
    A single model keeps its own scale.
    """
    importances = np.asarray(importances)
    if len(importances) == 1:
        return importances[0].copy()
    top = importances.max(axis=1, keepdims=True)
    return (importances / np.where(top > 0, top, 1.0)).mean(axis=0)


class MarginPredictions:
    """Mixin: ``decision_function`` and ``predict`` from ``_margins(X)``, one column per model."""

    _accepts_sparse: bool
    classes_: np.ndarray

    @abstractmethod
    def _margins(self, X) -> np.ndarray:
        """Margins of validated samples, of shape (n_samples, n_models)."""

    def decision_function(self, X):
        """Signed distance from the decision boundary of every model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive means ``classes_[1]``; otherwise one column per class.
        """
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse=("csr", "csc") if self._accepts_sparse else False,
            dtype=(np.float64, np.float32),
        )
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X):
        """Class of every sample: the one with the largest margin.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return self.classes_[(margins > 0).astype(int)]
        # Margins of exactly -1 are common with a hinge loss; rounding must not decide such ties.
        top = margins.max(axis=1, keepdims=True)
        return self.classes_[(margins >= top - TIE * (1.0 + np.abs(top))).argmax(axis=1)]
