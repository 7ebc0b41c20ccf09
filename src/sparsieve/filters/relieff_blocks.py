"""ReliefF on an X that is read in blocks of rows: three passes, with the queries at hand.

The sampled queries are few and are sent to every block; a block answers with its nearest samples
of each query, and later with its share of the sums of weighted differences. What moves is
(n_queries x n_features) once and n_features numbers per block after that.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..design import DesignMatrix, RowBlockedDesign

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


def _scaled(view, block: DesignMatrix) -> np.ndarray:
    """Features x samples."""
    order, low, span = view
    values = block.dense_columns(order).astype(np.float64)
    values -= low
    values /= span
    return np.ascontiguousarray(values.T)


def _all(view, block: DesignMatrix) -> np.ndarray:
    return _scaled(view, block).T


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
        columns = _scaled(view, block.rows(rows))
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
    values = np.hstack([queries, _scaled(view, block.rows(rows))]).T
    order = np.argsort(slots[here], kind="stable")
    counts = np.bincount(slots[here], minlength=len(values))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    partners = (n_queries + partner[order]).astype(np.intp)
    given = weights[here][order]
    total = np.zeros(values.shape[1])
    add_differences(np.ascontiguousarray(values), False, starts, partners, given, total)
    return total
