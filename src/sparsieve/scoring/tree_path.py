"""Boosted trees on the features that are kept, and quick ones at every number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline, make_pipeline

from ..selectors.trees.boosting import Boosting, Squares, code_columns
from ..solvers.losses.multinomial import Multinomial
from ..solvers.losses.separable import Logistic, Poisson

# Samples below which leaves may be smaller than scikit-learn's 20.
SMALL = 1000
QUICK = Boosting(n_trees=25, n_leaves=8, rate=0.2, price=0.0)


def trees_estimator(task: str, n_samples: int, *, balanced: bool = False) -> Pipeline:
    """Boosted trees of scikit-learn for classes, numbers or counts.

    ``balanced`` gives every class the same weight.
    """
    how: dict[str, Any] = {
        "max_leaf_nodes": 15,
        "min_samples_leaf": 20 if n_samples >= SMALL else max(3, n_samples // 50),
        "l2_regularization": 1.0,
        "early_stopping": False,
        "random_state": 0,
    }
    if task == "classification":
        weights = "balanced" if balanced else None
        return make_pipeline(HistGradientBoostingClassifier(class_weight=weights, **how))
    loss = "poisson" if task == "counts" else "squared_error"
    return make_pipeline(HistGradientBoostingRegressor(loss=loss, **how))


def tree_path(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    counts: Sequence[int],
    *,
    task: str,
    **weights: Any,
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Predictions of quick boosted trees from the first k columns, for every k of ``counts``.

    The columns are coded once. The test samples take part without weight, so that every tree says
    which leaves they are in. With the label go the probabilities of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.tree_path import tree_path
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> found = tree_path(X[::2], y[::2], X[1::2], [1, 2], task="classification")
    >>> [bool(np.mean(labels == y[1::2]) > 0.8) for labels, _ in found]
    [False, True]
    """
    n_train, n_test = len(X_train), len(X_test)
    given = next(iter(weights.values()), None)
    w = np.zeros(n_train + n_test)
    w[:n_train] = 1.0 if given is None else np.asarray(given, dtype=np.float64)
    table = code_columns(np.vstack([X_train, X_test]).astype(np.float64, copy=False))
    places = np.append(np.arange(n_train), np.zeros(n_test, dtype=np.intp))
    classes, codes = np.unique(y_train, return_inverse=True)
    predictions: list[tuple[np.ndarray, np.ndarray | None]] = []
    for k in counts:
        loss: Any
        if task == "classification":
            loss = Multinomial(codes[places], len(classes), w)
            if len(classes) == 2:
                loss = Logistic(codes[places], w)
        elif task == "counts":
            loss = Poisson(np.asarray(y_train, dtype=np.float64)[places], w)
        else:
            loss = Squares(np.reshape(y_train, (n_train, -1))[places], w)
        some = table.columns(np.arange(k))
        F = QUICK.fit(some, loss, np.random.default_rng(0))[1][n_train:]
        if task == "classification":
            votes = softmax(F, axis=1)
            if len(classes) == 2:
                votes = np.column_stack([expit(-F[:, 0]), expit(F[:, 0])])
            predictions.append((classes[votes.argmax(axis=1)], votes))
            continue
        values = np.exp(F[:, 0]) if task == "counts" else loss.in_units(F)
        predictions.append((np.reshape(values, (-1, *np.shape(y_train)[1:])), None))
    return predictions
