"""Which samples train and which test: splits, folds and the course of time; also by group."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from .._checks import check_flag, check_integer
from .folds import checked_groups, choose_strata, make_folds


def derive_seed(*parts: Any) -> int:
    """A 32-bit seed from anything JSON can say; equal parts give equal seeds on any machine.

    Examples
    --------
    >>> from sparsieve.scoring.protocol import derive_seed
    >>> derive_seed(0, "split", 1) == derive_seed(0, "split", 1) != derive_seed(0, "split", 2)
    True
    """
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to test on.

    Attributes
    ----------
    repeat, fold : int
        Which split of the protocol.
    train, test : ndarray of int
        Rows.

    See Also
    --------
    sparsieve.scoring.Folds : Cross-validation, repeated.
    sparsieve.scoring.RepeatedSplits : Random splits, repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import Folds
    >>> y = np.arange(12) % 2
    >>> split = next(iter(Folds(3).splits(y, seed=0)))
    >>> len(split.train), len(split.test)
    (8, 4)
    """

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
        How often they are drawn anew.
    per_class : bool, default=False
        Take exactly the (rounded) fraction of every class. Otherwise the size of the training
        part is exact and the classes are in proportion as far as possible; a target of numbers
        has none.
    grouped : bool, default=False
        Keep all samples of a group (a patient, say) on one side. Classes are then not
        stratified.

    See Also
    --------
    sparsieve.scoring.Folds : Cross-validation, repeated.
    sparsieve.scoring.TimeOrdered : Past and future.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import RepeatedSplits
    >>> y = np.repeat([0, 1], [6, 9])
    >>> splits = list(RepeatedSplits("2/3", n_repeats=2, per_class=True).splits(y, seed=0))
    >>> len(splits), np.bincount(y[splits[0].train]).tolist()
    (2, [4, 6])
    """

    train_fraction: float | str = 0.7
    n_repeats: int = 10
    per_class: bool = False
    grouped: bool = False

    def __post_init__(self) -> None:
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

    def as_dict(self) -> dict[str, Any]:
        """What identifies the protocol, as plain data."""
        return {"kind": "splits", **asdict(self)}

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return self.n_repeats

    def splits(
        self, y: Any, groups: Any = None, *, seed: int, stratified: bool = True, time: Any = None
    ) -> Iterator[Split]:
        """All splits; the same seed gives the same ones.

        Parameters
        ----------
        y : array
        groups : array, default=None
            Which samples belong together, for a grouped protocol.
        seed : int
        stratified : bool, default=True
            Whether y holds classes.
        time : array, default=None
            Not used here, see :class:`TimeOrdered`.
        """
        y, stratified = choose_strata(np.asarray(y), stratified)
        if self.per_class and not stratified:
            raise ValueError(
                "per_class takes a share of every class, but the target holds numbers; leave out "
                "per_class"
            )
        if self.grouped:
            groups = checked_groups(
                _require_groups(groups), len(y), 2, "a training and a test part"
            )
            kind = GroupShuffleSplit
        else:
            groups, kind = None, StratifiedShuffleSplit if stratified else ShuffleSplit
        for repeat in range(self.n_repeats):
            rng_seed = derive_seed(seed, "split", repeat)
            if self.per_class:
                train = drawn_by_class(y, rng_seed, self._n_train)
                test = np.setdiff1d(np.arange(len(y)), train)
            else:
                shuffle = kind(1, train_size=self._share, random_state=rng_seed)
                train, test = next(shuffle.split(y, y, groups))
            yield Split(repeat, 0, np.sort(train), np.sort(test))

    def _n_train(self, n_members: int) -> int:
        """How many of a class train: both sides see every class of two; a single sample trains."""
        return min(max(1, round(self._share * n_members)), max(1, n_members - 1))


@dataclass(frozen=True)
class Folds:
    """Cross-validation, stratified where there are classes, repeated with new folds.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds.
    n_repeats : int, default=1
        How often they are drawn anew.
    grouped : bool, default=False
        Keep all samples of a group (a patient, say) in one fold; the classes are stratified as
        far as the groups allow.

    See Also
    --------
    sparsieve.scoring.RepeatedSplits : Random splits, repeated.
    sparsieve.scoring.TimeOrdered : Past and future.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import Folds
    >>> y = np.arange(20) % 2
    >>> [len(split.test) for split in Folds(4).splits(y, seed=0)]
    [5, 5, 5, 5]
    """

    n_folds: int = 5
    n_repeats: int = 1
    grouped: bool = False

    def __post_init__(self) -> None:
        check_integer("n_folds", self.n_folds, minimum=2)
        check_integer("n_repeats", self.n_repeats)
        check_flag("grouped", self.grouped)

    def as_dict(self) -> dict[str, Any]:
        """What identifies the protocol, as plain data."""
        return {"kind": "folds", **asdict(self)}

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return self.n_folds * self.n_repeats

    def splits(
        self, y: Any, groups: Any = None, *, seed: int, stratified: bool = True, time: Any = None
    ) -> Iterator[Split]:
        """All splits; the same seed gives the same ones, see :meth:`RepeatedSplits.splits`."""
        y = np.asarray(y)
        groups = _require_groups(groups) if self.grouped else None
        for repeat in range(self.n_repeats):
            rng_seed = derive_seed(seed, "split", repeat)
            parts = make_folds(y, self.n_folds, seed=rng_seed, stratified=stratified, groups=groups)
            for fold, (train, test) in enumerate(parts):
                yield Split(repeat, fold, train, test)


@dataclass(frozen=True)
class TimeOrdered:
    """Learn from the past, test on what came next: forward chaining, as TimeSeriesSplit does.

    The moments are cut into ``n_folds + 1`` parts of the same number; fold j trains on the first
    j of them and tests on the next. Samples of the same moment stay on one side.

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds.
    gap : int, default=0
        Moments left out between training and test part.

    See Also
    --------
    sparsieve.scoring.Folds : Cross-validation, repeated.
    sparsieve.scoring.RepeatedSplits : Random splits, repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import TimeOrdered
    >>> splits = TimeOrdered(3).splits(np.arange(8), seed=0)
    >>> [(len(split.train), split.test.tolist()) for split in splits]
    [(2, [2, 3]), (4, [4, 5]), (6, [6, 7])]
    """

    n_folds: int = 5
    gap: int = 0

    def __post_init__(self) -> None:
        check_integer("n_folds", self.n_folds, minimum=2)
        check_integer("gap", self.gap, minimum=0)

    def as_dict(self) -> dict[str, Any]:
        """What identifies the protocol, as plain data."""
        return {"kind": "time", **asdict(self)}

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return self.n_folds

    def splits(
        self,
        y: Any,
        groups: Any = None,
        *,
        seed: int = 0,
        stratified: bool = True,
        time: Any = None,
    ) -> Iterator[Split]:
        """All splits, the samples of every part in order of time; nothing is left to chance.

        Parameters
        ----------
        y : array
        groups : array, default=None
            Where given, what trains has no group in common with what tests: earlier samples of
            such groups are left out.
        seed, stratified
            As in the other protocols, and without effect.
        time : array, default=None
            When the samples were taken; they are in order if not given.
        """
        n_samples = len(y)
        times = np.arange(n_samples) if time is None else np.asarray(time)
        if times.shape != (n_samples,):
            raise ValueError(
                f"time must say of each of the {n_samples} samples when it was taken, got shape "
                f"{times.shape}"
            )
        moments, moment = np.unique(times, return_inverse=True)
        if len(moments) < self.n_folds + 1 + self.gap:
            raise ValueError(
                f"{self.n_folds} folds in order of time"
                + f" with a gap of {self.gap}" * bool(self.gap)
                + f" need at least {self.n_folds + 1 + self.gap} moments, but there "
                f"{'is' if len(moments) == 1 else 'are'} {len(moments)}; ask for fewer"
            )
        if groups is not None:
            groups = checked_groups(groups, n_samples, 2, "a training and a test part")
        order = np.argsort(moment, kind="stable")
        chain = TimeSeriesSplit(self.n_folds, gap=self.gap)
        for fold, (before, after) in enumerate(chain.split(moments)):
            train = order[np.isin(moment[order], before)]
            test = order[np.isin(moment[order], after)]
            if groups is not None:
                train = train[~np.isin(groups[train], groups[test])]
                if not len(train):
                    raise ValueError(
                        f"fold {fold} in order of time has no sample to train on whose group does "
                        "not occur among those to test on; leave out groups, or split by groups"
                    )
            yield Split(0, fold, train, test)


Protocol = RepeatedSplits | Folds | TimeOrdered
PROTOCOLS: dict[str, type[Protocol]] = {
    "splits": RepeatedSplits,
    "folds": Folds,
    "time": TimeOrdered,
}


def drawn_by_class(y: np.ndarray, seed: int, count: Callable[[int], int]) -> np.ndarray:
    """Some samples of every class, as many as ``count`` says for its size."""
    rng = np.random.default_rng(seed)
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    return np.sort(np.concatenate([some[: count(len(some))] for some in classes]))


def _require_groups(groups):
    if groups is None:
        raise ValueError(
            "a grouped protocol needs groups, but the data set has none; name their column with "
            "groups, or leave out grouped"
        )
    return groups
