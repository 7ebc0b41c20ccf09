"""The splits that the papers' printed accuracies imply."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._cross_validation import Fold
from ..evaluation.protocol import PROTOCOLS, Protocol, RepeatedSplits, Split, derive_seed


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
    >>> from sparsieve.papers.splits import PaperSplits
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

    def splits(
        self, y: Any, groups: Any = None, *, seed: int, stratified: bool = True, time: Any = None
    ) -> Iterator[Split]:
        """All splits; the same seed gives the same ones."""
        y = np.asarray(y)
        share = Fraction(str(self.train_fraction))  # 0.7 is 7/10, not the double beside it
        for repeat in range(self.n_repeats):
            rng = np.random.default_rng(derive_seed(seed, "split", repeat))
            train = []
            for label in np.unique(y):
                members = rng.permutation(np.flatnonzero(y == label))
                train.append(members[: math.ceil(share * len(members))])
            chosen = np.sort(np.concatenate(train))
            yield Split(repeat, 0, chosen, np.setdiff1d(np.arange(len(y)), chosen))


def fold_rows(protocol: Protocol, y, *, seed: int) -> list[Fold]:
    """The splits of a protocol as rows to train and to test on."""
    return [(split.train, split.test) for split in protocol.splits(y, seed=seed)]


def protocol_from(plain: dict) -> Protocol:
    """The protocol whose ``as_dict`` this is."""
    options = dict(plain)
    kind = options.pop("kind")
    return {**PROTOCOLS, "paper-splits": PaperSplits}[kind](**options)
