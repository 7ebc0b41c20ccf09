"""Distances of ReliefF, for columns in memory and in blocks.

What ReliefF compares of an X in memory: the columns that vary, scaled when they are read.

Of a sparse X two tiles of samples (2 x 256 x n_features numbers) or a narrow block of columns are
dense at any time, never all of it. An entry that is not stored is a zero like any other.

ReliefF on an X that is read in blocks of rows: three passes, with the queries at hand.

The sampled queries are few and are sent to every block; a block answers with its nearest samples
of each query, and later with its share of the sums of weighted differences. What moves is
(n_queries x n_features) once and n_features numbers per block after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from ..design import DesignMatrix, RowBlockedDesign
from ..design.base import slices

# Numbers per block when pairs are summed: the block of all samples should stay in cache.
BLOCK_VALUES = 1 << 16
# Columns that are scaled at a time for a tile of distances, four of which are added together.
TILE_COLUMNS = 512


@dataclass(frozen=True)
class Features:
    """The columns that vary, scaled: numeric ones to [0, 1], discrete ones to gaps above 1.

    The numeric columns come first; ``order`` names the columns in X, those of ``incomplete``
    last.
    """

    X: Any  # an array, or sparse rows
    by_column: Any  # the same, or sparse columns
    order: np.ndarray
    low: np.ndarray
    span: np.ndarray
    n_numeric: int
    n_complete: int
    n_samples: int
    incomplete: IncompleteColumns | None

    def scaled_block(
        self, samples: np.ndarray | slice, start: int = 0, stop: int | None = None
    ) -> np.ndarray:
        """These samples of the complete columns start..stop, transposed and in double precision."""
        part = slice(start, self.n_complete if stop is None else stop)
        block = self._block(samples, self.order[part])
        scaled = np.subtract(block, self.low[part, None], order="C")
        scaled /= self.span[part, None]
        return scaled

    def _block(self, samples: np.ndarray | slice, columns: np.ndarray) -> np.ndarray:
        """These columns of X for these samples, transposed."""
        start, stop = (int(columns[0]), int(columns[-1]) + 1) if len(columns) else (0, 0)
        is_range = np.array_equal(columns, np.arange(start, stop))
        if isinstance(samples, slice) and samples == slice(None):
            block = self.by_column[:, slice(start, stop) if is_range else columns]
        elif is_range:
            block = self.X[samples, start:stop]
        else:
            block = self.X[samples][:, columns]
        return (block.toarray() if sparse.issparse(block) else block).T

    def distances(self, rows: slice | np.ndarray, columns: slice, same: bool) -> np.ndarray:
        """Between these samples; of the ``same`` above the diagonal alone."""
        from ._relieff_kernels import add_distances

        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        tile = np.zeros((n_rows, columns.stop - columns.start))
        for part in slices(self.n_complete, TILE_COLUMNS):
            theirs = self.scaled_block(columns, part.start, part.stop)
            own = theirs if same else self.scaled_block(rows, part.start, part.stop)
            n_numeric = min(max(self.n_numeric - part.start, 0), len(own))
            add_distances(own, theirs, n_numeric, same, tile)
        return tile

    def pair_sums(self, pairs: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        """Sum over pairs of samples of weight * difference, for every complete column."""
        from ._relieff_kernels import add_differences

        csr = (pairs.indptr.astype(np.intp), pairs.indices.astype(np.intp), pairs.data)
        width = max(8, BLOCK_VALUES // self.n_samples)
        edges = [*range(0, self.n_numeric, width), self.n_numeric]
        edges += [*range(self.n_numeric + width, self.n_complete, width), self.n_complete]

        def block_sum(start: int, stop: int) -> np.ndarray:
            block = np.ascontiguousarray(self.scaled_block(slice(None), start, stop).T)
            total = np.zeros(stop - start)
            add_differences(block, start >= self.n_numeric, *csr, total)
            return total

        blocks = [(start, stop) for start, stop in pairwise(edges) if stop > start]
        return np.concatenate([np.zeros(0), *in_threads(block_sum, blocks, n_jobs)])


def features_in_memory(X: Any, discrete: np.ndarray, groups: np.ndarray) -> Features:
    """The columns of an array or a sparse matrix that vary, small data as a scaled copy."""
    is_sparse = sparse.issparse(X)
    if is_sparse:
        X, by_column = sparse.csr_array(X), sparse.csc_array(X)
        low, high = (
            extreme(axis=0).toarray().ravel().astype(np.float64)
            for extreme in (by_column.nanmin, by_column.nanmax)
        )
        missing = np.zeros(len(low), dtype=bool)
        missing[np.unique(X.indices[np.isnan(X.data)])] = True
    else:
        by_column = X
        # fmin and fmax skip missing values without a word.
        low, high = (f.reduce(X, axis=0).astype(np.float64) for f in (np.fmin, np.fmax))
        missing = np.isnan(X).any(axis=0) if np.isnan(X.sum()) else np.zeros(len(low), dtype=bool)

    def dense(columns: np.ndarray) -> np.ndarray:
        return by_column[:, columns].toarray() if is_sparse else X[:, columns]

    span = high - low
    varies = span > 0  # false where nothing is known
    if discrete.any():
        span[discrete] = _half_smallest_gaps(dense(np.flatnonzero(discrete)), varies[discrete])
    numeric = np.flatnonzero(varies & ~missing & ~discrete)
    coded = np.flatnonzero(varies & ~missing & discrete)
    gaps = np.flatnonzero(varies & missing)
    incomplete = None
    if len(gaps):
        values = (dense(gaps) - low[gaps]) / span[gaps]
        incomplete = IncompleteColumns(values, discrete[gaps], groups)
    order = np.concatenate([numeric, coded, gaps])
    counts = len(numeric), len(numeric) + len(coded), X.shape[0]
    return Features(X, by_column, order, low[order], span[order], *counts, incomplete)


def _half_smallest_gaps(codes: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Half the smallest gap: different codes then differ by more than 1, which counts as 1."""
    steps = np.diff(np.sort(codes.astype(np.float64), axis=0), axis=0)
    smallest = np.where(steps > 0, steps, np.inf).min(axis=0)
    return np.where(varies, smallest / 2, 1.0)


