"""What groups of columns reach, prices included, and how sure that is."""

from __future__ import annotations

import numpy as np

from ...design import DesignMatrix
from .support_values import EPS, Accuracy, SupportValues, Values, Whole


class GroupValues(SupportValues):
    """Objectives of sets out of a few groups; a column of several groups counts once.

    Relaxations see a copy of it in each of them. Copies share a coefficient, whose square they
    thereby lower, so that the relaxations still bound from below.

    Parameters
    ----------
    design, Y, ridge, accuracy : of the whole problem.
    groups : the columns of these groups.
    prices : what each of them adds to the objective.
    dearest : the largest price in the whole problem.
    """

    dearest: float
    prices: np.ndarray

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        accuracy: Accuracy,
        groups: list[np.ndarray],
        prices: np.ndarray,
        dearest: float,
    ):
        features = np.concatenate([np.arange(0), *groups])
        super().__init__(design.dense_columns(features), Y, ridge, accuracy, features)
        self._paid, self.prices, self.dearest = prices, prices, dearest
        self.discounts: np.ndarray = dearest - prices
        ends = np.cumsum([len(some) for some in groups], dtype=np.int64)
        self._spans = [
            np.arange(end - len(some), end) for some, end in zip(groups, ends, strict=True)
        ]
        self._sizes = np.array([len(some) for some in groups], dtype=np.int64)
        known, first, place = np.unique(features, return_index=True, return_inverse=True)
        self._once: np.ndarray | None = None  # the first of the copies of every column
        if len(known) < len(features):
            self._once = first[place]

    def __len__(self) -> int:
        return len(self._spans)

    def column_places(self, units: np.ndarray) -> np.ndarray:
        """Places of the columns of these groups, with all copies."""
        return np.concatenate([np.arange(0), *(self._spans[int(g)] for g in units)])

    def unit_numbers(self, units: np.ndarray) -> np.ndarray:
        """For each of these columns the place of its group in ``units``."""
        return np.repeat(np.arange(len(units)), self._sizes[units])

    def sum_by_unit(self, values: np.ndarray) -> np.ndarray:
        """One number per column added up within groups, upwards."""
        return np.array(
            [values[span].sum() * (1.0 + (len(span) + 4) * EPS) for span in self._spans]
        )

    def evaluate(self, supports: np.ndarray) -> Values:
        """The values of sets with one number of groups."""
        fit = self._fits(supports)
        paid = self._paid[supports].sum(axis=1)
        error = (supports.shape[1] + 4) * EPS
        low, high = fit.low + paid, fit.high + paid
        return Values(fit.value + paid, low * (1.0 - error), high * (1.0 + error))

    def lows(self, supports: np.ndarray, k: int) -> np.ndarray:
        """What k of the groups of every set reach at least."""
        if self.ridge == 0.0 and self._sizes[supports].sum(axis=1).max() >= len(self.Y):
            return np.full(len(supports), self._least_paid(k))
        return self._fits(supports).low + self._least_paid(k)

    def whole(self, places: np.ndarray, k: int) -> Whole:
        """A lower bound for k groups out of these, and roughly what each of them is worth."""
        columns = self._union(places)
        together = super().whole(columns, k)
        worth = np.zeros(len(self.features))
        worth[columns] = together.costs
        every = self.column_places(places)
        every = every if self._once is None else self._once[every]
        costs = np.bincount(self.unit_numbers(places), weights=worth[every], minlength=len(places))
        return Whole(together.low + self._least_paid(k), costs - self._paid[places])

    def best_addition(self, support: np.ndarray) -> int | None:
        """The group with which a set reaches least; None if there is no other."""
        others = np.setdiff1d(np.arange(len(self)), support)
        if not len(others):
            return None
        tried = np.hstack([np.repeat(support[None], len(others), axis=0), others[:, None]])
        return int(others[np.argmin(self.evaluate(tried).value)])

    def _least_paid(self, k: int) -> float:
        return float(np.sort(self._paid)[:k].sum()) * (1.0 - (k + 4) * EPS)

    def _union(self, units: np.ndarray) -> np.ndarray:
        """Places of the columns of these groups, each column once."""
        columns = self.column_places(units)
        return columns if self._once is None else np.unique(self._once[columns])

    def _fits(self, supports: np.ndarray) -> Values:
        """The values without prices; sets with as many columns are factorised together."""
        unions = [self._union(support) for support in supports]
        totals = np.array([len(columns) for columns in unions], dtype=np.int64)
        found = np.empty((3, len(supports)))
        for total in np.unique(totals):
            same = np.flatnonzero(totals == total)
            columns = np.array([unions[i] for i in same], dtype=np.int64)
            found[:, same] = super().evaluate(columns.reshape(len(same), int(total)))
        return Values(*found)
