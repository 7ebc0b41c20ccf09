"""Sums over blocks of rows: moments of columns, and Gram matrices.

Means and squared deviations by group of rows, block by block, in double precision.

Rows of a block in standard units, few at a time: what inner products are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from ..base import CACHE_BLOCK_BYTES, DesignMatrix, slices
from ..dense import DenseDesign
from ..parallel_passes import read_only, side_by_side
from ..sparse import SparseDesign
from ..views import ClippedDense


@dataclass(frozen=True)
class Moments:
    """Weights, means and sums of squared deviations by group of rows.

    Of shapes (n_groups,) and (n_groups, n_features) twice.
    """

    sizes: np.ndarray
    means: np.ndarray
    squares: np.ndarray

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets of rows (Chan, Golub and LeVeque)."""
        sizes = self.sizes + other.sizes
        share = np.divide(other.sizes, sizes, out=np.zeros_like(sizes), where=sizes > 0)[:, None]
        gap = other.means - self.means
        squares = self.squares + other.squares + self.sizes[:, None] * share * gap**2
        return Moments(sizes, self.means + share * gap, squares)

    def together(self) -> Moments:
        """The moments of all groups taken as one."""
        size = self.sizes.sum()
        means = self.sizes @ self.means / size
        squares = self.squares.sum(axis=0) + self.sizes @ (self.means - means) ** 2
        return Moments(np.array([size]), means[None], squares[None])


