"""How good and how stable a selection is, found by repeating it on parts of the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._cross_validation import each_fold, make_folds, possible_folds
from ..choose.guess import GuessTest, against_guess, mean_votes
from ..choose.rules import CountCurve, choices, describe
from ..evaluation import Stability, nogueira_stability
from ..evaluation.curves import CLASSIFIERS
from ..selectors.target import with_task

# The first model of each kind is the one whose predictions are shown.
MODELS = {"linear SVM": CLASSIFIERS["svm"], "nearest neighbour": CLASSIFIERS["1nn"]}
REGRESSORS = {"ridge regression": lambda: Ridge(alpha=1.0)}
# Support vector machines take time quadratic in the samples; so many say enough.
MOST_SAMPLES = 5000
_COUNTS = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200]


@dataclass(frozen=True)
class Assessment:
    """What cross-validation says; ``reason`` tells why there is none.

    Attributes
    ----------
    metric : str
        "accuracy" or "R squared".
    scores : dict of str to ndarray of shape (n_ks, n_folds)
        By model.
    ks : list of int
        Numbers of features that every fold was asked for, in increasing order.
    n_kept : int
        Number of features of the selection.
    baseline : dict of str to float
        Mean score of every model with all features.
    supports : ndarray of bool of shape (n_folds, n_features)
        What each fold selects at the number of features of the selection.
    n_folds : int
    samples : ndarray of int
        Rows of X that the folds were made of.
    true : ndarray
        Their labels or targets.
    predictions : dict of int to ndarray
        What the first model says of each when it is held out, by number of features.
    auc : float or None
        Area under the receiver operating characteristic of the first model with as many features
        as the selection has, the mean over classes where there are more than two.
    guess_test : GuessTest or None
        Whether the predictions, on average over all numbers of features, are better than a guess.
    """

    metric: str = "accuracy"
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    ks: list[int] = field(default_factory=list)
    n_kept: int = 0
    baseline: dict[str, float] = field(default_factory=dict)
    supports: np.ndarray | None = None
    n_folds: int = 0
    samples: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    true: np.ndarray = field(default_factory=lambda: np.zeros(0))
    predictions: dict[int, np.ndarray] = field(default_factory=dict)
    auc: float | None = None
    guess_test: GuessTest | None = None
    reason: str = ""

    @property
    def n_samples(self) -> int:
        """Number of samples that the folds were made of."""
        return len(self.samples)

    @cached_property
    def rows(self) -> list[dict]:
        """Model, k, mean and error (standard error, for training parts that overlap)."""
        return [
            {"model": model, "k": k, "mean": mean, "error": error}
            for model in self.scores
            for k, mean, error in zip(
                self.ks,
                self._curve(model).means.tolist(),
                self._curve(model).standard_errors.tolist(),
                strict=True,
            )
        ]

    def _curve(self, model: str) -> CountCurve:
        test_share = 1.0 / max(self.n_folds - 1, 1)
        return CountCurve(np.array(self.ks), self.scores[model], test_share)

    def at(self, k: int) -> list[dict]:
        """The rows at one number of features."""
        return [row for row in self.rows if row["k"] == k]

    @property
    def best(self) -> dict | None:
        """The row of the model that does best at the number of the selection."""
        return max(self.at(self.n_kept), key=lambda row: row["mean"], default=None)

    @property
    def confusion(self) -> np.ndarray | None:
        """Held-out samples by true and predicted class, at the number of the selection."""
        return self.confusion_at(self.n_kept)

    def confusion_at(self, k: int) -> np.ndarray | None:
        """Held-out samples by true and predicted class; None for numbers or another k."""
        if self.metric != "accuracy" or k not in self.predictions:
            return None
        return confusion_matrix(self.true, self.predictions[k], labels=np.unique(self.true))

    @property
    def balanced(self) -> float | None:
        """Mean over the classes of the share of their samples that is found."""
        confusion = self.confusion
        if confusion is None:
            return None
        return float(np.mean(np.diag(confusion) / confusion.sum(axis=1)))

    @property
    def stability(self) -> Stability | None:
        """Nogueira's index over the folds."""
        if self.supports is None:
            return None
        found = nogueira_stability(self.supports)
        return found if np.isfinite(found.value) else None

    def doubt(self, guess: float) -> str:
        """A sentence where nothing is better than a guess of that score, else nothing."""
        if self.guess_test is None or self.best is None:
            return ""
        return self.guess_test.sentence(self.best["mean"], guess, self.metric)

    def flatness(self, model: str, guess: float) -> str:
        """How much the number of features matters to a model, in words; empty for one number.

        ``guess`` is the score without any feature.
        """
        if len(self.ks) < 2:
            return ""
        curve, doubt = self._curve(model), self.doubt(guess)
        return describe(curve, choices(curve, beats_guess=not doubt), doubt)


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
    samples = np.arange(len(y))
    if len(y) > MOST_SAMPLES:
        samples = np.sort(np.random.default_rng(seed).permutation(len(y))[:MOST_SAMPLES])
        X, y = X[samples], y[samples]
    if not hasattr(selector, "reaching"):
        kind = type(selector).__name__
        return Assessment(reason=f"{kind} cannot be asked for other numbers of features")
    folds = _folds(y, is_regression, n_folds, seed)
    if isinstance(folds, str):
        return Assessment(reason=folds)
    counts = counts_to_try(n_kept, X.shape[1])
    task = "regression" if is_regression else "classification"
    selector = with_task(selector, task if np.ndim(y) == 1 else "auto")
    models = REGRESSORS if is_regression else MODELS

    def work(train: np.ndarray, test: np.ndarray) -> _Fold:
        return _assess_fold(selector, X[train], y[train], X[test], y[test], counts, n_kept, models)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = each_fold(work, folds)
        except ValueError as error:
            first = str(error).strip().split("\n")[0].rstrip(".")
            return Assessment(reason=f"a fold cannot be fitted: {first}")
    ks = [k for k in counts if all(k in fold.predicted for fold in found)]
    if not ks:
        return Assessment(reason="no number of features was reached in every fold")
    areas = [area for fold in found for area in fold.areas]
    return Assessment(
        metric="R squared" if is_regression else "accuracy",
        scores={
            model: np.array([[fold.scores[model][k] for fold in found] for k in ks])
            for model in models
        },
        ks=ks,
        n_kept=n_kept,
        baseline={
            model: float(np.mean([fold.scores[model][None] for fold in found])) for model in models
        },
        supports=np.array([fold.support for fold in found]),
        n_folds=len(found),
        samples=samples,
        true=y,
        predictions={k: _together(y, folds, [fold.predicted[k] for fold in found]) for k in ks},
        auc=float(np.mean(areas)) if areas else None,
        guess_test=_against_guess(y, folds, [f.predicted for f in found], ks, is_regression),
    )