def discrete_mask(discrete_features: Any, n_features: int) -> np.ndarray:
    """The features that a mask or indices name, as a mask."""
    mask = np.zeros(n_features, dtype=bool)
    if discrete_features is None:
        return mask
    chosen = np.asarray(discrete_features)
    if chosen.dtype == bool and chosen.shape == (n_features,):
        return chosen.copy()
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ValueError(
            f"discrete_features must be None, a mask of {n_features} booleans or an array of "
            f"column indices, got {discrete_features!r}"
        )
    if chosen.size and (chosen.min() < 0 or chosen.max() >= n_features):
        raise ValueError(
            f"discrete_features must be column indices between 0 and {n_features - 1}, got "
            f"{int(chosen.min())} to {int(chosen.max())}"
        )
    mask[chosen.astype(np.intp)] = True
    return mask


def in_threads(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterable[Any]:
    """Yield function(*a) for all arguments in order; one thread goes without joblib's overhead."""
    if effective_n_jobs(n_jobs) == 1:
        return (function(*a) for a in arguments)
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    return parallel(delayed(function)(*a) for a in arguments)


# Rows of a block that are scaled and compared at a time.
TILE_VALUES = 1 << 19


class BlockedFeatures:
    """The columns of X that vary, scaled to [0, 1], of the queries only.

    ``order`` names the columns that vary.
    """

    design: RowBlockedDesign
    queries: np.ndarray

    def __init__(self, design: RowBlockedDesign, queries: np.ndarray):
        low, high = design._reduce(_ranges, merge=_wider)
        design._check_finite(low + high)
        self.design, self.queries = design, queries
        self.order: np.ndarray = np.flatnonzero(high > low)
        self._view = self.order, low[self.order], (high - low)[self.order]
        rows = design.rows(queries)._stack(partial(_all, self._view))
        self._rows = np.ascontiguousarray(rows.T)  # features x queries

    def nearest(self, groups: np.ndarray, n_neighbors: int) -> np.ndarray:
        """The nearest samples of every query in every group, as ``nearest_samples`` gives them."""
        sizes = np.bincount(groups)
        shape = (len(self.queries), len(sizes), min(n_neighbors, int(sizes.max())))
        work = partial(_nearest_of_block, self._view, self._rows, self.queries, shape)
        numbers = np.arange(self.design.shape[0])
        return self.design._reduce(work, groups, numbers, merge=_nearer)[1]

    def weighted_sum(self, nearest: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sum over (query, neighbour) of weight * difference, for every varying column."""
        found = nearest >= 0
        slots = np.broadcast_to(np.arange(len(self.queries))[:, None, None], nearest.shape)
        pairs = slots[found], nearest[found], weights[found]
        work = partial(_sum_of_block, self._view, self._rows, pairs)
        return self.design._reduce(work, np.arange(self.design.shape[0]))


# -- what is done with a block; every one can be pickled ---------------------------------------


def _ranges(block: DesignMatrix) -> tuple[np.ndarray, np.ndarray]:
    values = block.dense_columns(np.arange(block.shape[1]))
    return values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)


def _wider(one, other):
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _scale_block(view, block: DesignMatrix) -> np.ndarray:
    """Features x samples."""
    order, low, span = view
    values = block.dense_columns(order).astype(np.float64)
    values -= low
    values /= span
    return np.ascontiguousarray(values.T)


def _all(view, block: DesignMatrix) -> np.ndarray:
    return _scale_block(view, block).T


def _nearest_of_block(view, queries, names, shape, block, groups, numbers):
    from ._relieff_kernels import add_distances, offer

    keys, nearest = np.full(shape, np.inf), np.full(shape, -1, dtype=np.intp)
    own = np.arange(len(numbers))
    # Where the queries are among these rows; a sample is not its own neighbour.
    place = np.searchsorted(numbers, names)
    inside = np.minimum(place, len(numbers) - 1)
    samples = np.where(numbers[inside] == names, inside, -1).astype(np.intp)
    height = max(32, TILE_VALUES // max(1, len(view[0])))
    for start in range(0, len(numbers), height):
        rows = own[start : start + height]
        columns = _scale_block(view, block.rows(rows))
        tile = np.zeros((queries.shape[1], columns.shape[1]))
        add_distances(queries, columns, len(view[0]), False, tile)
        offer(tile, 0, samples, start, groups, keys, nearest)
    return keys, np.where(nearest >= 0, numbers[nearest], -1)


def _nearer(one, other):
    """The nearest of two blocks; of two at the same distance the earlier sample."""
    keys = np.concatenate([one[0], other[0]], axis=2)
    nearest = np.concatenate([one[1], other[1]], axis=2)
    last = np.where(nearest >= 0, nearest, np.iinfo(np.intp).max)
    best = np.lexsort((last, keys), axis=2)[:, :, : one[0].shape[2]]
    return np.take_along_axis(keys, best, axis=2), np.take_along_axis(nearest, best, axis=2)


def _sum_of_block(view, queries, pairs, block, numbers) -> np.ndarray:
    from ._relieff_kernels import add_differences

    slots, names, weights = pairs
    place = np.minimum(np.searchsorted(numbers, names), len(numbers) - 1)
    here = np.flatnonzero(numbers[place] == names)
    rows, partner = np.unique(place[here], return_inverse=True)
    n_queries = queries.shape[1]
    values = np.hstack([queries, _scale_block(view, block.rows(rows))]).T
    order = np.argsort(slots[here], kind="stable")
    counts = np.bincount(slots[here], minlength=len(values))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    partners = (n_queries + partner[order]).astype(np.intp)
    given = weights[here][order]
    total = np.zeros(values.shape[1])
    add_differences(np.ascontiguousarray(values), False, starts, partners, given, total)
    return total


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
