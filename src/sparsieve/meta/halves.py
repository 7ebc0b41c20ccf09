"""Complementary halves of the samples, or of the groups that they come in, and runs on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._checks import warn_user
from .._sklearn import check_method_params
from ..scoring.selections import ranking_of
from ..validation.columns import FixedColumns
from ..validation.containers import plain_vector
from ..validation.external import rows_of
from ..validation.target import Target
from .base import reseeded
from .trials import is_learnable

_TRIES = 100


@dataclass(frozen=True)
class SampleUnits:
    """What is halved: samples, or groups of them.

    Attributes
    ----------
    codes : ndarray or None
        Class of every unit, that of most of its samples; None for numbers.
    members : ndarray or None
        Unit of every sample; None where each is one of its own.
    n_units : int
    labels : ndarray or None
        Class of every sample.
    """

    codes: np.ndarray | None
    members: np.ndarray | None
    n_units: int
    labels: np.ndarray | None

    @classmethod
    def of(cls, target: Target, groups: Any = None) -> SampleUnits:
        """Samples, or their groups; refuses what leaves one class in a half."""
        n_samples, labels = len(target.Y), target.codes
        if groups is None:
            if labels is None:
                return cls(None, None, n_samples, None)
            counts = np.bincount(labels)
            if (counts >= 2).sum() < 2:
                raise ValueError(
                    "StabilitySelection splits the samples into halves, so at least two classes "
                    "of y need two samples each"
                )
            if not _in_proportion(counts) and n_samples > 4:
                warn_user(
                    "some classes of y are too small to be split evenly, so the halves are not "
                    "stratified by class"
                )
            return cls(labels, None, n_samples, labels)
        groups = np.asarray(plain_vector("groups", groups))
        if groups.ndim != 1:
            raise ValueError(f"groups must have one entry per sample, got shape {groups.shape}")
        check_consistent_length(target.Y, groups)
        names, members = np.unique(groups, return_inverse=True)
        if len(names) < 4:
            raise ValueError(
                f"StabilitySelection splits the groups into halves, but there are {len(names)}; "
                "give at least 4, or leave groups out"
            )
        if labels is None:
            return cls(None, members, len(names), None)
        table = np.zeros((len(names), len(target.classes)), dtype=np.int64)
        np.add.at(table, (members, labels), 1)
        if ((table > 0).sum(axis=0) >= 2).sum() < 2:
            raise ValueError(
                "StabilitySelection splits the groups into halves, so at least two classes of y "
                "need samples in two groups each"
            )
        return cls(table.argmax(axis=1), members, len(names), labels)

    def halves(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Samples of two disjoint halves of as many units, the classes in proportion."""
        if self.members is None:
            return self._learnable(rng)
        for _ in range(_TRIES):
            first, second = (
                np.flatnonzero(np.isin(self.members, units)) for units in self._dealt(rng)
            )
            if self.labels is None or all(
                len(np.unique(self.labels[half])) > 1 for half in (first, second)
            ):
                return first, second
        raise ValueError(
            "groups cannot be split into halves that both contain two classes of y; merge some "
            "groups"
        )

    def _learnable(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Halves of the samples with two classes in both, one of them with two samples."""
        codes = self.codes
        if codes is None or _in_proportion(np.bincount(codes)):
            return self._dealt(rng)
        for _ in range(_TRIES):
            halves = self._dealt(rng, by_class=False)
            if all(is_learnable(np.bincount(codes[half])) for half in halves):
                return halves
        return self._dealt(rng)  # as far apart as they are, for selectors that need no more

    def _dealt(self, rng: Any, by_class: bool = True) -> tuple[np.ndarray, np.ndarray]:
        order = rng.permutation(self.n_units)
        if self.codes is not None and by_class:
            # Sort by class, classes in random order, and deal like cards.
            place = rng.permutation(self.codes.max() + 1)
            order = order[np.argsort(place[self.codes[order]], kind="stable")]
        order = order[: self.n_units // 2 * 2]
        return np.sort(order[::2]), np.sort(order[1::2])


def run_pair(
    selector: Any,
    X: Any,
    y: Any,
    units: SampleUnits,
    fit_params: dict[str, Any],
    q: int,
    fixed: FixedColumns,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """(the q best features, or groups, of either half in order, sum of the two rankings)."""
    rng = np.random.RandomState(seed)
    tops, ranks = [], np.zeros(1, dtype=np.int64)
    for half in units.halves(rng):
        model = reseeded(selector, rng)
        given = check_method_params(y, fit_params, indices=half)
        model.fit(rows_of(X, half), y[half], **given)
        ranking = ranking_of(model, fixed.n_always + q)
        best = np.argsort(ranking)
        tops.append(best[~fixed.either[best]][:q])
        ranks = ranks + ranking
    return np.array(tops), ranks


def _in_proportion(counts: np.ndarray) -> bool:
    """Whether halves with the classes in proportion have two samples of some class each."""
    return bool(counts.max() > 3 or (counts == 3).sum() > 1)
