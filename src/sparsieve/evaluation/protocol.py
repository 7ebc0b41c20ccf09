"""Which samples train and which test: repeated splits and folds, stratified or by group."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from numbers import Real

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedShuffleSplit,
)

from .._checks import check_flag, check_integer
from .._cross_validation import make_folds


def derive_seed(*parts) -> int:
    """A 32-bit seed from anything JSON can say; equal parts give equal seeds on any machine.

    Examples
    --------
    >>> from sparsieve.evaluation.protocol import derive_seed
    >>> derive_seed(0, "split", 1) == derive_seed(0, "split", 1) != derive_seed(0, "split", 2)
    True
    """
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Split:
    """Rows to train and to test on; ``repeat`` and ``fold`` say which split of a protocol."""

    repeat: int
    fold: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class RepeatedSplits:
    """Random splits into a training and a test part, again and again.

    Parameters
    ----------
    train_fraction : float or str, default=0.7
        Share of the samples (of the groups, if ``grouped``) to train on; text such as "2/3" is
        understood.
    n_repeats : int, default=10
    per_class : bool, default=False
        Take exactly the (rounded) fraction of every class. Otherwise the size of the training
        part is exact and the classes are in proportion as far as possible.
    grouped : bool, default=False
        Keep all samples of a group (a patient, say) on one side. Classes are then not
        stratified.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.evaluation import RepeatedSplits
    >>> y = np.repeat([0, 1], [6, 9])
    >>> splits = list(RepeatedSplits("2/3", n_repeats=2, per_class=True).splits(y, seed=0))
    >>> len(splits), np.bincount(y[splits[0].train]).tolist()
    (2, [4, 6])
    """

    train_fraction: float | str = 0.7
    n_repeats: int = 10
    per_class: bool = False
    grouped: bool = False

    def __post_init__(self):
        _ = self._share
        check_integer("n_repeats", self.n_repeats)
        check_flag("per_class", self.per_class)
        check_flag("grouped", self.grouped)
        if self.per_class and self.grouped:
            raise ValueError("per_class and grouped exclude each other: groups mix classes")

    @property
    def _share(self) -> float:
        text = self.train_fraction
        try:
            share = float(Fraction(text)) if isinstance(text, str) else text
        except (ValueError, ZeroDivisionError):
            share = None
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
            raise ValueError(
                f'train_fraction must lie between 0 and 1, such as 0.7 or "2/3", got {text!r}'
            )
        return float(share)

    def as_dict(self) -> dict:
        """What identifies the protocol, as plain data."""
        return {"kind": "splits", **asdict(self)}

    def splits(self, y, groups=None, *, seed: int) -> Iterator[Split]:
        """All splits; the same seed gives the same ones."""
        y = np.asarray(y)
        for repeat in range(self.n_repeats):
            rng_seed = derive_seed(seed, "split", repeat)
            if self.per_class:
                train, test = _per_class(y, self._share, rng_seed)
            elif self.grouped:
                shuffle = GroupShuffleSplit(1, train_size=self._share, random_state=rng_seed)
                train, test = next(shuffle.split(y, y, _needed(groups)))
            else:
                stratified = StratifiedShuffleSplit(
                    1, train_size=self._share, random_state=rng_seed
                )
                train, test = next(stratified.split(y, y))
            yield Split(repeat, 0, np.sort(train), np.sort(test))


@dataclass(frozen=True)
class Folds:
    """Stratified cross-validation, repeated with new folds.

    Parameters
    ----------
    n_folds : int, default=5
    n_repeats : int, default=1
    grouped : bool, default=False
        Keep all samples of a group (a patient, say) in one fold; the classes are stratified as
        far as the groups allow.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.evaluation import Folds
    >>> y = np.arange(20) % 2
    >>> [len(split.test) for split in Folds(4).splits(y, seed=0)]
    [5, 5, 5, 5]
    """

    n_folds: int = 5
    n_repeats: int = 1
    grouped: bool = False

    def __post_init__(self):
        check_integer("n_folds", self.n_folds, minimum=2)
        check_integer("n_repeats", self.n_repeats)
        check_flag("grouped", self.grouped)

    def as_dict(self) -> dict:
        """What identifies the protocol, as plain data."""
        return {"kind": "folds", **asdict(self)}

    def splits(self, y, groups=None, *, seed: int) -> Iterator[Split]:
        """All splits; the same seed gives the same ones."""
        y = np.asarray(y)
        groups = _needed(groups) if self.grouped else None
        for repeat in range(self.n_repeats):
            rng_seed = derive_seed(seed, "split", repeat)
            parts = make_folds(y, self.n_folds, seed=rng_seed, groups=groups)
            for fold, (train, test) in enumerate(parts):
                yield Split(repeat, fold, train, test)


PROTOCOLS = {"splits": RepeatedSplits, "folds": Folds}


def _per_class(y: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    train = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        # Both sides see every class that has two samples; a single sample trains.
        count = min(max(1, round(share * len(members))), max(1, len(members) - 1))
        train.append(members[:count])
    chosen = np.concatenate(train)
    return chosen, np.setdiff1d(np.arange(len(y)), chosen)


def _needed(groups):
    if groups is None:
        raise ValueError(
            "a grouped protocol needs groups, but the data set has none; name their column with "
            "groups, or leave out grouped"
        )
    return groups
