"""Scores over the number of features: one selection, every k, every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from .._checks import check_choice, check_integer, format_names
from ..selectors.around import group_arguments
from ..selectors.base import BaseSelector
from ..validation.target import with_task
from .engine import score_columns
from .feature_sets import mask_recovery, redundancy_rate
from .models import MODELS, TASKS
from .outcomes import fit_selection
from .scorers import able_models, check_models, resolve_scores

OWN = "own"  # instead of numbers of features: what the model itself keeps


@dataclass(frozen=True)
class Curve:
    """Scores of one selection at every number of features.

    Attributes
    ----------
    scores : list of dict
        One for every number of features and model: ``k`` (None for the model's own number),
        ``n_selected``, ``classifier`` (or regressor) and the scores, errors positive ("log_loss"
        is scikit-learn's "neg_log_loss"); NaN where a score is not defined.
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
        What the selector warned of, and scores that are not defined.
    n_columns : int
        Columns that the selector saw.
    feature_names : list of str
        Of ``features``, as the preprocessor names its output; empty without one.

    See Also
    --------
    sparsieve.scoring.accuracy_curve : Scores at every number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.scoring import accuracy_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = accuracy_curve(FisherSelector(), X[::2], y[::2], X[1::2], y[1::2], ks=[2])
    >>> len(curve.features), curve.n_columns
    (2, 13)
    """

    scores: list[dict[str, Any]]
    selections: list[dict[str, Any]]
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
    scoring: Any = None,
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
        The models; if not given, all of the task that the scores can be computed for. For
        classes "1nn", "5nn" (nearest neighbours), "svm" (linear, C=1) and "softmax" (C=1); for
        numbers "ridge" (strength 1), "5nn" and "svr" (linear, C=1, on the standardised target).
    scoring : str, callable, list or dict, default=None
        One score or several: the names of :func:`classification_scores` and
        :func:`regression_scores`, those of scikit-learn, such as "roc_auc" or "neg_log_loss", or
        callables ``scorer(estimator, X, y)``. "f1" is the mean over the classes. If not given,
        "accuracy", "mcc" and "f1" for classes, "r2", "mae" and "spearman" for numbers.
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
    sparsieve.scoring.curves.Curve : What is returned.
    sparsieve.compare : Several methods on the same folds.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.scoring import accuracy_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    >>> curve = accuracy_curve(FisherSelector(), X, y, X_test, y_test, ks=[1, 5],
    ...                        classifiers=["svm"])
    >>> [(row["k"], round(row["accuracy"], 2)) for row in curve.scores]
    [(1, 0.64), (5, 0.96)]
    """
    check_choice("task", task, TASKS)
    scores = resolve_scores(scoring, task, short_names=True)
    models = able_models(scores, task) if classifiers is None else list(classifiers)
    check_request(ks, models, task=task)
    check_models(scores, task, models)
    y_train, y_test = np.asarray(y_train), np.asarray(y_test)
    for score in scores.values():
        score.check_target(y_train, task)
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
    # Which numbers are classes was decided by whoever saw the whole of y, not by this part of it.
    selector = with_task(selector, task)
    found = fit_selection(
        *(selector, X_train, y_train, counts),
        fit_params=group_arguments(selector, groups),
        measured=True,
        record_warnings=True,
    )
    parts = X_train, y_train, X_test, y_test
    metrics = list(scores.values())
    scored = score_columns(*parts, found.columns, models=models, task=task, metrics=metrics)
    failed = [
        f"{scores[name].asked} could not be computed on the test samples: {why}"
        for name, why in scored.failures.items()
    ]
    rows: list[dict] = []
    facts: dict[str, float] = {}
    features = np.zeros(0, dtype=np.int64)
    for k, now in found.columns.items():
        if not facts or not np.array_equal(now, features):  # without selection always the same
            facts = _facts(X_train, now, relevant)
        features = now
        rows.append({"k": k, "n_selected": len(features), **facts})
    return Curve(
        scores=[
            {
                "k": row["k"],
                "n_selected": row["n_selected"],
                "classifier": name,
                **scored.scores[name, row["k"]],
            }
            for row in rows
            for name in models
        ],
        selections=rows,
        features=features.tolist(),
        seconds=found.seconds,
        peak_mib=found.peak_mib,
        memory_source=found.memory_source,
        warnings=[*found.warnings, *failed],
        n_columns=X_train.shape[1],
        feature_names=[] if made_names is None else [str(made_names[j]) for j in features],
    )


def check_request(
    ks: Sequence[int] | str,
    models: Sequence[str],
    *,
    task: str = "classification",
) -> None:
    """Refuse unknown models, and numbers of features that are none."""
    kind = "regressors" if task == "regression" else "classifiers"
    known = list(MODELS[task])
    unknown = [name for name in models if name not in known]
    if unknown or isinstance(models, str) or not len(models):
        raise ValueError(
            f"{kind} must be a list out of {', '.join(known)}; "
            + (f"unknown: {format_names(unknown)}" if unknown else f"got {models!r}")
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


def _facts(X_train: Any, features: np.ndarray, relevant: Any) -> dict[str, float]:
    redundancy = redundancy_rate(X_train[:, np.sort(features)])
    facts = {
        "redundancy_signed": redundancy.signed,
        "redundancy_absolute": redundancy.absolute,
    }
    if relevant is not None:
        support = np.isin(np.arange(X_train.shape[1]), features)
        facts.update(mask_recovery(support, relevant)._asdict())
    return facts
