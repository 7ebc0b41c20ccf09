"""Trees of other packages: fitted to some columns, and asked for their own importances."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from ...validation.target import Target
from ..guests import guest_name, judge_features


class GuestTrees:
    """An estimator with ``feature_importances_``, fitted anew to every set of columns.

    Parameters
    ----------
    estimator : estimator
    X : ndarray of shape (n_samples, n_features)
    target : Target
    weights : ndarray of shape (n_samples,) or None
    """

    def __init__(
        self, estimator: Any, X: np.ndarray, target: Target, weights: np.ndarray | None
    ) -> None:
        self.estimator: Any = estimator
        self.X: np.ndarray = X
        self.weights: np.ndarray | None = weights
        self.y: np.ndarray = _plain(estimator, target)

    def importances(self, columns: np.ndarray, others: np.ndarray, seed: int) -> np.ndarray:
        """Shares of the importance, of some columns of X and then of other columns."""
        model = clone(self.estimator)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        X = np.hstack([self.X[:, columns], others])
        if self.weights is None:
            model.fit(X, self.y)
        else:
            model.fit(X, self.y, sample_weight=self.weights)
        judged = judge_features(model, X.shape[1])
        if judged is None or judged.ranks is not None:
            raise ValueError(
                f"{guest_name(model)} has no feature_importances_, by which trees are asked; pass "
                "LightGBM, XGBoost, CatBoost or a forest, or use sparsieve.SelectorAdapter"
            )
        found = np.maximum(np.nan_to_num(judged.scores), 0.0)
        total = float(found.sum())
        return found / total if total > 0 else found


def check_guest(estimator: Any) -> None:
    """Refuse in a sentence what cannot be fitted."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        given = estimator.__name__ if isinstance(estimator, type) else repr(estimator)
        raise ValueError(
            f"estimator must be an object with fit and feature_importances_, got {given}; None "
            "uses the boosted trees of scikit-learn"
        )


def _plain(estimator: Any, target: Target) -> np.ndarray:
    """The target as trees take it: codes of classes, or numbers."""
    name = guest_name(estimator)
    if target.codes is not None:
        if is_regressor(estimator):
            raise ValueError(
                f"y holds classes, but {name} predicts numbers; pass a classifier, or "
                'task="regression"'
            )
        return target.codes
    if is_classifier(estimator):
        raise ValueError(
            f"{name} predicts classes, but y is a {target.task} target; pass a model that "
            "predicts numbers"
        )
    if target.task == "survival":
        raise ValueError(
            f"{name} knows no survival times; leave estimator=None, which boosts a Cox model"
        )
    return target.Y[:, 0] if target.Y.shape[1] == 1 else target.Y
