"""Splits that only papers need: those that printed accuracies imply, and parts of a protocol."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.scoring.folds import Fold
from sparsieve.scoring.protocol import PROTOCOLS, Folds, Protocol, RepeatedSplits, Split


@dataclass(frozen=True)
class PaperSplits(RepeatedSplits):
    """Random splits where a class gives the test part what its training share leaves over.

    Of a class of n samples ``ceil(share n)`` train and the rest test, in exact fractions: printed
    accuracies are multiples of one over the sum of these rests, not of sizes rounded to nearest.
    So a class may be too small to be tested at all.

    Parameters
    ----------
    train_fraction : float or str, default="2/3"
        Share of every class to train on.
    n_repeats : int, default=10

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve_experiments.papers.splits import PaperSplits
    >>> y = np.repeat([0, 1], [27, 11])
    >>> [len(split.test) for split in PaperSplits("2/3", 2).splits(y, seed=0)]
    [12, 12]
    """

    train_fraction: float | str = "2/3"
    n_repeats: int = 10
    per_class: bool = True

    def as_dict(self) -> dict:
        """What identifies the protocol, as plain data."""
        return {**super().as_dict(), "kind": "paper-splits"}

    def _n_train(self, n_members: int) -> int:
        # 0.7 is 7/10, not the double beside it.
        return math.ceil(Fraction(str(self.train_fraction)) * n_members)


@dataclass(frozen=True)
class FirstFolds(Folds):
    """The first few of the folds, for sets on which all of them take too long.

    Parameters
    ----------
    n_folds, n_repeats : int
        As in :class:`sparsieve.scoring.Folds`; the samples are divided in the same way.
    n_first : int, default=2
        How many folds of every repeat are tested on.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve_experiments.papers.splits import FirstFolds
    >>> y = np.arange(20) % 2
    >>> [len(split.test) for split in FirstFolds(4, n_first=3).splits(y, seed=0)]
    [5, 5, 5]
    """

    n_first: int = 2

    def as_dict(self) -> dict:
        """What identifies the protocol, as plain data."""
        return {**super().as_dict(), "kind": "first-folds"}

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return self.n_repeats * min(self.n_first, self.n_folds)

    def splits(
        self, y: Any, groups: Any = None, *, seed: int, stratified: bool = True, time: Any = None
    ) -> Iterator[Split]:
        """The first splits of every repeat; the same seed gives the same ones."""
        whole = super().splits(y, groups, seed=seed, stratified=stratified, time=time)
        return (split for split in whole if split.fold < self.n_first)


def fold_rows(protocol: Protocol, y, *, seed: int) -> list[Fold]:
    """The splits of a protocol as rows to train and to test on."""
    return [(split.train, split.test) for split in protocol.splits(y, seed=seed)]


def standardised_parts(
    X: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Both parts, centred and scaled by the training part."""
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])


def protocol_from(plain: dict) -> Protocol:
    """The protocol whose ``as_dict`` this is."""
    options = dict(plain)
    kind = options.pop("kind")
    kinds = {**PROTOCOLS, "paper-splits": PaperSplits, "first-folds": FirstFolds}
    return kinds[kind](**options)


def like_a_study(
    study: str, label: str, outcome: Mapping[str, Any], tuning: str = "none"
) -> list[dict[str, Any]]:
    """Rows as :func:`sparsieve_experiments.studies.result_rows` gives them, as far as means
    need them.

    Parameters
    ----------
    study : str
        The study beside which the rows stand.
    label : str
        What to call the method.
    outcome : mapping
        Of a job: dataset, parameters, protocol, seconds, and the scores and selections of a
        :class:`sparsieve.scoring.curves.Curve`.
    tuning : str, default="none"
        How parameters are chosen, see :class:`sparsieve_experiments.studies.SelectorSpec`.
    """
    facts = {selection["k"]: selection for selection in outcome["selections"]}
    return [
        {
            "study": study,
            "dataset": outcome["dataset"],
            "selector": label,
            "class": label,
            "parameters": json.dumps(outcome["parameters"], sort_keys=True),
            "tuning": tuning,
            "protocol": json.dumps(outcome["protocol"], sort_keys=True),
            "precision": None,
            "recall": None,
            "seconds": outcome["seconds"],
            "peak_mib": None,
            **facts[score["k"]],
            **score,
        }
        for score in outcome["scores"]
    ]
