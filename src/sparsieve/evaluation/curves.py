"""Scores over the number of features: one selection, every k, every model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from .._checks import check_choice, check_finite, check_integer, listed, sentences_of
from ..choose import SelectorCV
from ..selectors.base import BaseSelector
from ..selectors.target import with_task
from .metrics import (
    ALL_METRICS,
    METRICS,
    REGRESSION_METRICS,
    classification_scores,
    recovery_of,
    redundancy_rate,
    regression_scores,
)
from .models import CLASSIFIERS, DEFAULT_METRICS, MODELS, TASKS, predicted
from .resources import measure

__all__ = ["CLASSIFIERS", "OWN", "Curve", "accuracy_curve", "check_asked"]

OWN = "own"  # instead of numbers of features: what the model itself keeps


@dataclass(frozen=True)
class Curve:
    """Scores of one selection at every number of features.

    Attributes
    ----------
    scores : list of dict
        One for every number of features and model: ``k`` (None for the model's own number),
        ``n_selected``, ``classifier`` (or regressor) and the metrics.
    selections : list of dict
        One for every number of features: ``k``, ``n_selected``, ``redundancy_signed`` and
        ``redundancy_absolute`` on the training part, and where the relevant features are known
        ``precision`` and ``recall``.
    features : list of int
        Columns of the largest selection, best first where the selector ranks them; those of the
        preprocessed data where there was a preprocessor.
    seconds, peak_mib, memory_source
        What the fit of the selector took, see :func:`measure`.
    warnings : list of str
        What the selector warned of.
    n_columns : int
        Columns that the selector saw.
    feature_names : list of str
        Of ``features``, as the preprocessor names its output; empty without one.

    See Also
    --------
    sparsieve.evaluation.accuracy_curve : Scores at every number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.evaluation import accuracy_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = accuracy_curve(FisherSelector(), X[::2], y[::2], X[1::2], y[1::2], ks=[2])
    >>> len(curve.features), curve.n_columns
    (2, 13)
    """

    scores: list[dict]
    selections: list[dict]
    features: list[int]
    seconds: float
    peak_mib: float
    memory_source: str
    warnings: list[str] = field(default_factory=list)
    n_columns: int = 0
    feature_names: list[str] = field(default_factory=list)

    def mean(self, metric: str = "accuracy") -> float:
        """Mean of a metric over all numbers of features and models."""
        return float(np.mean([row[metric] for row in self.scores]))


def accuracy_curve(
    selector: BaseSelector,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    ks: Sequence[int] | str = OWN,
    task: str = "classification",
    classifiers: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    zscore: bool = True,
    preprocessor: Any = None,
    groups: Any = None,
    relevant: Any = None,
) -> Curve:
    """Select on the training part once, then score every number of features on the test part.

    The test part is seen by nothing but the scores: preprocessor, scaling, selector and models
    learn from the training part alone.

    Parameters
    ----------
    selector : BaseSelector
        It is copied, not changed.
    X_train, y_train, X_test, y_test : arrays
        Class labels as y, or numbers (also in several columns) for regression.
    ks : sequence of int or "own", default="own"
        Numbers of features; those beyond the number of columns, or beyond what the selector
        ranks with its parameters, are left out. "own" scores what the model itself keeps.
    task : {"classification", "regression"}, default="classification"
        How y is read.
    classifiers : sequence of str, default=None
        The models, all of the task if not given. For classes "1nn", "5nn" (nearest neighbours),
        "svm" (linear, C=1) and "softmax" (C=1); for numbers "ridge" (strength 1), "5nn" and
        "svr" (linear, C=1, on the standardised target).
    metrics : sequence of str, default=None
        "accuracy", "balanced_accuracy", "mcc" and "f1" for classes, all but the second if not
        given; "r2", "mae" and "spearman" for numbers, see :func:`regression_scores`.
    zscore : bool, default=True
        Centre and scale all columns by the training part first; sparse data are only scaled.
    preprocessor : transformer, default=None
        Comes before scaling and selection, such as an imputer; it is copied. The columns that it
        makes are what is selected from.
    groups : array, default=None
        Of the training samples, for selectors that split them again.
    relevant : array of int, default=None
        The truly relevant features, where they are known; recovery is not scored behind a
        preprocessor, whose columns are others.

    Returns
    -------
    curve : Curve
        Scores of every number of features and model.

    See Also
    --------
    sparsieve.evaluation.Curve : What is returned.
    sparsieve.compare : Several methods on the same folds.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.evaluation import accuracy_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    >>> curve = accuracy_curve(FisherSelector(), X, y, X_test, y_test, ks=[1, 5],
    ...                        classifiers=["svm"])
    >>> [(row["k"], round(row["accuracy"], 2)) for row in curve.scores]
    [(1, 0.64), (5, 0.96)]
    """
    check_choice("task", task, TASKS)
    models = list(MODELS[task]) if classifiers is None else list(classifiers)
    metrics = DEFAULT_METRICS[task] if metrics is None else metrics
    check_asked(ks, models, metrics, task=task)
    y_train, y_test = np.asarray(y_train), np.asarray(y_test)
    made_names = None
    if preprocessor is not None:
        preprocessor = clone(preprocessor)
        X_train = preprocessor.fit_transform(X_train, y_train)
        X_test = preprocessor.transform(X_test)
        made_names, relevant = preprocessor.get_feature_names_out(), None
    if zscore:
        scaler = StandardScaler(with_mean=not hasattr(X_train, "tocsr")).fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    counts = _counts(ks, X_train.shape[1])
    selector = selector if counts == [None] else selector.reaching(max(counts))
    # Which numbers are classes was decided by whoever saw the whole of y, not by this part of it.
    selector = with_task(selector, task)
    extra = {} if groups is None else groups_for(selector, groups)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = measure(lambda: selector.fit(X_train, y_train, **extra))
    fitted = fit.value
    counts = [k for k in counts if k is None or k <= fitted.n_ranked_]
    if not counts:
        raise ValueError(
            f"every k of ks is larger than the {fitted.n_ranked_} features that "
            f"{type(fitted).__name__} ranks with its parameters; ask for fewer features"
        )
    scores: list[dict] = []
    selections: list[dict] = []
    support = np.zeros(0, dtype=bool)
    score = classification_scores if task == "classification" else regression_scores
    for k in counts:
        before = support
        support = fitted.get_support() if k is None else fitted.at(k).get_support()
        place = {"k": k, "n_selected": int(support.sum())}
        if not np.array_equal(support, before):  # AllFeatures is the same at every k
            train, test = X_train[:, support], X_test[:, support]
            facts = _facts(train, support, relevant)
            # Checked here once: scikit-learn need not do so for every model.
            check_finite(train)
            check_finite(test)
            with config_context(assume_finite=True, skip_parameter_validation=True):
                guesses = {name: predicted(task, name, train, y_train, test) for name in models}
            found = {name: score(y_test, guess, metrics) for name, guess in guesses.items()}
        selections.append({**place, **facts})
        scores.extend({**place, "classifier": name, **found[name]} for name in models)
    chosen = np.flatnonzero(support)
    ranking = getattr(fitted, "ranking_", None)
    if ranking is not None:
        chosen = chosen[np.argsort(ranking[chosen], kind="stable")]
    return Curve(
        scores=scores,
        selections=selections,
        features=chosen.tolist(),
        seconds=fit.seconds,
        peak_mib=fit.peak_mib,
        memory_source=fit.memory_source,
        warnings=sentences_of(caught),
        n_columns=X_train.shape[1],
        feature_names=[] if made_names is None else [str(made_names[j]) for j in chosen],
    )


def check_asked(
    ks: Sequence[int] | str,
    models: Sequence[str],
    metrics: Sequence[str],
    *,
    task: str | None = "classification",
) -> None:
    """Refuse unknown models and metrics, and numbers of features that are none.

    Without a task the metrics may be of any.
    """
    suited = list(ALL_METRICS)
    if task is not None:
        suited = list(METRICS if task == "classification" else REGRESSION_METRICS)
    for kind, names, known in (
        (
            "regressors" if task == "regression" else "classifiers",
            models,
            list(MODELS[task or TASKS[0]]),
        ),
        ("metrics", metrics, suited),
    ):
        unknown = [name for name in names if name not in known]
        if unknown or isinstance(names, str) or not len(names):
            raise ValueError(
                f"{kind} must be a list out of {', '.join(known)}; "
                + (f"unknown: {listed(unknown)}" if unknown else f"got {names!r}")
            )
    if isinstance(ks, str):
        if ks != OWN:
            raise ValueError(f'ks must be a list of numbers of features or "{OWN}", got {ks!r}')
        return
    if not len(ks):
        raise ValueError("ks is empty; name at least one number of features")
    for k in ks:
        check_integer("every k of ks", k)


def _counts(ks, n_features: int) -> list:
    if isinstance(ks, str):
        return [None]
    counts = sorted({int(k) for k in ks if k <= n_features})
    if not counts:
        raise ValueError(
            f"every k of ks is larger than the {n_features} features; ask for fewer features"
        )
    return counts


def _facts(train, support, relevant) -> dict:
    redundancy = redundancy_rate(train)
    facts = {
        "redundancy_signed": redundancy.signed,
        "redundancy_absolute": redundancy.absolute,
    }
    if relevant is not None:
        facts.update(recovery_of(support, relevant)._asdict())
    return facts


def groups_for(selector: Any, groups: Any) -> dict[str, Any]:
    """Arguments of ``fit`` that hand the groups over, where a selector splits the samples."""
    takes = isinstance(selector, SelectorCV) or has_fit_parameter(selector, "groups")
    return {"groups": groups} if takes else {}
