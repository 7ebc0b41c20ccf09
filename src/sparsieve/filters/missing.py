"""What a missing value counts in ReliefF: the expected difference, given the class."""

from __future__ import annotations

import numpy as np


class IncompleteColumns:
    """Columns with missing values (NaN) and the differences of their pairs of samples.

    A missing value of a sample of group g differs from the value of sample j by the mean
    difference between the known values of g and that value: with discrete columns this is
    1 - P(value of j | g). Where j is missing as well, the mean runs over the known values of
    both groups. A group without any known value takes those of all samples.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Scaled values or codes, with NaN.
    discrete : ndarray of bool, shape (n_columns,)
        Columns that count u != v instead of |u - v|.
    groups : ndarray of int, shape (n_samples,)
        Class of every sample.
    """

    def __init__(self, values: np.ndarray, discrete: np.ndarray, groups: np.ndarray):
        self.values: np.ndarray = np.asfortranarray(values)
        self.discrete = discrete
        self.groups = groups
        self.missing: np.ndarray = np.isnan(self.values)
        self._table = [self._expected_differences(f) for f in range(values.shape[1])]

    def add_distances(self, rows: np.ndarray, columns: np.ndarray, distances: np.ndarray) -> None:
        """Add these columns to the distances between the samples ``rows`` and ``columns``."""
        for f in range(self.values.shape[1]):
            values, missing, table = self.values[:, f], self.missing[:, f], self._table[f]
            differences = self._differences(f, values[rows, None], values[columns])
            unknown = np.flatnonzero(missing[columns])
            absent = columns[unknown]
            differences[:, unknown] = table[self.groups[absent][:, None], rows].T
            unknown = np.flatnonzero(missing[rows])
            absent = rows[unknown]
            differences[unknown] = table[self.groups[absent][:, None], columns]
            distances += differences

    def weighted_differences(
        self, first: np.ndarray, second: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Sum over the pairs (first, second) of weight * difference, for every column."""
        sums = np.zeros(self.values.shape[1])
        for f in range(len(sums)):
            values, missing, table = self.values[:, f], self.missing[:, f], self._table[f]
            differences = self._differences(f, values[first], values[second])
            for one, other in ((second, first), (first, second)):
                unknown = np.flatnonzero(missing[one])
                differences[unknown] = table[self.groups[one[unknown]], other[unknown]]
            sums[f] = weights @ differences
        return sums

    def _differences(self, f: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (u != v).astype(np.float64) if self.discrete[f] else np.abs(u - v)

    def _expected_differences(self, f: int) -> np.ndarray:
        """Expected difference of a missing value of each group to each sample."""
        values, known = self.values[:, f], ~self.missing[:, f]
        members = np.zeros((self.groups.max() + 1, len(values)))
        members[self.groups[known], np.flatnonzero(known)] = 1.0
        members[members.sum(axis=1) == 0] = known
        members /= members.sum(axis=1, keepdims=True)
        table = np.zeros_like(members)
        among = self._differences(f, values[known, None], values[known])
        table[:, known] = members[:, known] @ among
        table[:, ~known] = (table @ members.T)[:, self.groups[~known]]
        return table
