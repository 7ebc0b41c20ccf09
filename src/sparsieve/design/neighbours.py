"""Which samples are near each other, found block by block from products with X."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .base import DesignMatrix

# Blocks of samples (against all samples) and of features hold about this many bytes.
BLOCK_BYTES = 1 << 24
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
    for start in range(0, n_samples, step):
        rows = np.arange(start, min(start + step, n_samples))
        block = np.ascontiguousarray(design.rows(rows).dense_columns(everything).T)
        squared = sizes[rows, None] + sizes - 2.0 * design.matmul(block).T
        if grain > 0.0:
            squared = grain * np.rint(np.maximum(squared, 0.0) / grain)
        squared[np.arange(len(rows)), rows] = np.inf
        order = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
        neighbours[rows] = order
        distances[rows] = np.take_along_axis(squared, order, axis=1)
    return neighbours, distances


def feature_blocks(design: DesignMatrix) -> Iterator[tuple[slice, np.ndarray]]:
    """(place, dense columns in double precision) of a few features at a time."""
    n_samples, n_features = design.shape
    step = max(1, BLOCK_BYTES // (8 * n_samples))
    for start in range(0, n_features, step):
        place = slice(start, min(start + step, n_features))
        yield place, design.dense_columns(np.arange(place.start, place.stop)).astype(np.float64)
