"""How good and how stable a selection is, found by repeating it on parts of the data.

The folds, the model and the score are those of the check on held-out samples, so that a page and a
terminal say the same of the same selection. Other models stand beside it by their names.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score

from ..._text import listed_names, plural
from ...meta.count_search import MODEL
from ...meta.held_out import N_FOLDS, N_REPEATS, WatchedSearch, held_out_search
from ...meta.progress import Pace
from ...meta.rules import CountCurve
from ...meta.selector_cv import SelectorCV
from ...scoring import nogueira_stability
from ...scoring.engine import ALL_FEATURES, FoldScores, fit_preparation, score_columns
from ...scoring.folds import Fold
from ...scoring.models import MODEL_WORDS, MODELS
from ...scoring.scorers import Score
from ...scoring.stability import Stability
from ...selection.selected_data import SelectedData
from ...selectors.preparation import unit_masks
from ...validation.target import with_task

# Support vector machines take time quadratic in the samples; so many say enough.
MAX_SAMPLES = 5000
_COUNTS = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200]


@dataclass(frozen=True)
class Assessment:
    """What cross-validation says; ``reason`` tells why there is none.

    Attributes
    ----------
    measure : Score or None
        What was measured; None where nothing was.
    scores : dict of str to ndarray of shape (n_ks, n_folds)
        By model, that of the check first; larger is better. The models beside it have the folds
        that hold out every sample once, and NaN at numbers that were left out to save time.
    ks : list of int
        Numbers of features that every fold was asked for, in increasing order, here and below
        without covariates.
    n_kept : int
        Number of features of the selection.
    baseline : dict of str to float
        Mean score of models with all features; none where that would take long.
    supports : ndarray of bool of shape (n_folds, n_features), or (n_folds, n_groups)
        What each fold selects at the number of features of the selection.
    n_folds : int
    test_share : float
        Samples to test on per sample to train on.
    true : ndarray
        Labels or targets of the samples that were held out.
    predictions : dict of int to ndarray
        What the first model says of each when it is first held out, by number of features.
    auc : float or None
        Area under the receiver operating characteristic of the linear SVM with as many features
        as the selection has, the mean over classes where there are more than two.
    guess : float or None
        Score without features.
    p_value : float or None
        Of the test whether predictions, on average over all numbers of features, are better.
    doubt : str
        A sentence where they are not.
    is_classes : bool
    unit : str
        What is counted: "feature" or "feature group".
    """

    measure: Score | None = None
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    ks: list[int] = field(default_factory=list)
    n_kept: int = 0
    baseline: dict[str, float] = field(default_factory=dict)
    supports: np.ndarray | None = None
    n_folds: int = 0
    test_share: float = 0.25
    true: np.ndarray = field(default_factory=lambda: np.zeros(0))
    predictions: dict[int, np.ndarray] = field(default_factory=dict)
    auc: float | None = None
    guess: float | None = None
    p_value: float | None = None
    doubt: str = ""
    is_classes: bool = False
    unit: str = "feature"
    reason: str = ""

    @property
    def metric(self) -> str:
        """The score as a reader knows it."""
        return "score" if self.measure is None else self.measure.title

    def format_score(self, value: float) -> str:
        """A score within a sentence."""
        return f"{value:.3f}" if self.measure is None else self.measure.shown(value)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Model, k, mean and error (standard error, for training parts that overlap)."""
        found: list[dict[str, Any]] = []
        for model, scores in self.scores.items():
            known = np.isfinite(scores).all(axis=1)
            curve = CountCurve(
                np.array(self.ks)[known], scores[known], self.test_share, self.measure, self.unit
            )
            columns = curve.ks.tolist(), curve.values.tolist(), curve.standard_errors.tolist()
            names = ("k", "mean", "error")
            found += [
                {"model": model} | dict(zip(names, row, strict=True))
                for row in zip(*columns, strict=True)
            ]
        return found

    @property
    def over_folds(self) -> str:
        """``20 folds``, and over how many the models beside the first were scored."""
        said = plural(self.n_folds, "fold")
        beside = [m for m in list(self.scores)[1:] if self.scores[m].shape[1] != self.n_folds]
        fewer = f" ({listed_names(beside)}: {self.scores[beside[0]].shape[1]})" if beside else ""
        return f"{said}{fewer}"

    def count_rows(self, k: int) -> list[dict[str, Any]]:
        """The rows at one number of features."""
        return [row for row in self.rows if row["k"] == k]

    @property
    def main(self) -> dict[str, Any] | None:
        """The row of the first model at the number of the selection."""
        return next(iter(self.count_rows(self.n_kept)), None)

    def confusion(self, k: int) -> np.ndarray | None:
        """Held-out samples by true and predicted class; None for numbers or another k."""
        if not self.is_classes or k not in self.predictions:
            return None
        return confusion_matrix(self.true, self.predictions[k], labels=np.unique(self.true))

    @property
    def balanced_accuracy(self) -> float | None:
        """Mean over the classes of the share of their samples that is found."""
        if not self.is_classes or self.n_kept not in self.predictions:
            return None
        return float(balanced_accuracy_score(self.true, self.predictions[self.n_kept]))

    @property
    def stability(self) -> Stability | None:
        """Nogueira's index over the folds."""
        if self.supports is None or self.n_folds < 2:
            return None
        found = nogueira_stability(self.supports)
        return found if np.isfinite(found.value) else None


