"""Scores over the number of features: one selection, every k, every classifier."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import _num_samples

from .._checks import check_finite, check_integer, listed
from ..selectors.base import BaseSelector
from ..selectors.target import already_told, with_task
from .metrics import METRICS, classification_scores, recovery_of, redundancy_rate
from .resources import measure

# Built anew for every use, so that nothing learnt is carried from one fit to another.
CLASSIFIERS = {
    "1nn": lambda: KNeighborsClassifier(1),
    "5nn": lambda: KNeighborsClassifier(5),
    "svm": lambda: SVC(kernel="linear", C=1.0),
    "softmax": lambda: LogisticRegression(C=1.0, max_iter=1000),
}
OWN = "own"  # instead of numbers of features: what the model itself keeps


@dataclass(frozen=True)
class Curve:
    """Scores of one selection at every number of features.

    Attributes
    ----------
    scores : list of dict
        One for every number of features and classifier: ``k`` (None for the model's own number),
        ``n_selected``, ``classifier`` and the metrics.
    selections : list of dict
        One for every number of features: ``k``, ``n_selected``, ``redundancy_signed`` and
        ``redundancy_absolute`` on the training part, and where the relevant features are known
        ``precision`` and ``recall``.
    features : list of int
        Columns of the largest selection, best first where the selector ranks them.
    seconds, peak_mib, memory_source
        What the fit of the selector took, see :func:`measure`.
    warnings : list of str
        What the selector warned of.
    """

    scores: list[dict]
    selections: list[dict]
    features: list[int]
    seconds: float
    peak_mib: float
    memory_source: str
    warnings: list[str] = field(default_factory=list)

    def mean(self, metric: str = "accuracy") -> float:
        """Mean of a metric over all numbers of features and classifiers."""
        return float(np.mean([row[metric] for row in self.scores]))


def accuracy_curve(
    selector: BaseSelector,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    ks: Sequence[int] | str = OWN,
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
    metrics: Sequence[str] = ("accuracy", "mcc", "f1"),
    zscore: bool = True,
    relevant: Any = None,
) -> Curve:
    """Select on the training part once, then score every number of features on the test part.

    The test part is seen by nothing but the scores: selector, scaling and classifiers learn from
    the training part alone.

    Parameters
    ----------
    selector : BaseSelector
        It is copied, not changed.
    X_train, y_train, X_test, y_test : arrays
        Class labels as y.
    ks : sequence of int or "own", default="own"
        Numbers of features; those beyond the number of columns, or beyond what the selector
        ranks with its parameters, are left out. "own" scores what the model itself keeps.
    classifiers : sequence of {"1nn", "5nn", "svm", "softmax"}
        Nearest neighbours, linear SVM with C=1, softmax regression with C=1.
    metrics : sequence of {"accuracy", "balanced_accuracy", "mcc", "f1"}
    zscore : bool, default=True
        Centre and scale all columns by the training part first; sparse data are only scaled.
    relevant : array of int, default=None
        The truly relevant features, where they are known.

    Returns
    -------
    curve : Curve

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
    check_asked(ks, classifiers, metrics)
    if zscore:
        scaler = StandardScaler(with_mean=not hasattr(X_train, "tocsr")).fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    counts = _counts(ks, X_train.shape[1])
    selector = selector if counts == [None] else selector.reaching(max(counts))
    # Which numbers are classes was decided by whoever asks for accuracies, not by this part of y.
    selector = with_task(selector, "classification")
    with warnings.catch_warnings(record=True) as caught, already_told():
        warnings.simplefilter("always")
        fit = measure(lambda: selector.fit(X_train, y_train))
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
    for k in counts:
        before = support
        support = fitted.get_support() if k is None else fitted.at(k).get_support()
        place = {"k": k, "n_selected": int(support.sum())}
        if not np.array_equal(support, before):  # AllFeatures is the same at every k
            train, test = X_train[:, support], X_test[:, support]
            facts = _facts(train, support, relevant)
            # Checked here once: scikit-learn need not do so for every classifier.
            check_finite(train)
            check_finite(test)
            with config_context(assume_finite=True, skip_parameter_validation=True):
                predicted = {name: _predicted(name, train, y_train, test) for name in classifiers}
            found = {
                name: classification_scores(y_test, labels, metrics)
                for name, labels in predicted.items()
            }
        selections.append({**place, **facts})
        scores.extend({**place, "classifier": name, **found[name]} for name in classifiers)
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
        warnings=list(dict.fromkeys(" ".join(str(w.message).split()) for w in caught)),
    )


def check_asked(ks, classifiers: Sequence[str], metrics: Sequence[str]) -> None:
    """Refuse unknown classifiers and metrics, and numbers of features that are none."""
    for kind, names, known in (
        ("classifiers", classifiers, CLASSIFIERS),
        ("metrics", metrics, METRICS),
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


def _predicted(name: str, train, labels, test) -> np.ndarray:
    if train.shape[1] == 0:  # a model may keep nothing: then the largest class is the best guess
        values, sizes = np.unique(labels, return_counts=True)
        return np.full(_num_samples(test), values[np.argmax(sizes)])
    classifier = CLASSIFIERS[name]()
    if name == "5nn" and _num_samples(train) < 5:
        classifier.set_params(n_neighbors=_num_samples(train))
    return classifier.fit(train, labels).predict(test)
