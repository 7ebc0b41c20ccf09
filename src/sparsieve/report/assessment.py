"""How good and how stable a selection is, found by repeating it on parts of the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._cross_validation import each_fold, make_folds, possible_folds
from ..evaluation import Stability, accuracy_curve, nogueira_stability
from ..evaluation.curves import CLASSIFIERS
from ..selectors.target import with_task

MODELS = {"svm": "linear SVM", "1nn": "nearest neighbour"}
REGRESSOR = "ridge regression"
# Support vector machines take time quadratic in the samples; so many say enough.
MOST_SAMPLES = 5000
_COUNTS = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200]


@dataclass(frozen=True)
class Assessment:
    """What cross-validation says; ``reason`` tells why there is none.

    Attributes
    ----------
    metric : str
        "accuracy" or "R squared".
    rows : list of dict
        model, k, mean, error (standard error over folds).
    baseline : dict of str to float
        Mean score of every model with all features.
    supports : ndarray of bool of shape (n_folds, n_features)
        What each fold selects at the number of features of the selection.
    n_folds, n_samples : int
        Folds, and samples that they were made of.
    confusion : ndarray of shape (n_classes, n_classes) or None
        Held-out samples by true and predicted class, of the linear SVM on as many features as
        the selection has.
    auc : float or None
        Area under the receiver operating characteristic of the same model, the mean over classes
        where there are more than two.
    """

    metric: str = "accuracy"
    rows: list[dict] = field(default_factory=list)
    baseline: dict[str, float] = field(default_factory=dict)
    supports: np.ndarray | None = None
    n_folds: int = 0
    n_samples: int = 0
    reason: str = ""
    confusion: np.ndarray | None = None
    auc: float | None = None

    @property
    def balanced(self) -> float | None:
        """Mean over the classes of the share of their samples that is found."""
        if self.confusion is None:
            return None
        return float(np.mean(np.diag(self.confusion) / self.confusion.sum(axis=1)))

    @property
    def stability(self) -> Stability | None:
        """Nogueira's index over the folds."""
        if self.supports is None:
            return None
        found = nogueira_stability(self.supports)
        return found if np.isfinite(found.value) else None

    def at(self, k: int) -> list[dict]:
        """The rows at one number of features."""
        return [row for row in self.rows if row["k"] == k]


