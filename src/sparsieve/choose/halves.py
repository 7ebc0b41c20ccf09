"""Complementary halves of the samples, or of the groups that they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..selectors.plain import plain_vector
from ..selectors.target import Target

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
            if labels is not None and (np.bincount(labels) >= 2).sum() < 2:
                raise ValueError(
                    "StabilitySelection halves the samples: at least two classes of y need two "
                    "samples each"
                )
            return cls(labels, None, n_samples, labels)
        groups = np.asarray(plain_vector("groups", groups))
        if groups.ndim != 1:
            raise ValueError(
                f"groups must name one group for each sample, got shape {groups.shape}"
            )
        check_consistent_length(target.Y, groups)
        names, members = np.unique(groups, return_inverse=True)
        if len(names) < 4:
            raise ValueError(
                f"StabilitySelection halves the groups, but there are {len(names)}; give at least "
                "4, or leave groups out"
            )
        if labels is None:
            return cls(None, members, len(names), None)
        table = np.zeros((len(names), len(target.classes)), dtype=np.int64)
        np.add.at(table, (members, labels), 1)
        if ((table > 0).sum(axis=0) >= 2).sum() < 2:
            raise ValueError(
                "StabilitySelection halves the groups: at least two classes need samples in two "
                "groups each"
            )
        return cls(table.argmax(axis=1), members, len(names), labels)

    def halves(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Samples of two disjoint halves of as many units, the classes in proportion."""
        if self.members is None:
            return self._dealt(rng)
        for _ in range(_TRIES):
            first, second = (
                np.flatnonzero(np.isin(self.members, units)) for units in self._dealt(rng)
            )
            if self.labels is None or all(
                len(np.unique(self.labels[half])) > 1 for half in (first, second)
            ):
                return first, second
        raise ValueError(
            "no halves of the groups with two classes in both were found; join some groups"
        )

    def _dealt(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        order = rng.permutation(self.n_units)
        if self.codes is not None:
            # Sort by class, classes in random order, and deal like cards.
            place = rng.permutation(self.codes.max() + 1)
            order = order[np.argsort(place[self.codes[order]], kind="stable")]
        order = order[: self.n_units // 2 * 2]
        return np.sort(order[::2]), np.sort(order[1::2])
