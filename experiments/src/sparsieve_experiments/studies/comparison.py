"""Who is ahead in a study, and whether that can be told from chance."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsieve._text import format_p_value, listed_names
from sparsieve.app.report.wording import percent
from sparsieve.scoring.metrics import IN_UNITS, LOWER_IS_BETTER, find_metrics, gain, metric_name
from sparsieve.scoring.models import MODEL_WORDS, TASKS, main_model
from sparsieve.scoring.stability import compare_methods

from .names import ALL_FEATURES
from .results import summarise


@dataclass(frozen=True)
class Gap:
    """How far a selector is behind the best: mean difference and half width of its interval.

    Positive where the best is better, also for errors, of which less is better.

    Attributes
    ----------
    mean : float
        Mean difference to the best.
    margin : float
        Half the width of its interval.
    p_value : float
        Two-sided, corrected for all pairs of selectors; NaN where it is not known.
    separable : bool
        Whether the interval leaves out zero.

    See Also
    --------
    sparsieve_experiments.studies.Standing : One comparison.
    sparsieve_experiments.studies.standings : Selectors compared where they can be.

    Examples
    --------
    >>> from sparsieve_experiments.studies import Gap
    >>> Gap(mean=0.02, margin=0.03).separable
    False
    """

    mean: float
    margin: float
    p_value: float = math.nan

    @property
    def separable(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.mean > self.margin


@dataclass(frozen=True)
class Standing:
    """Selectors compared where all of them can be: the same data sets and numbers of features.

    Attributes
    ----------
    classifier, metric : str
        The model, also for regression, and what is compared.
    datasets : list of str
        All with the same kind of target.
    ks : list of int or None
        Numbers of features that all these data sets have; None is each model's own number.
    means : dict of str to float
        Mean score by selector, the best first.
    gaps : dict of str to Gap
        Of all selectors but the first. Over data sets the differences are paired by data set;
        on one data set by split, with a margin that allows for training parts that overlap. They
        hold simultaneously at the level of 5 %, see
        :func:`~sparsieve.scoring.stability.compare_methods`.
    n_splits : int
        Splits behind every score.
    baseline : float or None
        Mean score with all features, no contender at any number of them.
    task : {"classification", "regression"}
        How the targets are read.

    See Also
    --------
    sparsieve_experiments.studies.standings : Selectors compared where they can be.
    sparsieve_experiments.studies.Gap : How far behind the best.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study
    >>> from sparsieve_experiments.studies import result_rows, run_study, standings
    >>> study = Study("small", ["wine"], ["fisher", "mrmr"], Folds(2), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         [standing] = standings(result_rows(store))
    >>> sorted(standing.means), len(standing.gaps)
    (['FisherSelector', 'MRMRSelector'], 1)
    """

    classifier: str
    metric: str
    datasets: list[str]
    ks: list[int | None]
    means: dict[str, float]
    gaps: dict[str, Gap]
    n_splits: int
    baseline: float | None = None
    task: str = "classification"

    @property
    def best(self) -> str:
        """The selector with the best mean."""
        return next(iter(self.means))

    @property
    def tied(self) -> list[str]:
        """Selectors with exactly the same mean as the best."""
        top = self.means[self.best]
        return [n for n, v in self.means.items() if n != self.best and abs(v - top) < 1e-12]

    @property
    def level(self) -> list[str]:
        """Selectors that cannot be told from the best, ties left aside."""
        return [
            name for name, gap in self.gaps.items() if not gap.separable and name not in self.tied
        ]

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """What can be said; the first one is the answer."""
        leaders, lower = (
            [self.best, *self.tied],
            [n for n, gap in self.gaps.items() if gap.separable],
        )
        n_sets = len(self.datasets)
        where = listed_names(self.datasets) if n_sets <= 3 else f"{n_sets} data sets"
        mean = f"mean {metric_name(self.metric).removeprefix('mean ')}"
        verb = "share" if len(leaders) > 1 else "has"
        end = "lowest" if self.metric in LOWER_IS_BETTER else "highest"
        worse = "higher" if self.metric in LOWER_IS_BETTER else "lower"
        model = MODEL_WORDS.get(self.classifier, self.classifier)
        answer = (
            f"{listed_names(leaders)} {verb} the {end} {mean} "
            f"({self.shown(self.means[self.best])}) on {where} using {self.using} "
            f"(scored with {model})"
        )
        if lower and self.level:
            shown = [f"{name} ({self.shown(self.means[name])})" for name in self.level]
            answer += f", but {listed_names(shown)} {'is' * (len(shown) == 1) or 'are'} not "
            answer += f"significantly {worse}"
        elif lower:
            which = "every other method is" if len(lower) > 1 else f"{lower[0]} is"
            answer += f", and {which} significantly {worse}"
        elif self.level:
            answer += f", but no other method is significantly {worse}"
        said = [f"{answer}."]
        if lower:
            gaps = [self._gap(name, worse) for name in lower]
            said.append(f"{listed_names(gaps)}.")
        if self.baseline is not None:
            said.append(f"Using all features, the same model scores {self.shown(self.baseline)}.")
        return said

    def _gap(self, name: str, worse: str) -> str:
        gap, unit = self.gaps[name], " points" * (self.task == "classification")
        low, high = (self.number(gap.mean + side * gap.margin) for side in (-1, 1))
        return (
            f"{name} is {self.number(gap.mean)}{unit} {worse} (95 % interval {low} to {high}, "
            f"{format_p_value(gap.p_value)}, corrected)"
        )

    @property
    def using(self) -> str:
        """The numbers of features in words."""
        if self.ks == [None]:
            return "the features that each method keeps"
        shown = [str(k) for k in self.ks]
        many = listed_names(shown) if len(shown) <= 6 else f"{shown[0]} to {shown[-1]}"
        return f"{many} feature{'s' * (shown != ['1'])}"

    def shown(self, value: float) -> str:
        """A score within a sentence."""
        return percent(value) if self.task == "classification" else self.number(value)

    def number(self, value: float) -> str:
        """A score within a table, in percent for classes."""
        if self.task == "classification":
            return f"{100.0 * value:z.1f}"
        # Errors have the unit of the target, whatever its size.
        return f"{value:.4g}" if self.metric in IN_UNITS else f"{value:z.2f}"


def standings(
    rows: Sequence[Mapping[str, Any]],
    *,
    classifier: str | None = None,
    metric: str | None = None,
) -> list[Standing]:
    """Compare the selectors of a study where they can be compared.

    Parameters
    ----------
    rows : list of dict
        From :func:`result_rows`, of one study.
    classifier : str, default=None
        The linear SVM where there is one, else the first of every task.
    metric : str, default=None
        The first of the study, for every task.

    Returns
    -------
    standings : list of Standing
        For classes and for numbers apart: one over all data sets and the numbers of features
        that all of them have; one for every data set where there is no such number, or where
        the scores have the unit of the target.

    See Also
    --------
    sparsieve_experiments.studies.Standing : One comparison.
    sparsieve_experiments.studies.result_rows : Every score as a row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study
    >>> from sparsieve_experiments.studies import result_rows, run_study, standings
    >>> study = Study("small", ["wine"], ["fisher", "relieff"], Folds(3), ks=[2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         [standing] = standings(result_rows(store))
    >>> standing.ks, standing.datasets
    ([2], ['wine'])
    """
    return [
        standing
        for task in TASKS
        for standing in _of_task(
            [row for row in rows if row.get("task", TASKS[0]) == task], task, classifier, metric
        )
    ]


def _of_task(
    rows: Sequence[Mapping[str, Any]], task: str, classifier: str | None, metric: str | None
) -> list[Standing]:
    known = list(dict.fromkeys(row["classifier"] for row in rows))
    if not rows or (classifier or known[0]) not in known or (metric and metric not in rows[0]):
        return []
    metric = metric or find_metrics(rows[0])[0]
    classifier = classifier or main_model(known)
    scores = _scores([row for row in rows if row["classifier"] == classifier], metric)
    contenders = [row for row in rows if row["class"] != ALL_FEATURES]
    selectors = list(dict.fromkeys(row["selector"] for row in contenders))
    datasets = list(dict.fromkeys(row["dataset"] for row in contenders))
    # A selector that failed somewhere must not look as if it had won or lost there.
    ks = {
        dataset: [
            k
            for k in sorted({k for d, _, k in scores if d == dataset}, key=lambda k: (k is None, k))
            if all((dataset, selector, k) in scores for selector in selectors)
        ]
        for dataset in datasets
    }
    datasets = [dataset for dataset in datasets if ks[dataset]]
    if not datasets or not selectors:
        return []
    common = [k for k in ks[datasets[0]] if all(k in ks[dataset] for dataset in datasets)]
    together = common and metric not in IN_UNITS
    groups = [(datasets, common)] if together else [([name], ks[name]) for name in datasets]
    baseline = _baselines(rows, classifier, metric)
    return [
        _standing(scores, names, numbers, selectors, baseline, classifier, metric, task)
        for names, numbers in groups
    ]


def _scores(rows: Sequence[Mapping[str, Any]], metric: str) -> dict[tuple, dict[tuple, tuple]]:
    """By data set, selector and k: the score and sizes of every split, as the means choose."""
    chosen = {
        (mean["dataset"], mean["selector"], mean["k"]): mean["parameters"]
        for mean in summarise(rows)
        if mean["class"] != ALL_FEATURES
    }
    scores: dict[tuple, dict[tuple, tuple]] = defaultdict(dict)
    for row in rows:
        place = row["dataset"], row["selector"], row["k"]
        if chosen.get(place) == row["parameters"] and row[metric] is not None:
            split = row["repeat"], row["fold"]
            scores[place][split] = (row[metric], row["n_test"] / max(row["n_train"], 1))
    return dict(scores)


def _baselines(rows: Sequence[Mapping[str, Any]], classifier: str, metric: str) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["class"] != ALL_FEATURES or row[metric] is None:
            continue
        if row["classifier"] == classifier:
            found[row["dataset"]].append(row[metric])
    return {dataset: float(np.mean(values)) for dataset, values in found.items()}


def _standing(scores, datasets, ks, selectors, baseline, classifier, metric, task) -> Standing:
    several = len(datasets) > 1
    table, share = (_by_set if several else _by_split)(scores, datasets, ks, selectors)
    found = compare_methods({name: gain(metric, values) for name, values in table.items()}, share)
    known = [baseline[dataset] for dataset in datasets if dataset in baseline]
    return Standing(
        classifier,
        metric,
        list(datasets),
        list(ks),
        {name: gain(metric, mean) for name, mean in found.means.items()},
        {n: Gap(gap.mean, found.margins[n], found.p_values[n]) for n, gap in found.behind.items()},
        min(len(scores[d, s, k]) for d in datasets for s in selectors for k in ks),
        float(np.mean(known)) if len(known) == len(datasets) else None,
        task,
    )


def _by_set(scores, datasets, ks, selectors) -> tuple[dict[str, np.ndarray], float]:
    """Mean scores of every selector on every data set; these share no samples."""
    return {
        selector: np.array(
            [
                np.mean([[s for s, _ in scores[d, selector, k].values()] for k in ks])
                for d in datasets
            ]
        )
        for selector in selectors
    }, 0.0


def _by_split(scores, datasets, ks, selectors) -> tuple[dict[str, np.ndarray], float]:
    """Mean scores on the splits that all have, and the share of test to training samples."""
    places = [scores[datasets[0], selector, k] for selector in selectors for k in ks]
    common = sorted(set.intersection(*map(set, places)))
    return {
        selector: np.array(
            [np.mean([scores[datasets[0], selector, k][s][0] for k in ks]) for s in common]
        )
        for selector in selectors
    }, float(np.mean([places[0][s][1] for s in common]))
