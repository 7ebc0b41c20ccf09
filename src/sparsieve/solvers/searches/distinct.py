"""Searches that pass over near copies of what they have taken.

A support that no near copy of one of its features enters, whatever is fitted on it.

A path that near copies of its features are kept away from, at next to no cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import blas

from .forward_scores import Features
from .redundancy import Company, Redundancy, correlation


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


# What rounding may take from the residual of a column, or from a correlation.
SLACK = 1e-3


class DistinctPath:
    """Says of the next feature of a path whether it is a near copy of one that was taken.

    Most often it is not, which what a step knows anyway tells. Of a column with the correlation r
    with a column s that was taken, the directions have taken out at least r^2 ||s||^2 / (||s||^2 +
    ridge), as a share of its squared norm; and its products with the directions are also those with
    the columns taken, which are combinations of them. Only where these come close to the limit are
    two columns compared, in double precision.

    Parameters
    ----------
    features : Features
        Before the first step.
    redundancy : Redundancy
    """

    features: Features
    redundancy: Redundancy

    def __init__(self, features: Features, redundancy: Redundancy) -> None:
        self.features, self.redundancy = features, redundancy
        self._company = None
        if not redundancy.is_plain:  # products are no correlations: all columns are compared
            self._company = Company(redundancy)
            return
        norms = features.norms
        redundancy.squares = norms.astype(np.float64, copy=False)
        self._shortest = float(redundancy.lengths[features.open].min(initial=np.inf))
        taken = redundancy.limit**2 / (1.0 + features.ridge / self._shortest**2)
        self._most_left: np.ndarray = (1.0 - taken + SLACK) * norms
        self._order: list[int] = []
        self._columns: list[np.ndarray] = []
        self._place_of_largest = blas.idamax if norms.dtype == np.float64 else blas.isamax

    def passes_over(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> bool:
        """Close near copies of a feature that was taken if j is one of them; take it if not.

        ``along`` are the products of its column with the directions, which times ``factor`` are the
        columns taken.
        """
        company = self._company
        if company is not None:
            columns = column[:, None] if self.redundancy.weights is None else None
            near = company.closest(j, columns)
            if near is None:
                company.add(j, columns)
        else:
            near = self._nearest(j, column, along, factor)
            if near is None:
                self._order.append(j)
                self._columns.append(column)
        if near is not None:
            self.features.pass_over(self.redundancy.copies(near))
        return near is not None

    def _nearest(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> int | None:
        if not self._order or self.features.residual[j] > self._most_left[j]:
            return None
        limit, lengths = self.redundancy.limit, self.redundancy.lengths
        products, least = along @ factor, (limit - SLACK) * float(lengths[j])
        if abs(products[self._place_of_largest(products)]) < least * self._shortest:
            return None
        sizes = np.abs(products) / lengths[self._order]
        place = int(np.argmax(sizes))
        if sizes[place] < least:
            return None
        near, strength = self._order[place], correlation(self._columns[place], column)
        if abs(strength) < limit:
            return None
        self.redundancy.found.setdefault(near, {})[j] = strength
        return near
