"""One method on one split: select on the training part, score every k on the rest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._checks import sentences_of
from ..choose.guess import mean_votes
from ..evaluation.curves import CLASSIFIERS
from ..evaluation.metrics import classification_scores
from ..frames.prepare import fitted_on
from ..selectors.target import with_task

REGRESSORS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: Ridge(alpha=1.0),
    "5nn": lambda: KNeighborsRegressor(5),
}
MODELS = {"classification": CLASSIFIERS, "regression": REGRESSORS}
DEFAULT_MODEL = {"classification": "svm", "regression": "ridge"}
METRICS = {"classification": ("accuracy", "balanced_accuracy"), "regression": ("r2",)}


@dataclass(frozen=True)
class Fit:
    """What one fit gave.

    Attributes
    ----------
    order : ndarray of int
        The best features, best first, as far as they are ranked.
    scores : dict of str to list of float
        Of every metric at every k as far as ``order`` goes.
    seconds : float
        Of the selection.
    ranking : ndarray or None
        Of all features, where it was fitted on all samples.
    votes : ndarray or None
        Predictions of the held-out samples on average over all k: shares of votes for the classes
        in sorted order, or numbers.
    warnings : list of str
    """

    order: np.ndarray
    scores: dict[str, list[float]]
    seconds: float
    ranking: np.ndarray | None = None
    votes: np.ndarray | None = None
    warnings: list[str] = field(default_factory=list)


def selection_fit(
    selector: Any,
    X: Any,
    y: np.ndarray,
    train: Any,
    test: Any,
    ks: list[int],
    task: str,
    model: str,
    prepare: Any = None,
) -> Fit:
    """Fit on the training samples, as given, and score on the others; without others rank only.

    The selector sees what ``sparsieve.select`` would show it; the model sees the chosen columns,
    scaled by the training samples. Both see X as ``prepare`` makes it, fitted on these as well.
    """
    X = fitted_on(prepare, X, train)[1]
    selector = with_task(selector.reaching(ks[-1]), task if y.ndim == 1 else "auto")
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    order = np.argsort(selector.ranking_)[: min(ks[-1], selector.n_ranked_)]
    scores: dict[str, list[float]] = {name: [] for name in METRICS[task]}
    votes = None
    if test is not None:
        predicted = [
            model_predictions(X[:, order[:k]], y, train, test, task, model)
            for k in ks
            if k <= len(order)
        ]
        for one in predicted:
            for name, value in _scores(y[test], one, task).items():
                scores[name].append(value)
        if predicted:
            votes = mean_votes(predicted, np.unique(y) if task == "classification" else None)
    return Fit(
        order,
        scores,
        seconds,
        selector.ranking_ if test is None else None,
        votes,
        sentences_of(caught),
    )


def model_scores(
    X: Any, y: np.ndarray, train: Any, test: Any, task: str, model: str
) -> dict[str, float]:
    """Scores of a model on these columns, standardised by the training samples."""
    return _scores(y[test], model_predictions(X, y, train, test, task, model), task)


def model_predictions(
    X: Any, y: np.ndarray, train: Any, test: Any, task: str, model: str
) -> np.ndarray:
    """What a model on these columns says of the test samples."""
    is_sparse = hasattr(X, "tocsr")
    fitted = make_pipeline(StandardScaler(with_mean=not is_sparse), _made(task, model, len(train)))
    return fitted.fit(X[train], y[train]).predict(X[test])


def guess_scores(y: np.ndarray, train: Any, test: Any, task: str) -> dict[str, float]:
    """Scores of who knows y of the training samples but looks at no feature."""
    if task == "regression":
        mean = y[train].mean(axis=0)
        return _scores(y[test], np.broadcast_to(mean, y[test].shape), task)
    labels, sizes = np.unique(y[train], return_counts=True)
    return _scores(y[test], np.full(len(test), labels[np.argmax(sizes)], dtype=y.dtype), task)


def _scores(truth: np.ndarray, predicted: np.ndarray, task: str) -> dict[str, float]:
    if task == "regression":
        return {"r2": float(r2_score(truth, predicted))}
    return classification_scores(truth, predicted, METRICS[task])


def _made(task: str, model: str, n_train: int) -> Any:
    made = MODELS[task][model]()
    if model == "5nn" and n_train < 5:
        made.set_params(n_neighbors=n_train)
    return made