# So many folds times samples times classes times features are fitted within some seconds.
MAX_FITTED, MIN_COUNTS = 3e7, 5
# So many folds times numbers of features times squared samples take other models some seconds.
MAX_COMPARED = 5e7


def assess(
    kept: SelectedData,
    X: Any,
    *,
    n_folds: int | None = None,
    seed: int = 0,
    prepare: Any = None,
    groups: Any = None,
    scoring: Any = None,
    search: SelectorCV | None = None,
    max_samples: int | None = MAX_SAMPLES,
) -> Assessment:
    """Repeat the selection inside every fold and score it on the rest.

    Parameters
    ----------
    kept : SelectedData
        The selection; its selector is not changed.
    X : array or sparse matrix
        What ``prepare`` is fitted to in every fold, or the X of ``kept``.
    n_folds : int or None, default=None
        Of every repetition, at most; None is as many as the check on held-out samples has.
    seed : int, default=0
        Of the folds.
    prepare : transformer or None, default=None
        Fitted to the training part of every fold.
    groups : array of shape (n_samples,) or None, default=None
        Samples of a group stay together.
    scoring : str, callable or None, default=None
        The score.
    search : SelectorCV or None, default=None
        What chose the number of features: its folds, model, score and numbers are taken instead.
    max_samples : int or None, default=5000
        Repeat on no more than so many samples, drawn at random; None takes all.

    Returns
    -------
    assessment : Assessment
    """
    selector, y, n_kept = kept.clone_selector(), kept.y, kept.n_kept
    groups = None if groups is None else np.asarray(groups)
    if max_samples is not None and len(y) > max_samples and search is None:
        samples = np.sort(np.random.default_rng(seed).permutation(len(y))[:max_samples])
        X, y = X[samples], y[samples]
        groups = None if groups is None else groups[samples]
    if not hasattr(selector, "reaching"):
        kind = type(selector).__name__
        return Assessment(reason=f"{kind} cannot be asked for other numbers of features")
    task = "regression" if kept.classes is None else "classification"
    task = kept.task if kept.task in MODELS else task
    n_units = X.shape[1] if kept.groups is None else kept.groups.n_groups
    selector = with_task(selector, task if np.ndim(y) == 1 else "auto")
    counts = counts_to_try(n_kept, n_units)
    if search is not None:
        counts = sorted({*search.ks_.tolist(), *(k for k in counts if k <= n_kept)})
    # Fewer than are always kept cannot be asked for, and these alone are no selection.
    counts = [k for k in counts if k > kept.n_always or k == n_kept]
    if task == "classification" and (search is None or search.estimator is None):
        n_fits = (n_folds or N_FOLDS) * N_REPEATS if search is None else search.n_splits_
        counts = _affordable(counts, n_kept, n_fits * len(y) * len(np.unique(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            repeated = held_out_search(
                selector, y, groups, task, ks=counts, n_folds=n_folds, seed=seed, scoring=scoring
            )
            if search is not None:
                names = ("estimator", "cv", "n_repeats", "random_state", "scoring")
                repeated.set_params(**{name: getattr(search, name) for name in names})
            found = _repeat_search(repeated.set_params(prepare=prepare), X, y, groups, n_kept)
        except ValueError as error:
            return Assessment(reason=str(error).strip().split("\n")[0].rstrip("."))
        measure = found.measure
        whole = _with_all_features(found, X, y)
        beside, areas = (
            _score_other_models(found, X, y, n_kept) if task == "classification" else ({}, [])
        )
    supports = [
        np.isin(np.arange(X.shape[1]), fold.columns.get(n_kept, fold.columns[int(found.ks_[-1])]))
        for fold in found.results_
    ]
    once = _held_out_once(found.folds_, len(y))
    seen = np.sort(np.concatenate([test for _, test, _ in once]))
    predictions, n_beside = _predictions(found.results_, once, y, seen), len(kept.covariate_units)
    return Assessment(
        measure=measure,
        scores={found.model_words: _gains(found)} | beside,
        ks=(found.ks_ - n_beside).tolist(),
        n_kept=n_kept - n_beside,
        baseline={} if whole is None else {found.model_words: whole},
        supports=unit_masks(kept.groups, np.array(supports)),
        unit=kept.unit,
        n_folds=found.n_splits_,
        test_share=float(np.mean([len(test) / len(train) for train, test in found.folds_])),
        true=y[seen],
        predictions={k - n_beside: labels for k, labels in predictions.items()},
        auc=float(np.mean(areas)) if areas else None,
        guess=None if found.guess_ is None else float(measure.turned(found.guess_)),
        p_value=found.p_value_,
        doubt=found.nothing_found,
        is_classes=task == "classification",
    )


def _affordable(counts: list[int], n_kept: int, size: float) -> list[int]:
    """Fewer numbers of features where a model of the classes at each would take long.

    ``size`` is the number of folds times samples times classes.
    """
    while len(counts) > MIN_COUNTS and size * sum(counts) > MAX_FITTED:
        left = [k for k in counts[::-1][::2] if k != n_kept]
        counts = sorted({*left, n_kept})
    return counts


def _repeat_search(
    search: WatchedSearch, X: Any, y: Any, groups: Any, n_kept: int
) -> WatchedSearch:
    """The search over all numbers, or over those up to the selection where folds rank no more."""
    every = [int(k) for k in search.ks]
    for ks in (every, [k for k in every if k <= n_kept], [n_kept]):
        try:
            return search.set_params(ks=ks).fit(X, y, groups=groups)
        except ValueError:
            if ks == [n_kept]:
                raise
    raise AssertionError("the last number either fits or raises")


def _gains(search: SelectorCV) -> np.ndarray:
    """Scores of every fold where there is one, larger is better."""
    found = search.cv_results_
    gains = np.array([found[f"split{i}_test_score"] for i in range(search.n_splits_)]).T
    return gains[:, np.isfinite(gains).all(axis=0)]


def _held_out_once(folds: Sequence[Fold], n_samples: int) -> list[tuple[int, np.ndarray, Any]]:
    """Of the folds that hold out a sample for the first time: which fold, which samples, where."""
    seen, found = np.zeros(n_samples, dtype=bool), []
    for number, (_, test) in enumerate(folds):
        new = np.flatnonzero(~seen[test])
        if len(new):
            found.append((number, np.asarray(test)[new], new))
            seen[test] = True
    return found


def _predictions(
    results: Sequence[FoldScores], once: Any, y: np.ndarray, seen: np.ndarray
) -> dict[int, np.ndarray]:
    """Of every sample when it is first held out, in the order of the samples."""
    found = {}
    for model, k in results[0].predictions:
        every = np.empty(np.shape(y), dtype=results[0].predictions[model, k].dtype)
        for number, test, where in once:
            every[test] = results[number].predictions[model, k][where]
        found[k] = every[seen]
    return found


def _with_all_features(search: WatchedSearch, X: Any, y: np.ndarray) -> float | None:
    """Mean score of the same model, on the same folds, without a selection."""
    n_samples, n_features = X.shape
    if n_samples * n_features * min(X.shape) * len(search.folds_) > 2e12:  # multiplications
        return None
    columns, found = {ALL_FEATURES: np.arange(n_features)}, []
    for train, test in search.folds_:
        made = fit_preparation(search.how_["prepare"], X, train)[1]
        parts = made[train], y[train], made[test], y[test], columns
        how = {name: search.how_[name] for name in ("models", "task", "dense", "metrics")}
        how["predict"] = any(isinstance(one, str) for one in how["metrics"])
        scored = score_columns(*parts, **how).scores[MODEL, ALL_FEATURES]
        found.append(next(iter(scored.values())))
    known = np.array(found)[np.isfinite(found)]
    return float(known.mean()) if len(known) else None


def _score_other_models(
    search: WatchedSearch, X: Any, y: np.ndarray, n_kept: int
) -> tuple[dict[str, np.ndarray], list[float]]:
    """Scores of other models on the folds that hold out every sample once, and areas."""
    measure = search.measure
    models = [name for name in ("svm", "1nn") if measure.suits(MODELS["classification"][name]())]
    if not models or len(y) > MAX_SAMPLES or _has_gaps(search, X):
        return {}, []
    metrics: list[Any] = [measure.own or measure]
    once = _held_out_once(search.folds_, len(y))
    ks = _some_numbers(search.ks_, n_kept, int(MAX_COMPARED / len(once) / len(y) ** 2))
    found, areas = [], []
    pace = Pace("the comparison of models", len(once), "fold of other models")
    for number, _, _ in once:
        train, test = search.folds_[number]
        made = fit_preparation(search.how_["prepare"], X, train)[1]
        scored = score_columns(
            *(made[train], y[train], made[test], y[test]),
            {k: search.results_[number].columns[k] for k in ks},
            models=models,
            metrics=metrics,
            standardize=True,
            decisions_at=[n_kept],
        )
        found.append(scored)
        areas += _areas(y[test], scored.decisions.get(("svm", n_kept)), np.unique(y[train]))
        pace.step()
    name = metrics[0] if isinstance(metrics[0], str) else metrics[0].name
    tables, scored_here = {}, np.isin(search.ks_, ks)
    for model in models:
        table = np.full((len(search.ks_), len(found)), np.nan)
        table[scored_here] = np.array([[one.scores[model, k][name] for one in found] for k in ks])
        if np.isfinite(table[scored_here]).all():
            tables[MODEL_WORDS[model]] = measure.turned(table)
    return tables, areas


def _some_numbers(ks: np.ndarray, n_kept: int, most: int) -> list[int]:
    """The number of features that are kept, and others of those tried, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.report.assessment import _some_numbers
    >>> _some_numbers(np.arange(1, 10), 3, 4), _some_numbers(np.arange(1, 10), 3, 0)
    ([1, 3, 5, 9], [3])
    """
    others = np.setdiff1d(ks, [n_kept])
    places = np.linspace(len(others) - 1, 0, min(max(most - 1, 0), len(others))).astype(int)
    return sorted({n_kept, *others[places].tolist()})


def _has_gaps(search: WatchedSearch, X: Any) -> bool:
    """Whether values are missing that nothing fills, which these models do not take."""
    is_plain = type(X) is np.ndarray and X.dtype.kind == "f" and search.how_["prepare"] is None
    return is_plain and bool(np.isnan(X).any())


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


def counts_to_try(n_kept: int, n_features: int) -> list[int]:
    """Numbers of features to look at: up to twice the selection, and the selection itself.

    Examples
    --------
    >>> from sparsieve.app.report.assessment import counts_to_try
    >>> counts_to_try(6, 1000)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    """
    most = min(n_features, max(2 * n_kept, 10))
    counts = {k for k in _COUNTS if k <= min(most, 200)}
    return sorted(counts | {min(n_kept, n_features)})
