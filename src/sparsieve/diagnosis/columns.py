"""What single columns are like, and whether all of them are raw counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, stats

_GREY_LEVELS = 300  # pictures have values up to 255


def raw_counts(
    X: Any, low: np.ndarray, high: np.ndarray, mean: np.ndarray
) -> tuple[float, float] | None:
    """Whether X holds whole numbers from 0 over several decades, in samples of unequal totals.

    Numbers below 300 may be grey levels or points: counts have no largest value that many columns
    reach.

    ``low``, ``high`` and ``mean`` are those of every column. Returns the largest value, and by
    which factor the totals of samples differ (of four in five).
    """
    if len(mean) < 50 or not (low >= 0).all() or not high.max() >= 10:
        return None  # totals of few columns say nothing of depth; answers and genotypes
    at_the_top = int((high == high.max()).sum())
    if high.max() < _GREY_LEVELS and at_the_top > max(2, 0.01 * len(high)):
        return None  # a scale with an end: pictures, points, answers
    few, many = np.quantile(mean[mean > 0], [0.1, 0.9])
    some = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:500])]
    values = some.data if sparse.issparse(some) else some
    if many < 10.0 * few or not (values == np.rint(values)).all():
        return None
    totals = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    small, large = np.maximum(np.quantile(totals, [0.1, 0.9]), 1.0)
    # Where no value is large: words of texts, whose lengths go with what they are about.
    least = 1.1 if high.max() >= _GREY_LEVELS else 2.5
    return (float(high.max()), large / small) if large >= least * small else None


CHANCE = 0.01  # expected number of columns that noise would show, above which nothing is said


@dataclass(frozen=True)
class Extent:
    """How far the values of every column go; gaps are passed over.

    Attributes
    ----------
    low, high, mean, std : ndarray of shape (n_features,)
    gaps : ndarray of bool
        Where values are missing.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    gaps: np.ndarray

    @staticmethod
    def from_data(X: Any) -> Extent:
        """A few passes over X; columns with gaps are looked at again."""
        low, high, mean, std = spread(X)
        gaps = np.isnan(low)
        every = np.arange(X.shape[0])
        for some, values in chunks(X, np.flatnonzero(gaps), every):
            there = ~np.isnan(values)
            count = np.maximum(there.sum(axis=0), 1)
            low[some], high[some] = np.fmin.reduce(values), np.fmax.reduce(values)
            mean[some] = np.where(there, values, 0.0).sum(axis=0) / count
            centred = np.where(there, values - mean[some], 0.0)
            std[some] = np.sqrt((centred**2).sum(axis=0) / count)
        return Extent(low, high, mean, std, gaps)

    @property
    def _finite(self) -> np.ndarray:
        return np.isfinite(self.low) & np.isfinite(self.high) & np.isfinite(self.std)

    @property
    def _varies(self) -> np.ndarray:
        return self._finite & (self.low < self.high) & (self.std > 0)

    @property
    def varying(self) -> np.ndarray:
        """Columns with more than one finite value."""
        return np.flatnonzero(self._varies)

    @property
    def whole(self) -> np.ndarray:
        """Those of them without gaps."""
        return np.flatnonzero(self._varies & ~self.gaps)

    @property
    def constant(self) -> np.ndarray:
        """Columns of a single value without gaps."""
        return np.flatnonzero(self._finite & (self.low == self.high) & ~self.gaps)

    @property
    def std_of_varying(self) -> np.ndarray:
        """Standard deviations, 0 where there is nothing to compare."""
        return np.where(self._varies, self.std, 0.0)


def spread(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(lowest, highest, mean, standard deviation) of every column; NaN where one is missing."""
    if sparse.issparse(X):
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        n_samples, n_columns = X.shape
        X = X.tocsc()
        column = np.repeat(np.arange(n_columns), np.diff(X.indptr))
        mean = np.bincount(column, weights=X.data, minlength=n_columns) / n_samples
        away = np.bincount(column, weights=(X.data - mean[column]) ** 2, minlength=n_columns)
        zeros = n_samples - np.diff(X.indptr)
        return low, high, mean, np.sqrt((away + zeros * mean**2) / n_samples)
    mean, std = (f(axis=0, dtype=np.float64) for f in (X.mean, X.std))
    return X.min(axis=0), X.max(axis=0), mean, std


def chunks(X: Any, columns: np.ndarray, rows: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """(some of the columns, their values in these rows), a few million dense values at a time."""
    at_once = max(1, 4_000_000 // max(1, X.shape[0] if sparse.issparse(X) else len(rows)))
    for start in range(0, len(columns), at_once):
        some = columns[start : start + at_once]
        if sparse.issparse(X):
            part = X[:, some].toarray()[rows]
        elif some[-1] - some[0] == len(some) - 1:
            part = X[rows, some[0] : some[-1] + 1]
        else:
            part = X[np.ix_(rows, some)]
        yield some, np.asarray(part, dtype=np.float64)


def read_column(X: Any, column: int) -> np.ndarray:
    """One column in double precision."""
    values = X[:, [column]]
    values = values.toarray() if sparse.issparse(values) else values
    return np.asarray(values, dtype=np.float64)[:, 0]


def full_columns(X: Any, columns: np.ndarray, least: float) -> np.ndarray:
    """Those of the columns that hold at least so many values other than zero.

    All columns of an array are looked at anyway; of a sparse matrix, in CSC form, few are that
    full.
    """
    if not sparse.issparse(X):
        return columns
    return columns[np.diff(X.indptr)[columns] >= least]


def numbering(X: Any, columns: np.ndarray) -> np.ndarray:
    """Those of the columns that rise or fall with every row."""
    n_samples = X.shape[0]
    if math.log(2 * X.shape[1]) - math.lgamma(n_samples + 1) > math.log(CHANCE):
        return columns[:0]
    found = full_columns(X, columns, n_samples - 1)  # at most one value is zero
    for size in (10, n_samples):  # few columns pass the first rows
        rising = [_monotone(part) for _, part in chunks(X, found, np.arange(min(size, n_samples)))]
        found = found[np.concatenate([np.zeros(0, dtype=bool), *rising])]
    return found


def _monotone(values: np.ndarray) -> np.ndarray:
    step = np.diff(values, axis=0)
    return np.logical_or((step > 0).all(axis=0), (step < 0).all(axis=0))


def pair_chance(n_samples: int, level: float) -> float:
    """How likely two columns of noise are correlated above a level in size."""
    if n_samples < 3:
        return 1.0
    t = level * math.sqrt((n_samples - 2) / (1.0 - level**2))
    return float(2.0 * stats.t.sf(t, n_samples - 2))
