"""A support that no near copy of one of its features enters, whatever is fitted on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .redundancy import Company, Redundancy


class DistinctSupport:
    """Passes on what a support says, once near copies of its features are closed to it.

    Near copies are found when a change would bring one in: then all those of the same feature are
    closed, for as long as it stays.

    Parameters
    ----------
    support : object with the methods of a support, and ``shut(features, is_shut)``
    redundancy : Redundancy
    """

    support: Any
    company: Company

    def __init__(self, support: Any, redundancy: Redundancy) -> None:
        self.support, self.company = support, Company(redundancy)
        self.order: list[int] = support.order  # the same list, always
        # By features of the support, and always kept ones.
        self._shut_by: dict[int, np.ndarray] = {}
        self._count: np.ndarray = np.zeros(redundancy.n_units, dtype=np.int64)

    @property
    def objective(self) -> float:
        """What these features reach."""
        return self.support.objective

    def gains(self) -> np.ndarray:
        """What every feature outside would gain; 0 for near copies."""
        return self.support.gains()

    def cheapest(self) -> int:
        """The feature that costs least to take out."""
        return self.support.cheapest()

    def best_addition(self) -> tuple[int, float]:
        """The feature to add, and its gain."""
        while True:
            feature, gain = self.support.best_addition()
            if not gain > 0 or (near := self.company.closest(feature)) is None:
                return feature, gain
            self._shut(near)

    def best_exchange(self) -> tuple[Sequence[int], Sequence[int], float]:
        """Features out, features in, and the decrease of the objective."""
        while True:
            out, into, decrease = self.support.best_exchange()
            if not decrease > 0:
                return out, into, decrease
            found = (self.company.closest(feature, without=out) for feature in into)
            near = next((one for one in found if one is not None), None)
            if near is None:
                return out, into, decrease
            self._shut(near)

    def add(self, feature: int) -> None:
        """Take a feature in."""
        self.support.add(feature)
        self.company.add(feature)

    def remove(self, feature: int) -> None:
        """Take a feature out, and let its near copies come again."""
        self.support.remove(feature)
        self.company.remove(feature)
        if feature in self._shut_by:
            copies = self._shut_by.pop(feature)
            self._count[copies] -= 1
            self.support.shut(copies[self._count[copies] == 0], False)

    def _shut(self, near: int) -> None:
        before = self._shut_by.get(near, np.empty(0, dtype=np.int64))
        copies = np.setdiff1d(self.company.redundancy.copies(near), [*self.order, *before])
        self.support.shut(copies[self._count[copies] == 0], True)
        self._count[copies] += 1
        self._shut_by[near] = np.concatenate([before, copies])
