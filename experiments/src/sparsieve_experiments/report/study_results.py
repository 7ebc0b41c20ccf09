"""The finished rows of a study and what can be read from them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from sparsieve._text import plural
from sparsieve.scoring.metrics import IN_UNITS, find_metrics, metric_title
from sparsieve.scoring.models import TASKS, main_model

from ..studies import ScoreTable, Standing, score_table, standings, summarise
from ..studies.names import ALL_FEATURES

BASELINE = "all features"


class StudyResults:
    """The rows of a study with one kind of target, and what can be read from them.

    Without any selection a model has all features whatever number is asked for, so such rows
    are no contenders: ``baseline`` holds their means apart.
    """

    def __init__(self, every_row: list[dict]) -> None:
        self.every_row = every_row
        rows = [row for row in every_row if row["class"] != ALL_FEATURES] or every_row
        self.rows = rows
        self.means = summarise(rows)
        self.baseline = (
            []
            if rows is every_row
            else summarise([row for row in every_row if row["class"] == ALL_FEATURES])
        )
        self.methods = list(dict.fromkeys(row["selector"] for row in rows))
        self.datasets = list(dict.fromkeys(row["dataset"] for row in rows))
        self.classifiers = list(dict.fromkeys(row["classifier"] for row in rows))
        self.metric = find_metrics(rows[0])[0]
        self.task = rows[0].get("task", TASKS[0])
        self.ks = sorted({row["k"] for row in rows if row["k"] is not None})
        self.main_classifier = main_model(self.classifiers)
        self.shown_ks: list = _chosen_ks(self.ks) or [None]
        self.main_k = self._main_k()

    @property
    def metric_title(self) -> str:
        """The metric as a reader knows it."""
        return metric_title(self.metric)

    @property
    def model_title(self) -> str:
        """What the models are called."""
        return "classifier" if self.task == "classification" else "model"

    @property
    def comparable(self) -> bool:
        """Whether scores of several data sets have one unit, so that means say something."""
        return self.metric not in IN_UNITS

    def _main_k(self) -> Any:
        """What a reader sees first: a number of features that all data sets have."""
        have = [{row["k"] for row in self.rows if row["dataset"] == d} for d in self.datasets]
        common = set.intersection(*have)
        shown = [k for k in self.shown_ks if k in common] or self.shown_ks
        return min(shown, key=lambda k: abs((k or 0) - 20))

    def standings(self) -> list[Standing]:
        """Who is ahead, where all methods can be compared."""
        return standings(self.every_row, classifier=self.main_classifier, metric=self.metric)

    def table(self, classifier: str, k: Any) -> ScoreTable:
        """Mean scores of data sets x methods."""
        chosen = [r for r in self.rows if r["classifier"] == classifier and r["k"] == k]
        return score_table(chosen, classifier=classifier, k=k, metric=self.metric)

    def supports(self, k: Any) -> dict[tuple, list[np.ndarray]]:
        """What every split selected, of the parameters that the tables show."""
        shown = {(m["dataset"], m["selector"], m["parameters"]) for m in self.means if m["k"] == k}
        cells = {
            row["cell"]: row
            for row in self.rows
            if row["k"] == k and (row["dataset"], row["selector"], row["parameters"]) in shown
        }
        supports: dict[tuple, list[dict]] = defaultdict(list)
        for row in cells.values():
            supports[row["dataset"], row["selector"]].append(row)
        return {place: _masks(found, k) for place, found in supports.items()}


def _masks(rows: list[dict], k: Any) -> list[np.ndarray]:
    """What the splits kept, over the same columns.

    What comes before a selector may make other columns of every training part, such as one for
    each category in it; columns are then known by their names.
    """
    size = max(row.get("n_columns", row["n_features"]) for row in rows)
    kept = [json.loads(row["feature_indices"])[:k] for row in rows]
    if any(row.get("n_columns", row["n_features"]) != row["n_features"] for row in rows):
        names = [json.loads(row["features"])[:k] for row in rows]
        places = {name: j for j, name in enumerate(dict.fromkeys(chain.from_iterable(names)))}
        size = max(size, len(places))
        kept = [[places[name] for name in part] for part in names]
    masks = np.zeros((len(rows), size), dtype=bool)
    for mask, columns in zip(masks, kept, strict=True):
        mask[columns] = True
    return list(masks)


def _chosen_ks(ks: Sequence[int]) -> list[int]:
    """The usual numbers where they were computed, else a few spread over what was."""
    usual = [k for k in (5, 10, 20, 50) if k in ks]
    return usual if len(usual) >= 2 or not ks else spread(ks, 4)


def spread(ks: Sequence[int], most: int) -> list[int]:
    """At most so many of the numbers, evenly apart on a logarithmic scale."""
    if len(ks) <= most:
        return list(ks)
    wanted = np.geomspace(ks[0], ks[-1], most)
    return sorted({min(ks, key=lambda k: abs(k - w)) for w in wanted})


def named_k(k: Any) -> str:
    """A number of features as a choice."""
    return "what the model keeps" if k is None else str(k)


def at_k(k: Any) -> str:
    """A number of features within a sentence."""
    return "with the features each model keeps" if k is None else f"at {plural(k, 'feature')}"