def assess(
    selector: Any, X: Any, y: Any, *, n_kept: int, is_regression: bool, n_folds: int, seed: int
) -> Assessment:
    """Repeat the selection inside every fold and score it on the rest.

    Parameters
    ----------
    selector : estimator
        Its parameters are used; it is not changed.
    X, y : arrays
    n_kept : int
        Number of features of the selection.
    is_regression : bool
    n_folds : int
        At most; every class needs a sample in every fold.
    seed : int
        Of the folds.

    Returns
    -------
    assessment : Assessment
    """
    if len(y) > MOST_SAMPLES:
        some = np.sort(np.random.default_rng(seed).permutation(len(y))[:MOST_SAMPLES])
        X, y = X[some], y[some]
    if not hasattr(selector, "reaching"):
        kind = type(selector).__name__
        return Assessment(reason=f"{kind} cannot be asked for other numbers of features")
    folds = _folds(y, is_regression, n_folds, seed)
    if isinstance(folds, str):
        return Assessment(reason=folds)
    counts = _counts(n_kept, X.shape[1])
    task = "regression" if is_regression else "classification"
    selector = with_task(selector, task if np.ndim(y) == 1 else "auto")
    score = _regression_fold if is_regression else _classification_fold

    def work(train: np.ndarray, test: np.ndarray) -> tuple[list[dict], np.ndarray, list[_Guesses]]:
        parts = X[train], y[train], X[test], y[test]
        rows, support = score(selector, *parts, counts, n_kept)
        return rows, support, [] if is_regression else [_guesses(*parts, support)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = each_fold(work, folds)
        except ValueError as error:
            return Assessment(reason=f"a fold cannot be fitted: {error}")
    scores, supports = [rows for rows, _, _ in found], [support for _, support, _ in found]
    guesses = [guess for _, _, fold in found for guess in fold]
    return Assessment(
        metric="R squared" if is_regression else "accuracy",
        rows=_means([row for rows in scores for row in rows if row["k"] is not None]),
        baseline={
            row["model"]: row["mean"]
            for row in _means([r for rows in scores for r in rows if r["k"] is None])
        },
        supports=np.array(supports),
        n_folds=len(supports),
        n_samples=len(y),
        confusion=_confusion(guesses, np.unique(y)) if guesses else None,
        auc=_auc(guesses) if guesses else None,
    )


@dataclass(frozen=True)
class _Guesses:
    """Of the linear SVM on the held-out samples of a fold."""

    true: np.ndarray
    predicted: np.ndarray
    decision: np.ndarray
    classes: np.ndarray


def _guesses(X: Any, y: Any, X_test: Any, y_test: Any, support: np.ndarray) -> _Guesses:
    model = make_pipeline(_scaler(X), CLASSIFIERS["svm"]()).fit(X[:, support], y)
    held_out = X_test[:, support]
    return _Guesses(
        y_test, model.predict(held_out), model.decision_function(held_out), model.classes_
    )


def _confusion(guesses: list[_Guesses], classes: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    for fold in guesses:
        places = np.searchsorted(classes, fold.true), np.searchsorted(classes, fold.predicted)
        np.add.at(counts, places, 1)
    return counts


def _auc(guesses: list[_Guesses]) -> float | None:
    """Mean over folds and classes; decisions of different folds cannot be compared."""
    areas = []
    for fold in guesses:
        columns = fold.decision
        if columns.ndim == 1:
            columns, labels = columns[:, None], fold.classes[1:]
        else:
            labels = fold.classes
        for label, column in zip(labels, columns.T, strict=True):
            if 0 < (fold.true == label).sum() < len(fold.true):
                areas.append(roc_auc_score(fold.true == label, column))
    return float(np.mean(areas)) if areas else None


def _folds(y: Any, is_regression: bool, n_folds: int, seed: int) -> Any:
    if is_regression:
        if len(y) < 2 * n_folds:
            return f"{len(y)} samples are too few for {n_folds} folds"
        return make_folds(y, n_folds, seed=seed, stratified=False)
    n_folds = possible_folds(y, n_folds)
    if n_folds < 2:
        return "a class has a single sample, so no part of the data can be held out"
    return make_folds(y, n_folds, seed=seed)


def _counts(n_kept: int, n_features: int) -> list[int]:
    """Numbers of features to look at: up to twice the selection, and the selection itself."""
    most = min(n_features, max(2 * n_kept, 10))
    counts = {k for k in _COUNTS if k <= min(most, 200)}
    return sorted(counts | {min(n_kept, n_features)})


def _classification_fold(
    selector: Any, X: Any, y: Any, X_test: Any, y_test: Any, counts: list[int], n_kept: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    curve = accuracy_curve(
        selector, X, y, X_test, y_test, ks=counts, classifiers=list(MODELS), metrics=["accuracy"]
    )
    rows = [
        {"model": MODELS[row["classifier"]], "k": row["k"], "score": row["accuracy"]}
        for row in curve.scores
    ]
    for name, model in MODELS.items():
        every = make_pipeline(_scaler(X), CLASSIFIERS[name]()).fit(X, y)
        rows.append({"model": model, "k": None, "score": float(every.score(X_test, y_test))})
    support = np.zeros(X.shape[1], dtype=bool)
    support[curve.features[:n_kept]] = True
    return rows, support


def _regression_fold(
    selector: Any, X: Any, y: Any, X_test: Any, y_test: Any, counts: list[int], n_kept: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    fitted = clone(selector).set_params(n_features_to_select=max(counts)).fit(X, y)
    supports: dict[int | None, np.ndarray] = {k: fitted.at(k).get_support() for k in counts}
    supports[None] = np.ones(X.shape[1], dtype=bool)
    rows = []
    for k, support in supports.items():
        model = make_pipeline(_scaler(X), Ridge(alpha=1.0))
        model.fit(X[:, support], y)
        score = float(model.score(X_test[:, support], y_test))
        rows.append({"model": REGRESSOR, "k": k, "score": score})
    return rows, supports[n_kept]


def _scaler(X: Any) -> StandardScaler:
    return StandardScaler(with_mean=not hasattr(X, "tocsr"))  # a sparse X stays sparse


def _means(rows: list[dict]) -> list[dict]:
    groups: dict[tuple, list[float]] = {}
    for row in rows:
        groups.setdefault((row["model"], row["k"]), []).append(row["score"])
    means = []
    for (model, k), scores in groups.items():
        mean = float(np.mean(scores))
        error = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
        means.append({"model": model, "k": k, "mean": mean, "error": error})
    return sorted(means, key=lambda row: (row["model"], row["k"] or 0))
