"""The one engine that says how good the features at k are.

A selector is fitted on the training part of a fold. At every number k the features are those of
``at(k)``, which is what a user gets who asks for k of them. Models are fitted to these columns of
the training part and scored on the test part. Whatever scores selections calls :func:`score_fold`,
or :func:`score_columns` where the columns are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.preprocessing import StandardScaler

from .._sklearn import check_method_params
from ..design import DesignMatrix
from ..selectors.origins import call_with_views, check_in_place
from ..validation.columns import is_tensor, take_rows
from ..validation.containers import check_finite
from .likelihood_models import LikelihoodRidge
from .metrics import classification_scores, losses_by_strength, regression_scores
from .models import KINDS, MODELS, area, class_votes
from .outcomes import Selection, fit_selection
from .scorers import UNDEFINED, Score
from .survival import survival_scores

ALL_FEATURES = "all features"  # instead of a number: the model without any selection


@dataclass(frozen=True)
class FoldScores:
    """What models give on the test part of a fold, and the selection behind them.

    Keys are (name of the model, k).

    Attributes
    ----------
    scores : dict of tuple to dict of str to float
        By metric, as a reader wants them: errors are positive.
    failures : dict of str to str
        Why a metric is NaN somewhere, the first reason of each.
    predictions : dict of tuple to ndarray
        Of the test samples; none where they were not asked for.
    decisions : dict of tuple to ndarray
        Values of ``decision_function``, where they were asked for and the model has them.
    votes : dict of str to ndarray of shape (n_test, n_classes)
        By model, with the predictions: for every class of the training part the mean over the
        numbers of features of :func:`~sparsieve.scoring.models.class_votes`.
    losses : dict of tuple to ndarray
        Log loss of votes by strength, where it was asked for, see
        :func:`~sparsieve.scoring.metrics.losses_by_strength`.
    classes : ndarray or None
        The classes of the training part; None for other targets.
    selection : Selection
        Without the fitted selector, which may be large; empty where the columns were given.
    model_seconds : float
        Of all models.
    """

    scores: dict[tuple[str, Any], dict[str, float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    predictions: dict[tuple[str, Any], np.ndarray] = field(default_factory=dict)
    decisions: dict[tuple[str, Any], np.ndarray] = field(default_factory=dict)
    votes: dict[str, np.ndarray] = field(default_factory=dict)
    losses: dict[tuple[str, Any], np.ndarray] = field(default_factory=dict)
    classes: np.ndarray | None = None
    selection: Selection = field(default_factory=lambda: Selection(None, {}, 0.0))
    model_seconds: float = 0.0

    @property
    def columns(self) -> dict[Any, np.ndarray]:
        """The features at every number that was scored, best first."""
        return self.selection.columns

    def curve(self, model: str, metric: str) -> np.ndarray:
        """A score of a model at every number of features."""
        return np.array([self.scores[model, k][metric] for k in self.columns])


def score_fold(
    selector: Any,
    X: Any,
    y: np.ndarray,
    train: Any,
    test: Any,
    *,
    ks: Iterable[int | None],
    prepare: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    model_params: Mapping[str, Any] | None = None,
    score_params: Mapping[str, Any] | None = None,
    need_all: bool = False,
    record_warnings: bool = False,
    baseline: bool = False,
    **how: Any,
) -> FoldScores:
    """Select on the training samples once, and score every number of features on the others.

    Parameters
    ----------
    selector : estimator
        It is copied, not changed.
    X : array, sparse matrix or tensor of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    train, test : array of int
        The samples of the fold.
    ks : list of int, or [None]
        Numbers of features in rising order; [None] is what the model itself keeps.
    prepare : transformer, default=None
        Makes what everything else sees from X; fitted on the training samples of every fold.
    fit_params, model_params, score_params : dict, default=None
        Metadata of all samples for the selector, the models and the scorers.
    need_all, record_warnings : bool, default=False
        See :func:`~sparsieve.scoring.outcomes.fit_selection`.
    baseline : bool, default=False
        Score the models on all features too, under the number ``ALL_FEATURES``.
    **how : dict
        Of :func:`score_columns`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.scoring.engine import score_fold
    >>> X, y = load_wine(return_X_y=True)
    >>> even, odd = np.arange(0, 178, 2), np.arange(1, 178, 2)
    >>> found = score_fold(FisherSelector(), X, y, even, odd, ks=[1, 5], task="classification",
    ...                    models=["svm"], metrics=["accuracy"], standardize=True)
    >>> found.curve("svm", "accuracy").round(2)
    array([0.79, 0.96])
    """
    X = fit_preparation(prepare, X, train)[1]
    train, test = (np.arange(X.shape[0])[part] for part in (train, test))
    parts = take_rows(X, train), y[train], take_rows(X, test), y[test]
    found = fit_selection(
        *(selector, *parts[:2], ks),
        fit_params=check_method_params(y, fit_params or {}, indices=train),
        need_all=need_all,
        record_warnings=record_warnings,
    )
    start = perf_counter()
    columns: dict[Any, np.ndarray] = dict(found.columns)
    if baseline:
        columns[ALL_FEATURES] = np.arange(X.shape[1])
    scored = score_columns(
        *(*parts, columns),
        model_params=check_method_params(y, model_params or {}, indices=train),
        score_params=check_method_params(y, score_params or {}, indices=test),
        **how,
    )
    seconds = perf_counter() - start
    return replace(scored, selection=replace(found, fitted=None), model_seconds=seconds)


def score_features(
    X: Any,
    y: np.ndarray,
    train: Any,
    test: Any,
    columns: Mapping[Any, np.ndarray],
    *,
    prepare: Any = None,
    model_params: Mapping[str, Any] | None = None,
    score_params: Mapping[str, Any] | None = None,
    **how: Any,
) -> FoldScores:
    """Score features of a fold that are known already, as :func:`score_fold` does those it finds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.scoring.engine import score_features
    >>> X, y = load_wine(return_X_y=True)
    >>> even, odd = np.arange(0, 178, 2), np.arange(1, 178, 2)
    >>> found = score_features(X, y, even, odd, {2: np.array([6, 12])}, task="classification",
    ...                    models=["svm"], metrics=["accuracy"], standardize=True)
    >>> found.scores["svm", 2]
    {'accuracy': 0.910...}
    """
    X = fit_preparation(prepare, X, train)[1]
    train, test = (np.arange(X.shape[0])[part] for part in (train, test))
    if isinstance(X, np.ndarray):  # of which few columns are needed
        used = np.unique(np.concatenate([np.arange(0), *columns.values()])).astype(np.int64)
        X = read_columns(X, used, dense=False)
        columns = {k: np.searchsorted(used, some) for k, some in columns.items()}
    return score_columns(
        *(take_rows(X, train), y[train], take_rows(X, test), y[test], columns),
        model_params=check_method_params(y, model_params or {}, indices=train),
        score_params=check_method_params(y, score_params or {}, indices=test),
        **how,
    )


def score_columns(
    X_train: Any,
    y_train: np.ndarray,
    X_test: Any,
    y_test: np.ndarray,
    columns: Mapping[Any, np.ndarray],
    *,
    models: Sequence[str] | Mapping[str, Any],
    task: str = "classification",
    metrics: Sequence[str | Score] = (),
    predict: bool = True,
    standardize: bool = False,
    dense: bool = False,
    path: Callable[..., list[tuple[np.ndarray, np.ndarray | None]]] | None = None,
    model_params: Mapping[str, Any] | None = None,
    score_params: Mapping[str, Any] | None = None,
    decisions_at: Any = (),
    calibrate: bool = False,
) -> FoldScores:
    """Fit models to some columns of the training part and score them on the test part.

    Without any column the prediction is the most frequent class, or the mean.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : arrays
        The two parts.
    columns : dict of key to array of int
        The features by number, or by whatever names a set of them.
    models : list of str, or dict of str to estimator
        Names of :data:`~sparsieve.scoring.models.MODELS`, or estimators, which are copied.
    task : {"classification", "regression", "counts", "survival"}, default="classification"
        How y is read.
    metrics : list of str or Score, default=()
        Names of :mod:`sparsieve.scoring.metrics`, or scores of
        :func:`~sparsieve.scoring.scorers.resolve_scores`.
    predict : bool, default=True
        Keep the predictions. Without them all scores come from their scorers.
    standardize : bool, default=False
        Centre and scale the columns by the training part; sparse ones are only scaled.
    dense : bool, default=False
        Hand sparse columns to the models as arrays.
    path : callable, default=None
        ``path(X_train, y_train, X_test, counts, **model_params)`` predicts like the one model from
        the first ``counts`` columns: pairs of predictions and, for classes, votes. Used where every
        set of columns holds the one before, and all scores come from predictions or, as the area
        under the ROC curve of two classes, from votes.
    model_params, score_params : dict, default=None
        Arguments of the models' ``fit``, and of the scorers: ``sample_weight`` weighs our own
        scores too.
    decisions_at : list, default=()
        Keys for which the values of ``decision_function`` are kept.
    calibrate : bool, default=False
        Keep the log losses of votes for classes.
    """
    params, found = model_params or {}, FoldScores()
    weights = (score_params or {}).get("sample_weight")
    counted = [k for k in columns if k != ALL_FEATURES]
    if predict and task == "classification":
        classes, sizes = np.unique(y_train, return_counts=True)
        found = replace(found, classes=classes)
    names = [m if isinstance(m, str) else m.name for m in metrics]
    own = {name: m if isinstance(m, str) else m.own for name, m in zip(names, metrics, strict=True)}
    own = {name: metric for name, metric in own.items() if metric and predict}
    asked = [m for m in metrics if isinstance(m, Score) and m.name not in own]

    def keep(
        place: tuple[str, Any], prediction: Any, others: Mapping[str, float], votes: Any = None
    ) -> None:
        values = dict(others)
        if votes is not None and place[1] in counted:
            found.votes[place[0]] = found.votes.get(place[0], 0.0) + votes / len(counted)
            if calibrate:
                parts = votes, y_test, classes, sizes / sizes.sum(), weights
                found.losses[place] = losses_by_strength(*parts)
        if prediction is not None:
            prediction = found.predictions[place] = np.reshape(prediction, np.shape(y_test))
            measured = compute_metrics(
                task, y_test, prediction, list(own.values()), y_train, weights
            )
            values |= {name: measured[metric] for name, metric in own.items()}
        found.scores[place] = {name: values[name] for name in names}

    by_votes = all(score.is_area for score in asked) and not (asked and score_params)
    by_votes &= not asked or (found.classes is not None and len(found.classes) == 2)
    order = _order_of_entry(columns) if path is not None and by_votes else None
    if path is not None and order is not None:
        counts = [len(features) for features in columns.values()]
        train, test = read_columns(X_train, order, dense), read_columns(X_test, order, dense)
        guesses = path(train, y_train, test, counts, **params)
        for k, (guess, votes) in zip(columns, guesses, strict=True):
            others = {}
            for score in asked:
                others[score.name] = area(y_test == found.classes[1], votes[:, 1])  # type: ignore
                if not np.isfinite(others[score.name]):
                    found.failures.setdefault(score.name, UNDEFINED)
            keep((next(iter(models)), k), guess, others, votes)
        return found
    same: dict[tuple[int, ...], list[Any]] = {}  # without selection all numbers have the same
    for k, features in columns.items():
        same.setdefault(tuple(np.sort(features).tolist()), []).append(k)
    for some, keys in same.items():
        features = np.array(some, dtype=np.int64)  # in the order in which ``transform`` gives them
        train, test = read_columns(X_train, features, dense), read_columns(X_test, features, dense)
        if standardize and len(features):
            scaler = StandardScaler(with_mean=not hasattr(train, "tocsr")).fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
        with _checked_once(models, train, test):
            for name in models:
                model = _make_model(models, name, task, train.shape).fit(train, y_train, **params)
                prediction = model.predict(test) if predict else None
                others = _apply_scores(
                    asked, model, test, y_test, score_params or {}, found.failures
                )
                votes = None
                if found.classes is not None and set(keys) & set(counted):
                    votes = class_votes(model, train, y_train, test)
                for k in keys:
                    keep((name, k), prediction, others, votes)
                    if k in decisions_at and hasattr(model, "decision_function"):
                        found.decisions[name, k] = model.decision_function(test)
    return found


def compute_metrics(
    task: str,
    y_test: Any,
    prediction: Any,
    metrics: list[str],
    y_train: Any = None,
    sample_weight: Any = None,
) -> dict[str, float]:
    """Our own scores of predictions: labels, numbers or risks, as the task says.

    The concordance of survival times counts every sample once.
    """
    if task == "survival":
        return survival_scores(y_test, prediction, metrics, y_train)
    measure = (
        classification_scores if KINDS.get(task, "classes") == "classes" else regression_scores
    )
    if sample_weight is not None and not np.any(sample_weight):
        return dict.fromkeys(metrics, np.nan)  # nothing is left to measure by
    return measure(y_test, prediction, metrics, sample_weight)


def _apply_scores(
    scores: Sequence[Score], model: Any, X: Any, y: Any, params: Any, failures: dict[str, str]
) -> dict[str, float]:
    found = {}
    for score in scores:
        found[score.name], why = score.measured(model, X, y, **params)
        if why:
            failures.setdefault(score.name, why)
    return found


def fit_preparation(prepare: Any, X: Any, rows: Any) -> tuple[Any, Any]:
    """(a copy of the transformer fitted on these rows, all of X transformed by it).

    Without a transformer None and X.
    """
    if prepare is None:
        return None, X
    fitted = clone(prepare).fit(X[rows])
    made = call_with_views(fitted.transform, X)
    if made.shape != X.shape:
        raise ValueError(
            f"{type(prepare).__name__} makes {made.shape[1]} columns of {X.shape[1]}; it must keep "
            "the columns of X"
        )
    check_in_place(fitted, X)
    return fitted, made


def read_columns(X: Any, features: np.ndarray, dense: bool) -> Any:
    """Some columns as the models take them: on the host, and dense where that is asked for."""
    if isinstance(X, DesignMatrix):
        return np.ascontiguousarray(X.dense_columns(features))
    if is_tensor(X):
        return X[:, features].detach().cpu().numpy()
    if isinstance(X, np.ndarray):
        return np.take(X, features, axis=1)  # rows stay together: faster than X[:, features]
    part = X[:, features]
    return part.toarray() if dense and hasattr(part, "toarray") else part


def _order_of_entry(columns: Mapping[Any, np.ndarray]) -> np.ndarray | None:
    """The features such that every set consists of the first of them; None if no order does."""
    order = np.zeros(0, dtype=np.int64)
    for features in columns.values():
        if not np.isin(order, features).all():
            return None
        order = np.append(order, features[~np.isin(features, order)])
    return order


def _make_model(models: Any, name: str, task: str, shape: tuple[int, int]) -> Any:
    if shape[1] == 0 and task in ("counts", "survival"):
        return LikelihoodRidge(task)
    if shape[1] == 0:
        dummy = DummyRegressor if task == "regression" else DummyClassifier
        return dummy(strategy="mean" if task == "regression" else "prior")
    if isinstance(models, Mapping):
        return clone(models[name])
    return MODELS[task][name](shape[0])


def _checked_once(models: Any, train: Any, test: Any) -> Any:
    """Our own models need not check their columns again at every fit."""
    if isinstance(models, Mapping):
        return nullcontext()
    check_finite(train)
    check_finite(test)
    return config_context(assume_finite=True, skip_parameter_validation=True)
