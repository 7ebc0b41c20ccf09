"""How good and how stable a selection is, found by repeating it on parts of the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score
from sklearn.utils.validation import check_array

from ..meta.guess import GuessTest, better_than_a_guess
from ..meta.rules import CountCurve, choices, describe
from ..scoring import nogueira_stability
from ..scoring.engine import ALL_FEATURES, score_fold
from ..scoring.folds import each_fold, make_folds, possible_folds
from ..scoring.metrics import metric_name
from ..scoring.models import DEFAULT_METRICS, MODEL_WORDS
from ..scoring.protocol import Folds
from ..scoring.stability import Stability
from ..selectors.around import groups_for
from ..selectors.units import unit_masks
from ..validation.feature_groups import FeatureGroups
from ..validation.target import with_task

# The first model of each task is the one whose predictions are shown.
SHOWN_MODELS = {
    "classification": ["svm", "1nn"],
    "regression": ["ridge"],
    "counts": ["poisson"],
    "survival": ["cox"],
}
# Support vector machines take time quadratic in the samples; so many say enough.
MAX_SAMPLES = 5000
_COUNTS = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200]


@dataclass(frozen=True)
class Assessment:
    """What cross-validation says; ``reason`` tells why there is none.

    Attributes
    ----------
    metric : str
        "accuracy", "R squared", "deviance explained" or "concordance".
    scores : dict of str to ndarray of shape (n_ks, n_folds)
        By model.
    ks : list of int
        Numbers of features that every fold was asked for, in increasing order.
    n_kept : int
        Number of features of the selection.
    baseline : dict of str to float
        Mean score of every model with all features.
    supports : ndarray of bool of shape (n_folds, n_features), or (n_folds, n_groups)
        What each fold selects at the number of features of the selection.
    n_folds : int
    true : ndarray
        Labels or targets of the samples that the folds were made of.
    predictions : dict of int to ndarray
        What the first model says of each when it is held out, by number of features.
    auc : float or None
        Area under the receiver operating characteristic of the first model with as many features
        as the selection has, the mean over classes where there are more than two.
    guess_test : GuessTest or None
        Whether the predictions, on average over all numbers of features, are better than a guess.
    unit : str
        What is counted: "feature" or "feature group".
    """

    metric: str = "accuracy"
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    ks: list[int] = field(default_factory=list)
    n_kept: int = 0
    baseline: dict[str, float] = field(default_factory=dict)
    supports: np.ndarray | None = None
    n_folds: int = 0
    true: np.ndarray = field(default_factory=lambda: np.zeros(0))
    predictions: dict[int, np.ndarray] = field(default_factory=dict)
    auc: float | None = None
    guess_test: GuessTest | None = None
    unit: str = "feature"
    reason: str = ""

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
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
        return CountCurve(np.array(self.ks), self.scores[model], test_share, unit=self.unit)

    def at(self, k: int) -> list[dict[str, Any]]:
        """The rows at one number of features."""
        return [row for row in self.rows if row["k"] == k]

    @property
    def main(self) -> dict[str, Any] | None:
        """The row of the first model at the number of the selection."""
        return next(iter(self.at(self.n_kept)), None)

    def confusion_at(self, k: int) -> np.ndarray | None:
        """Held-out samples by true and predicted class; None for numbers or another k."""
        if self.metric != "accuracy" or k not in self.predictions:
            return None
        return confusion_matrix(self.true, self.predictions[k], labels=np.unique(self.true))

    @property
    def balanced(self) -> float | None:
        """Mean over the classes of the share of their samples that is found."""
        if self.metric != "accuracy" or self.n_kept not in self.predictions:
            return None
        return float(balanced_accuracy_score(self.true, self.predictions[self.n_kept]))

    @property
    def stability(self) -> Stability | None:
        """Nogueira's index over the folds."""
        if self.supports is None:
            return None
        found = nogueira_stability(self.supports)
        return found if np.isfinite(found.value) else None

    def doubt(self, guess: float) -> str:
        """A sentence where nothing is better than a guess of that score, else nothing."""
        if self.guess_test is None or self.main is None:
            return ""
        return self.guess_test.sentence(self.main["mean"], guess, self.metric)

    def flatness(self, model: str, guess: float) -> str:
        """How much the number of features matters to a model, in words; empty for one number.

        ``guess`` is the score without any feature.
        """
        if len(self.ks) < 2:
            return ""
        doubt = self.doubt(guess)
        curve = replace(self._curve(model), beats_guess=not doubt)
        return describe(curve, choices(curve), doubt)


