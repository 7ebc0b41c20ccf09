"""Clamping every column to an interval of its own, without a second copy of X."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from . import dense_products, parallel_passes
from .base import MAX_COPY_BYTES, Index, TransformedView
from .dense import DenseDesign
from .sparse import SparseDesign


class ClippedDense(TransformedView[DenseDesign]):
    """min(max(x_ij, low_j), high_j) of a dense design, clamped block by block when read."""

    def __init__(self, base: DenseDesign, low: ArrayLike, high: ArrayLike):
        super().__init__(base)
        self.low: np.ndarray = np.asarray(low, dtype=self.dtype)
        self.high: np.ndarray = np.asarray(high, dtype=self.dtype)
        self.columns_at_once: int = base.columns_at_once
        self._moments: tuple[np.ndarray, np.ndarray] | None = None

    def matmul(self, W: np.ndarray) -> np.ndarray:
        product = np.empty((self.shape[0], W.shape[1]), dtype=np.result_type(self.dtype, W))
        for rows, block in self._blocks():
            product[rows] = block.matmul(W)
        return product

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if self._streams and R.dtype == self.dtype:
            if self.has_long_rows:
                return dense_products.products(self.base.array, self.clip, R)
            return dense_products.products_by_column(self.base.array, self.low, self.high, R)
        total = np.zeros((self.shape[1], R.shape[1]))  # many float32 sums lose digits
        for rows, block in self._blocks():
            total += block.rmatmul(R[rows])
        return total.astype(np.result_type(self.dtype, R), copy=False)

    def rows(self, index: Index | slice) -> ClippedDense:
        return ClippedDense(self.base.rows(index), self.low, self.high)

    def columns(self, index: Index | slice) -> ClippedDense:
        return ClippedDense(self.base.columns(index), self.low[index], self.high[index])

    def dense_columns(self, index: Index) -> np.ndarray:
        return np.clip(self.base.dense_columns(index), self.low[index], self.high[index])

    @property
    def has_long_rows(self) -> bool:
        """Whether compiled passes over contiguous rows serve this design."""
        return self._streams and self.base.array.flags.c_contiguous

    @property
    def _streams(self) -> bool:
        array = self.base.array
        large = self.base._is_large(MAX_COPY_BYTES)
        return large and array.dtype == self.dtype and parallel_passes.can_stream(array)

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        if self._streams:
            if weights is not None:
                return parallel_passes.moments(self.base.array, weights, self.low, self.high)
            if self._moments is None:  # asked for again and again, and a pass over X each time
                self._moments = self._own_moments()
            return self._moments
        n_samples = self.shape[0]
        weights = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
        means = self.rmatmul(weights[:, None])[:, 0].astype(np.float64) / weights.sum()
        variances = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            variances += weights[rows] @ (block.array - means) ** 2
        return means, variances / weights.sum()

    def _own_moments(self) -> tuple[np.ndarray, np.ndarray]:
        array = self.base.array
        if array.flags.c_contiguous:
            return dense_products.moments_after(self.clip, array, self.base.column_moments())
        return parallel_passes.moments(array, None, self.low, self.high)

    @cached_property
    def clip(self) -> dense_products.Clip:
        """The bounds, and what they take from an array with contiguous rows."""
        return dense_products.clip_of(self.base.array, self.low, self.high)

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        if self._streams:
            bounds = self.low, self.high
            return parallel_passes.group_moments(self.base.array, codes, n_groups, weights, *bounds)
        return super().group_moments(codes, n_groups, weights)

    def column_sq_norms(self) -> np.ndarray:
        total = np.zeros(self.shape[1])
        for _, block in self._blocks():
            total += block.column_sq_norms()
        return total.astype(self.dtype, copy=False)

    def _blocks(self) -> Iterator[tuple[slice, DenseDesign]]:
        for rows in self.base.row_blocks():
            yield rows, DenseDesign(np.clip(self.base.array[rows], self.low, self.high))


def clipped_sparse(base: SparseDesign, low: np.ndarray, high: np.ndarray) -> SparseDesign:
    """Clamp a sparse design up to a shift of every column, which keeps its zeros.

    Where the interval does not hold zero, the implicit zeros would all become the same bound;
    subtracting what zero becomes from every entry keeps them zero. A design that is centred
    afterwards does not notice the shift.
    """
    entries = base.by_column.copy()
    column = np.repeat(np.arange(base.shape[1]), np.diff(entries.indptr))
    zero = np.clip(0.0, low, high)
    clamped = np.clip(entries.data, np.asarray(low)[column], np.asarray(high)[column])
    entries.data = (clamped - zero[column]).astype(base.dtype)
    return SparseDesign(sparse.csc_array(entries))
