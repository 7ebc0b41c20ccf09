"""Features per class: one linear SVM for every class on the features of that class, then a vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_choice
from .._sklearn import num_samples
from .models import linear_svm

VOTES = ("margin", "majority")


def predict_per_class(
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    supports: ArrayLike,
    *,
    vote: str = "margin",
    C: float = 1.0,
) -> np.ndarray:
    """Predict with one linear SVM per class, each on the features selected for its class.

    Parameters
    ----------
    X_train, X_test : array-like or sparse matrix of shape (n_samples, n_features)
    y_train : array of shape (n_samples,)
    supports : array of bool of shape (n_classes, n_features)
        Row k marks the features of the k-th class in sorted order. A class without features has
        no say.
    vote : {"margin", "majority"}, default="margin"
        "margin": the SVM of a class tells it from the rest, and the largest margin wins.
        "majority": every SVM tells all classes apart (one against one, as LIBSVM does), and the
        label that most of them say wins; of labels with as many votes the first in sorted order.
        An SVM that sees the features of one class only can say little about the others.
    C : float, default=1.0
        Of the SVMs.

    Returns
    -------
    labels : ndarray of shape (n_test_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExclusiveL21Selector
    >>> from sparsieve.scoring.per_class import predict_per_class
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> own = ExclusiveL21Selector().fit(X[::2], y[::2]).at(3, per_class=True).support_per_class_
    >>> labels = predict_per_class(X[::2], y[::2], X[1::2], own)
    >>> bool(np.mean(labels == y[1::2]) > 0.9)
    True
    """
    check_choice("vote", vote, VOTES)
    classes, codes = np.unique(y_train, return_inverse=True)
    supports = np.asarray(supports, dtype=bool)
    if supports.shape != (len(classes), X_train.shape[1]):
        raise ValueError(
            f"supports must have one row per class and one column per feature, "
            f"{(len(classes), X_train.shape[1])}, got {supports.shape}"
        )
    tally = _count_votes if vote == "majority" else _margins
    scores = tally(X_train, codes, X_test, supports, C)
    if not supports.any():  # nothing to go by: the largest class is the best guess
        scores = np.tile(np.bincount(codes), (num_samples(X_test), 1))
    return classes[scores.argmax(axis=1)]


def _count_votes(
    X_train: Any, codes: np.ndarray, X_test: Any, supports: np.ndarray, C: float
) -> np.ndarray:
    votes = np.zeros((num_samples(X_test), len(supports)))
    samples = np.arange(len(votes))
    # Classes with the same features have the same SVM: fit it once, count it as often.
    distinct, weights = np.unique(supports[supports.any(axis=1)], axis=0, return_counts=True)
    for support, weight in zip(distinct, weights, strict=True):
        machine = linear_svm(C).fit(X_train[:, support], codes)
        votes[samples, machine.predict(X_test[:, support])] += weight
    return votes


def _margins(
    X_train: Any, codes: np.ndarray, X_test: Any, supports: np.ndarray, C: float
) -> np.ndarray:
    margins = np.full((num_samples(X_test), len(supports)), -np.inf)
    for k in np.flatnonzero(supports.any(axis=1)):
        machine = linear_svm(C).fit(X_train[:, supports[k]], codes == k)
        margins[:, k] = machine.decision_function(X_test[:, supports[k]])
    return margins