def assess(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_kept: int,
    is_regression: bool,
    n_folds: int,
    seed: int,
    prepare: Any = None,
    groups: Any = None,
    task: str | None = None,
    feature_groups: FeatureGroups | None = None,
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
    prepare : transformer or None, default=None
        Fitted to the training part of every fold.
    groups : array of shape (n_samples,) or None, default=None
        Samples of a group stay together.
    task : {"classification", "regression", "counts", "survival"} or None, default=None
        How y is read; None follows ``is_regression``.
    feature_groups : FeatureGroups or None, default=None
        What the selector chooses among and counts, where it keeps groups of features.

    Returns
    -------
    assessment : Assessment
    """
    groups = None if groups is None else np.asarray(groups)
    if len(y) > MAX_SAMPLES:
        samples = np.sort(np.random.default_rng(seed).permutation(len(y))[:MAX_SAMPLES])
        X, y = X[samples], y[samples]
        groups = None if groups is None else groups[samples]
    if not hasattr(selector, "reaching"):
        kind = type(selector).__name__
        return Assessment(reason=f"{kind} cannot be asked for other numbers of features")
    folds = _folds(y, is_regression, n_folds, seed, groups)
    if isinstance(folds, str):
        return Assessment(reason=folds)
    n_units = X.shape[1] if feature_groups is None else feature_groups.n_groups
    counts = counts_to_try(n_kept, n_units)
    if task not in SHOWN_MODELS:
        task = "regression" if is_regression else "classification"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            work = partial(
                score_fold,
                *(with_task(selector, task if np.ndim(y) == 1 else "auto"), X, y),
                ks=counts,
                prepare=prepare,
                fit_params=groups_for(selector, groups),
                task=task,
                models=SHOWN_MODELS[task],
                metrics=DEFAULT_METRICS[task][:1],
                standardize=True,
                baseline=True,
                decisions_at=[n_kept],
            )
            found = each_fold(work, folds)
        except ValueError as error:
            first = str(error).strip().split("\n")[0].rstrip(".")
            return Assessment(reason=f"a fold cannot be fitted: {first}")
    ks = [k for k in counts if all(k in fold.columns for fold in found)]
    if not ks:
        return Assessment(reason="no number of features was reached in every fold")
    metric, main = DEFAULT_METRICS[task][0], SHOWN_MODELS[task][0]
    kept = n_kept if n_kept in ks else ks[-1]
    areas = [
        area
        for (train, test), fold in zip(folds, found, strict=True)
        for area in _areas(y[test], fold.decisions.get((main, n_kept)), np.unique(y[train]))
    ]
    return Assessment(
        metric="R squared" if task == "regression" else metric_name(metric),
        scores={
            MODEL_WORDS[model]: np.array(
                [[fold.scores[model, k][metric] for fold in found] for k in ks]
            )
            for model in SHOWN_MODELS[task]
        },
        ks=ks,
        n_kept=n_kept,
        baseline={
            MODEL_WORDS[model]: float(
                np.mean([fold.scores[model, ALL_FEATURES][metric] for fold in found])
            )
            for model in SHOWN_MODELS[task]
        },
        supports=unit_masks(
            feature_groups,
            np.array([np.isin(np.arange(X.shape[1]), fold.columns[kept]) for fold in found]),
        ),
        unit="feature" if feature_groups is None else "feature group",
        n_folds=len(found),
        true=y,
        predictions={
            k: _together(y, folds, [fold.predictions[main, k] for fold in found]) for k in ks
        },
        auc=float(np.mean(areas)) if areas else None,
        guess_test=better_than_a_guess(found, y, task, folds, groups=groups, model=main),
    )


def _together(y: Any, folds: Any, parts: list[np.ndarray]) -> np.ndarray:
    """Predictions of all folds in the order of the samples."""
    every = np.empty(np.shape(y), dtype=np.result_type(*parts))
    for (_, test), part in zip(folds, parts, strict=True):
        every[test] = np.reshape(part, np.shape(y[test]))
    return every


def _areas(true: np.ndarray, decision: np.ndarray | None, classes: np.ndarray) -> list[float]:
    """Of every class against the others; decisions of different folds cannot be compared."""
    if decision is None:
        return []
    columns, labels = decision, classes
    if columns.ndim == 1:
        columns, labels = columns[:, None], classes[1:]
    return [
        float(roc_auc_score(true == label, column))
        for label, column in zip(labels, columns.T, strict=True)
        if 0 < (true == label).sum() < len(true)
    ]


def unprepared(X: Any) -> Any:
    """X as it was given, gaps included, for a transformer that learns inside the folds."""
    return check_array(X, accept_sparse="csr", dtype=(float, np.float32), ensure_all_finite=False)


def _folds(y: Any, is_regression: bool, n_folds: int, seed: int, groups: Any = None) -> Any:
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
        if n_folds < 2:
            return "all samples are in one group, so no part of the data can be held out"
        made = Folds(n_folds, 1, grouped=True).splits(
            y, groups, seed=seed, stratified=not is_regression
        )
        return [(split.train, split.test) for split in made]
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
