"""A design held as a NumPy array, in either memory order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from .._saved import Floats, Savable
from . import dense_products, one_pass, parallel_passes
from .base import CACHE_BLOCK_BYTES, GROUPS, MAX_COPY_BYTES, DesignMatrix, Index, slices
from .blocks.class_codes import code_sizes

# Numbers of X from which on loading compiled loops for its moments pays at once.
COMPILED_NUMBERS = 2 << 20
# Rows that are summed in single precision.
FLOAT32_SUM_ROWS = 2048
MIXED_ROWS = 128  # that are taken to another precision together
# So many outputs, and no more, are served by compiled passes over X at least as fast as by BLAS.
STREAM_MAX_OUTPUTS = 8
STREAM_MIN_COLUMNS = 256  # columns: shorter rows are for BLAS
BLOCK_MIN_SAMPLES = 1000  # samples with which columns repay to be read several at a time


class DenseDesign(Savable, DesignMatrix):
    """A two-dimensional float32 or float64 NumPy array; never copied, never reordered."""

    streams_above: int | None = None  # size from which on compiled passes are used

    array: Annotated[Floats, "samples", "features"]

    def __init__(self, array: np.ndarray):
        self.array = array
        self.shape: tuple[int, int] = array.shape
        self.dtype: np.dtype = array.dtype
        # Where it takes long, a pass with several columns saves more of them than it costs.
        if self.shape[0] >= BLOCK_MIN_SAMPLES and self.has_long_rows:
            self.columns_at_once = 8
        self._moments: tuple[np.ndarray, np.ndarray] | None = None

    def _is_large(self, usual: int) -> bool:
        limit = usual if self.streams_above is None else self.streams_above
        return self.array.nbytes > limit

    @property
    def _pays_to_compile(self) -> bool:
        """Whether moments are taken by compiled passes."""
        is_large = self._is_large(COMPILED_NUMBERS * self.dtype.itemsize)
        return is_large and parallel_passes.can_stream(self.array)

    def matmul(self, W: np.ndarray) -> np.ndarray:
        if W.shape[1] == 1:  # the vector product is several times faster than a one-column one
            return (self.array @ W[:, 0])[:, None]
        return self.array @ W

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if R.shape[1] <= STREAM_MAX_OUTPUTS and R.dtype == self.dtype and self.has_long_rows:
            return dense_products.products(self.array, dense_products.no_clip(self.dtype), R)
        if R.dtype == self.dtype:
            return self._sum_parts(lambda rows: _product(self.array[rows], R[rows]))
        total = np.zeros((self.shape[1], R.shape[1]), np.result_type(R, self.dtype))
        for rows in slices(self.shape[0], MIXED_ROWS):  # else all of X would be copied
            total += _product(self.array[rows], R[rows])
        return total

    @property
    def has_long_rows(self) -> bool:
        """Whether compiled passes over contiguous rows pay."""
        long = self.shape[1] >= STREAM_MIN_COLUMNS and self.array.flags.c_contiguous
        return long and self._is_large(MAX_COPY_BYTES)

    def rows(self, index: Index | slice) -> DenseDesign:
        return DenseDesign(self.array[index])._adopt_unit(self)

    def columns(self, index: Index | slice) -> DenseDesign:
        return DenseDesign(self.array[:, index])._adopt_unit(self, index)

    def dense_columns(self, index: Index) -> np.ndarray:
        if isinstance(index, list) and len(index) == 1:  # asked for most often: a slice is faster
            return np.array(self.array[:, index[0], None], order="F")
        return np.asfortranarray(self.array[:, index])

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        moments = parallel_passes.moments if self._pays_to_compile else one_pass.moments
        if weights is not None:
            return moments(self.array, weights)
        if self._moments is None:  # asked for again and again, and a pass over X each time
            self._moments = moments(self.array, None)
        return self._moments

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        sizes = code_sizes(codes, n_groups, weights)
        if self._pays_to_compile:
            means, variances = parallel_passes.group_moments(self.array, codes, n_groups, weights)
        else:
            means, variances = np.empty((2, n_groups, self.shape[1]))
            order = np.argsort(codes, kind="stable")
            bounds = np.searchsorted(codes[order], np.arange(n_groups + 1))
            for k in range(n_groups):
                rows = order[bounds[k] : bounds[k + 1]]
                some = None if weights is None else weights[rows]
                means[k], variances[k] = one_pass.moments(self.array, some, rows)
        if weights is None and self._moments is None:
            mean = sizes @ means / self.shape[0]
            spread = sizes @ variances + sizes @ (means - mean) ** 2
            self._moments = mean, spread / self.shape[0]
        return means, variances

    def group_sums(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> np.ndarray:
        if n_groups > GROUPS or weights is not None:
            return super().group_sums(codes, n_groups, weights)
        # Who asks for sums of a few groups asks for moments too.
        sizes = code_sizes(codes, n_groups)
        return sizes[:, None] * self.group_moments(codes, n_groups)[0]

    def column_minima(self) -> np.ndarray:
        return self.array.min(axis=0)

    def column_sq_norms(self) -> np.ndarray:
        def squares(rows: slice) -> np.ndarray:
            return np.einsum("ij,ij->j", self.array[rows], self.array[rows])

        return self._sum_parts(squares)

    def gram(self) -> np.ndarray:
        return self._sum_parts(lambda rows: self.array[rows].T @ self.array[rows])

    def _sum_parts(self, part: Callable[[slice], np.ndarray]) -> np.ndarray:
        """The sum of ``part(rows)`` over all rows.

        Sums of float32 over very many rows lose digits, values of one sign most of all: they are
        taken a few rows at a time and collected in double precision.
        """
        n_samples = self.shape[0]
        if self.dtype == np.float64 or n_samples <= FLOAT32_SUM_ROWS:
            return part(slice(None))
        places = list(slices(n_samples, FLOAT32_SUM_ROWS))
        first = part(places[0])
        total = first.astype(np.float64)
        for rows in places[1:]:
            total += part(rows)
        return total.astype(first.dtype)

    def cross_gram(self) -> np.ndarray:
        return self.array @ self.array.T

    def row_blocks(self) -> Iterator[slice]:
        """Slices of rows that fit the cache together."""
        height = max(1, CACHE_BLOCK_BYTES // max(1, self.array.itemsize * self.shape[1]))
        if self.array.flags.f_contiguous and not self.array.flags.c_contiguous:
            # Columns are contiguous: only a tall block has column pieces worth reading.
            height = max(height, 256)
        return slices(self.shape[0], height)


def _product(array: np.ndarray, R: np.ndarray) -> np.ndarray:
    if R.shape[1] == 1:  # the vector product is several times faster than a one-column one
        return (R[:, 0] @ array)[:, None]
    # In this order BLAS is up to twice as fast where the rows of X are contiguous.
    return (R.T @ array).T if array.flags.c_contiguous else array.T @ R
