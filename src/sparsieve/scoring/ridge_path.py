"""The default model of a search for the number of features, at every number in one go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ..validation.target import Target
from .folds import Fold
from .likelihood_models import LikelihoodRidge
from .models import DEFAULT_METRICS, TASKS
from .scorers import Score

# Ridge parameter per sample: standardised columns then shrink by about a tenth.
RIDGE = 0.1


def default_estimator(
    task: str, n_samples: int, *, probabilities: bool = False, balanced: bool = False
) -> Pipeline:
    """Standardised ridge regression, the classifier made from it, or a Cox or Poisson model.

    The classifier has no probabilities; softmax regression stands in where these are needed.
    ``balanced`` gives every class the same weight, for scores in which each counts the same.
    """
    if task in ("counts", "survival"):
        return make_pipeline(StandardScaler(), LikelihoodRidge(task))
    if probabilities:
        return make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6, max_iter=1000))
    if task == "regression":
        return make_pipeline(StandardScaler(), Ridge(alpha=RIDGE * n_samples))
    how: dict[str, Any] = {"class_weight": "balanced"} if balanced else {}
    return make_pipeline(StandardScaler(), RidgeClassifier(alpha=RIDGE * n_samples, **how))


def default_scoring(
    estimator: Pipeline, target: Target, folds: Sequence[Fold], scores: Sequence[Score] = ()
) -> dict[str, Any]:
    """How the engine scores :func:`default_estimator`: by its predictions, at all numbers at once.

    ``scores`` are those that were asked for; without any it is the usual one of the task. Nothing
    where the scorer of the estimator is to be asked: it counts exact matches of label sets, and
    warns that one number has no R squared.
    """
    metrics: list[Any] = list(scores)
    if target.task in ("counts", "survival"):
        return {"metrics": metrics or [DEFAULT_METRICS[target.task][0]], "predict": True}
    is_classes, model = target.task == "classification", estimator[-1]
    is_own = target.task == "multilabel" or min(len(test) for _, test in folds) == 1
    if is_own and not metrics and not is_classes:
        return {}
    metrics = metrics or ["accuracy" if is_classes else "r2"]
    how: dict[str, Any] = {"metrics": metrics, "predict": target.task in TASKS}
    if isinstance(model, Ridge | RidgeClassifier) and target.task != "multilabel":
        balanced = getattr(model, "class_weight", None) is not None
        how["path"] = partial(
            ridge_path, alpha=model.alpha, is_classes=is_classes, balanced=balanced
        )
    return how


def ridge_path(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    counts: Sequence[int],
    *,
    alpha: float,
    is_classes: bool,
    balanced: bool = False,
    **weights: Any,
) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Predictions of :func:`default_estimator` from the first k columns, for every k of ``counts``.

    With G + alpha I = L L' over all columns, the factor over the first k columns is the leading
    block of L. So with U = L^-1 X'Y and V = L^-1 X_test', both computed once, the prediction
    from k columns is the sum of the first k products V_j' U_j: every further column adds one.
    ``weights`` holds the sample weights as the steps of the pipeline take them; ``balanced`` gives
    every class the same weight in the model, not in the scaling. With the label
    goes what the model says of every class, see :func:`~sparsieve.scoring.models.class_votes`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.scoring.ridge_path import ridge_path
    >>> X, y = load_wine(return_X_y=True)
    >>> found = ridge_path(X[::2], y[::2], X[1::2], [1, 13], alpha=9.0, is_classes=True)
    >>> [round(float(np.mean(labels == y[1::2])), 3) for labels, _ in found]
    [0.674, 0.989]
    """
    sample_weight = next(iter(weights.values()), None)
    scaler = StandardScaler().fit(X_train, sample_weight=sample_weight)
    Z, Z_test = scaler.transform(X_train), scaler.transform(X_test)
    labels, Y = None, np.reshape(y_train, (len(y_train), -1))
    if is_classes:
        labels, codes = np.unique(y_train, return_inverse=True)
        Y = np.eye(len(labels), dtype=Z.dtype)[codes]
    if balanced and is_classes:
        given = np.ones(len(Z)) if sample_weight is None else np.asarray(sample_weight)
        # As scikit-learn: classes are counted by their samples, and sample weights come on top.
        sample_weight = given * (len(Z) / (Y.shape[1] * np.bincount(codes)))[codes]
        middle = np.average(Z, axis=0, weights=sample_weight)
        Z, Z_test = Z - middle, Z_test - middle
    shares = Y.mean(axis=0)
    # Below the test samples stands the mean of the training part, which votes are compared with.
    Z_test = np.vstack([Z_test, Z.mean(axis=0)])
    mean = np.average(Y, axis=0, weights=sample_weight)
    Y = Y - mean
    if sample_weight is not None:
        root = np.sqrt(sample_weight)[:, None].astype(Z.dtype)
        Z, Y = root * Z, root * Y
    gram = Z.T @ Z
    gram[np.diag_indices_from(gram)] += alpha
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    both = solve_triangular(factor, np.hstack([Z.T @ Y, Z_test.T]), lower=True, check_finite=False)
    U, V = both[:, : Y.shape[1]], both[:, Y.shape[1] :]
    numbers, done = np.tile(mean, (len(Z_test), 1)), 0
    predictions: list[tuple[np.ndarray, np.ndarray | None]] = []
    for k in counts:
        numbers = numbers + V[done:k].T @ U[done:k]
        done, found = k, numbers[:-1]
        if labels is not None:
            predictions.append((labels[found.argmax(axis=1)], found - numbers[-1] + shares))
        else:
            predictions.append((np.reshape(found, (-1, *np.shape(y_train)[1:])), None))
    return predictions