def _against_guess(
    y: np.ndarray, folds: Any, predicted: list[dict], ks: list[int], is_regression: bool
) -> GuessTest:
    classes = None if is_regression else np.unique(y)
    votes = [mean_votes([by_k[k] for k in ks], classes) for by_k in predicted]
    return against_guess(votes, mean_votes([y], classes), folds)


@dataclass(frozen=True)
class _Fold:
    """What one fold says: scores by model and number (None for all features), and more."""

    scores: dict[str, dict[int | None, float]]
    predicted: dict[int, np.ndarray]  # of the first model on the samples held out
    support: np.ndarray
    areas: list[float]


def _assess_fold(
    selector: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    counts: list[int],
    n_kept: int,
    models: dict[str, Any],
) -> _Fold:
    fitted = selector.reaching(max(counts)).fit(X, y)
    reached = [k for k in counts if k <= fitted.n_ranked_]
    supports: dict[int | None, np.ndarray] = {k: fitted.at(k).get_support() for k in reached}
    supports[None] = np.ones(X.shape[1], dtype=bool)
    main = next(iter(models))
    scores: dict[str, dict[int | None, float]] = {model: {} for model in models}
    predicted: dict[int, np.ndarray] = {}
    areas: list[float] = []
    for k, support in supports.items():
        if not support.any():
            continue
        train, test = X[:, support], X_test[:, support]
        for name, model in models.items():
            made = make_pipeline(_scaler(X), model()).fit(train, y)
            scores[name][k] = float(made.score(test, y_test))
            if name == main and k is not None:
                predicted[k] = made.predict(test)
            if name == main and k == n_kept and hasattr(made, "decision_function"):
                areas = _areas(y_test, made.decision_function(test), made.classes_)
    kept = supports.get(n_kept, supports[max(reached)] if reached else supports[None])
    return _Fold(scores, predicted, kept, areas)


def _together(y: Any, folds: Any, parts: list[np.ndarray]) -> np.ndarray:
    """Predictions of all folds in the order of the samples."""
    every = np.empty(np.shape(y), dtype=np.result_type(*parts))
    for (_, test), part in zip(folds, parts, strict=True):
        every[test] = np.reshape(part, np.shape(y[test]))
    return every


def _areas(true: np.ndarray, decision: np.ndarray, classes: np.ndarray) -> list[float]:
    """Of every class against the others; decisions of different folds cannot be compared."""
    columns, labels = decision, classes
    if columns.ndim == 1:
        columns, labels = columns[:, None], classes[1:]
    return [
        float(roc_auc_score(true == label, column))
        for label, column in zip(labels, columns.T, strict=True)
        if 0 < (true == label).sum() < len(true)
    ]


def _folds(y: Any, is_regression: bool, n_folds: int, seed: int) -> Any:
    if is_regression:
        if len(y) < 2 * n_folds:
            return f"{len(y)} samples are too few for {n_folds} folds"
        return make_folds(y, n_folds, seed=seed, stratified=False)
    n_folds = possible_folds(y, n_folds)
    if n_folds < 2:
        return "a class has a single sample, so no part of the data can be held out"
    return make_folds(y, n_folds, seed=seed)


def counts_to_try(n_kept: int, n_features: int) -> list[int]:
    """Numbers of features to look at: up to twice the selection, and the selection itself.

    Examples
    --------
    >>> from sparsieve.report.assessment import counts_to_try
    >>> counts_to_try(6, 1000)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    """
    most = min(n_features, max(2 * n_kept, 10))
    counts = {k for k in _COUNTS if k <= min(most, 200)}
    return sorted(counts | {min(n_kept, n_features)})


def _scaler(X: Any) -> StandardScaler:
    return StandardScaler(with_mean=not hasattr(X, "tocsr"))  # a sparse X stays sparse
