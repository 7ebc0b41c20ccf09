"""Which samples are near each other, found block by block from products with X."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ....design.base import DesignMatrix

# Blocks of samples (against all samples) hold about this many bytes.
BLOCK_BYTES = 1 << 24
# Beyond so many samples a search tree is faster, in so few dimensions, asked for some samples more
# than wanted.
TREE_MIN_SAMPLES, TREE_MAX_FEATURES, TREE_EXTRA_NEIGHBOURS = 5000, 10, 5
# Squared distances this close, relative to the squared sizes they are differences of, are equal:
# of two samples at the same distance the earlier one is nearer, whatever rounding says.
_EQUAL = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


def nearest_samples(design: DesignMatrix, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other samples of every sample and the squared distances to them.

    Two arrays of shape (n_samples, n_neighbors), nearest first; ``n_neighbors`` is at most
    n_samples - 1. Columns should be centred, so that distances lose no digits.
    """
    n_samples, n_features = design.shape
    everything = np.arange(n_features)
    step = max(1, BLOCK_BYTES // (8 * max(n_samples, n_features)))
    sizes = np.empty(n_samples)
    for start in range(0, n_samples, step):
        rows = np.arange(start, min(start + step, n_samples))
        block = design.rows(rows).dense_columns(everything).astype(np.float64)
        sizes[rows] = np.einsum("ij,ij->i", block, block)
    grain = _EQUAL[np.dtype(design.dtype)] * float(sizes.max(initial=0.0))
    neighbours = np.empty((n_samples, n_neighbors), dtype=np.int64)
    distances = np.empty((n_samples, n_neighbors))
    left = everyone = np.arange(n_samples)
    if n_features <= TREE_MAX_FEATURES and n_samples > TREE_MIN_SAMPLES:
        X = design.dense_columns(everything).astype(np.float64)
        left = _by_tree(X, grain, neighbours, distances)
    for start in range(0, len(left), step):
        rows = left[start : start + step]
        block = np.ascontiguousarray(design.rows(rows).dense_columns(everything).T)
        squared = np.ascontiguousarray(design.matmul(block).T, dtype=np.float64)
        squared *= -2.0
        squared += sizes
        squared += sizes[rows, None]
        squared[np.arange(len(rows)), rows] = np.inf
        # All that may be no further than the last neighbour when distances are compared as below.
        limits = np.partition(squared, n_neighbors - 1, axis=1)[:, n_neighbors - 1] + 2.0 * grain
        row, other = np.nonzero(squared <= limits[:, None])
        found = _round_distances(squared[row, other], grain)
        order = np.lexsort([other, found, row])
        first = np.searchsorted(row[order], everyone[: len(rows)])
        places = order[first[:, None] + np.arange(n_neighbors)]
        neighbours[rows], distances[rows] = other[places], found[places]
    return neighbours, distances


def _round_distances(squared: np.ndarray, grain: float) -> np.ndarray:
    """Squared distances, equal where they are close."""
    squared = np.maximum(squared, 0.0)
    return grain * np.rint(squared / grain) if grain > 0.0 else squared


def _by_tree(
    X: np.ndarray, grain: float, neighbours: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Fill in the neighbours that a search tree knows for sure; returns the other samples.

    The tree gives some more than wanted. If the last of them is further than the last neighbour
    wanted, none that is as near as that one is missing; many equal distances may forbid that.
    """
    n_samples, count = neighbours.shape
    tree = cKDTree(X)
    asked = min(count + 1 + TREE_EXTRA_NEIGHBOURS, n_samples)
    left = []
    for start in range(0, n_samples, TREE_MIN_SAMPLES):
        rows = np.arange(start, min(start + TREE_MIN_SAMPLES, n_samples))
        lengths, other = tree.query(X[rows], asked)
        found = _round_distances(lengths**2, grain)
        complete = asked == n_samples
        last = found[:, -1].copy()
        found[other == rows[:, None]] = np.inf
        order = np.lexsort([other, found], axis=1)[:, :count]
        neighbours[rows] = np.take_along_axis(other, order, axis=1)
        distances[rows] = np.take_along_axis(found, order, axis=1)
        sure = complete | (distances[rows, -1] < last - grain)
        left.append(rows[~sure])
    return np.concatenate(left)


def neighbour_work(shape: tuple[int, int]) -> float:
    """Multiplications that take as long as finding the nearest samples."""
    n_samples, n_features = (float(size) for size in shape)
    if n_features <= TREE_MAX_FEATURES and n_samples > TREE_MIN_SAMPLES:
        return 5e4 * n_samples  # by a tree: measured with a million samples
    return n_samples**2 * (20.0 + n_features / 20.0)  # products of matrices, and sorting