def block_moments(
    n_groups: int,
    block: DesignMatrix,
    codes: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Moments:
    """The moments of one block, in double precision; without codes all rows are one group."""
    if codes is None:
        size = np.array([block.shape[0] if weights is None else weights.sum()], dtype=np.float64)
        mean, variance = block.column_moments(weights)
        return Moments(size, mean[None], size * variance[None])
    sizes = np.bincount(codes, weights=weights, minlength=n_groups).astype(np.float64)
    present = sizes > 0
    count = int(present.sum())
    if count == n_groups:
        means, variances = block.group_moments(codes, n_groups, weights)
        return Moments(sizes, means, sizes[:, None] * variances)
    means, squares = np.zeros((n_groups, block.shape[1])), np.zeros((n_groups, block.shape[1]))
    place = np.cumsum(present) - 1  # of a group among those that the block holds
    means[present], squares[present] = block.group_moments(place[codes], count, weights)
    squares *= sizes[:, None]
    return Moments(sizes, means, squares)


def moments_and_minima(
    n_groups: int, block: DesignMatrix, codes: np.ndarray, weights: np.ndarray | None = None
) -> tuple[Moments, np.ndarray]:
    """The moments of one block, and the smallest value of every column."""
    return block_moments(n_groups, block, codes, weights), block.column_minima()


def merge_moments(
    first: tuple[Moments, np.ndarray], second: tuple[Moments, np.ndarray]
) -> tuple[Moments, np.ndarray]:
    """The same of the rows of both."""
    return first[0].merge(second[0]), np.minimum(first[1], second[1])


# Rows whose products are summed in the precision of X, before the sums are collected in double:
# few enough to keep the digits of float32, enough for BLAS to work at full speed.
HEIGHT = 256


# Fewer numbers than this are not worth loading compiled code for.
MIN_COMPILED_NUMBERS = 1 << 21
# Products of slices of rows are kept until they can be added in order, in no more than this.
MAX_PENDING_BYTES = 64 << 20
TILE = 512  # columns that are standardised together, where rows can be cut


def _dense_array(block: DesignMatrix) -> np.ndarray | None:
    """The rows of a block as an array, not clipped yet; None where there is none."""
    if isinstance(block, ClippedDense):
        block = block.base
    return block.array if isinstance(block, DenseDesign) else None


def _taker(block: DesignMatrix) -> Callable[[slice, slice], np.ndarray]:
    """Gives rows and columns of a block, not clipped yet."""
    if (array := _dense_array(block)) is not None:
        return lambda rows, columns: array[rows, columns]
    if isinstance(block, SparseDesign):
        by_row = block.matrix.tocsr()
        return lambda rows, columns: by_row[rows, columns].toarray()
    every = np.arange(block.shape[1])
    return lambda rows, columns: block.rows(rows).dense_columns(every[columns])


def standardiser(
    block: DesignMatrix,
    centre: np.ndarray | None,
    scale: np.ndarray | None,
    dtype: np.dtype,
    n_more: int = 0,
) -> Callable[..., np.ndarray]:
    """Gives (X - centre) / scale of some rows and columns of a block, and room for more columns."""
    n_rows, n_features = block.shape
    high = np.full(n_features, np.inf, block.dtype)
    low = -high
    if isinstance(block, ClippedDense):
        low, high = block.low, block.high
    shift = np.zeros(n_features, dtype) if centre is None else centre.astype(dtype)
    factor = np.ones(n_features, dtype) if scale is None else (1.0 / scale).astype(dtype)
    array, take = _dense_array(block), _taker(block)
    compiled = n_rows * n_features >= MIN_COMPILED_NUMBERS
    if compiled:
        from .._moment_kernels import standard_rows

    def standard(rows: slice, columns: slice = slice(n_features)) -> np.ndarray:
        first, last, _ = columns.indices(n_features)
        low_, high_, shift_, factor_ = (a[first:last] for a in (low, high, shift, factor))
        S = np.empty((rows.stop - rows.start, last - first + n_more), dtype)
        if compiled and array is not None and array.flags.c_contiguous:
            standard_rows(read_only(array), rows.start, first, low_, high_, shift_, factor_, S)
            return S
        some = np.ascontiguousarray(take(rows, columns), dtype=block.dtype)
        if compiled:
            standard_rows(read_only(some), 0, 0, low_, high_, shift_, factor_, S)
        else:
            some = np.clip(some, low_, high_)
            np.multiply(some - shift_, factor_, out=S[:, : last - first])
        return S

    return standard


def joint_gram(
    centre: np.ndarray | None,
    scale: np.ndarray | None,
    mix: np.ndarray,
    block: DesignMatrix,
    Y: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray:
    """S'DS of S = [(X - centre) / scale, Y mix, 1] of one block.

    Column by column down to the diagonal: half the numbers to move.
    """
    (n_rows, n_features), dtype = block.shape, block.dtype
    size = n_features + mix.shape[1] + 1
    standard = standardiser(block, centre, scale, dtype, size - n_features)
    product = get_blas_funcs("syrk", dtype=dtype)

    def share(place: slice) -> np.ndarray:
        S = standard(place)
        S[:, n_features:-1] = Y[place] @ mix
        S[:, -1] = 1.0
        if weights is not None:
            S *= np.sqrt(weights[place])[:, None].astype(dtype)
        return product(1.0, S.T)

    total = np.zeros((size, size), order="F")
    places = list(slices(n_rows, HEIGHT))
    few = len(places) * size**2 * dtype.itemsize <= MAX_PENDING_BYTES
    # Many features are enough for BLAS to share them out among its own threads.
    for part in side_by_side(share, places, n_rows * size) if few else map(share, places):
        total += part
    return np.concatenate([total[: j + 1, j] for j in range(size)])


def _tiles(
    centre, scale, block: DesignMatrix, weights: np.ndarray | None
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """(rows, columns, Z) of standardised tiles in double precision that fit the cache.

    Rows are times the roots of their weights.
    """
    standard = standardiser(block, centre, scale, np.dtype(np.float64))
    width = block.shape[1] if isinstance(block, SparseDesign) else min(TILE, block.shape[1])
    height = max(16, CACHE_BLOCK_BYTES // (8 * max(width, 1)))
    for columns in slices(block.shape[1], width):
        for rows in slices(block.shape[0], height):
            Z = standard(rows, columns)
            if weights is not None:
                Z *= np.sqrt(weights[rows])[:, None]
            yield rows, columns, Z


def with_target(
    centre: Any, scale: Any, mix: Any, block: DesignMatrix, Y: Any, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(diag(Z'Z), Z'B, Z'1), weighted, with B = Y mix."""
    squares = np.zeros(block.shape[1])
    cross = np.zeros((mix.shape[1] + 1, block.shape[1]))
    both = np.hstack([Y[:] @ mix, np.ones((len(Y), 1))])
    if weights is not None:
        both *= np.sqrt(weights)[:, None]
    for rows, columns, Z in _tiles(centre, scale, block, weights):
        cross[:, columns] += both[rows].T @ Z
        squares[columns] += np.ones(len(Z)) @ np.square(Z, out=Z)
    return squares, cross[:-1].T, cross[-1]


def gram_columns(
    centre: np.ndarray | None,
    scale: np.ndarray,
    index: np.ndarray,
    block: DesignMatrix,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Z'Z of these columns."""
    own = np.empty((block.shape[0], len(index)))
    shift = None if centre is None else centre[index]
    for rows, columns, Z in _tiles(shift, scale[index], block.columns(index), weights):
        own[rows, columns] = Z
    return _products(centre, scale, own, block, weights)


def normal_products(
    centre: np.ndarray | None,
    scale: np.ndarray,
    V: np.ndarray,
    block: DesignMatrix,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Z'Z V."""
    image = np.zeros((block.shape[0], V.shape[1]))
    for rows, columns, Z in _tiles(centre, scale, block, weights):
        image[rows] += Z @ V[columns]
    return _products(centre, scale, image, block, weights)


def _products(centre, scale, R, block: DesignMatrix, weights: np.ndarray | None):
    """Z'R of one block."""
    total = np.zeros((R.shape[1], block.shape[1]))
    for rows, columns, Z in _tiles(centre, scale, block, weights):
        total[:, columns] += R[rows].T @ Z  # in this order BLAS is twice as fast
    return total.T
