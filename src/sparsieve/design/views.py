"""Designs around designs: in double precision, scaled, clipped, or with covariates taken out.

The same design with its arithmetic in double precision.

Which passes over X are done by compiled loops of our own.

Centring, scaling and row weighting without touching the data.

Clamping every column to an interval of its own, without a second copy of X.

A design with some directions taken out and some columns blanked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from . import dense_products, parallel_passes
from .base import MAX_COPY_BYTES, DesignMatrix, Index, TransformedView
from .dense import DenseDesign
from .sparse import SparseDesign


def in_double(design: DesignMatrix) -> DesignMatrix:
    """The matrix that a float32 design stands for, with every product taken in double precision.

    A large dense array is converted block by block when read, so that no second copy is held.
    """
    if np.dtype(design.dtype) == np.float64:
        return design
    if hasattr(design, "in_double"):
        return design.in_double()
    if isinstance(design, DenseDesign):
        if 2 * design.array.nbytes <= MAX_COPY_BYTES:
            return DenseDesign(design.array.astype(np.float64))
        return _DoubleDense(design.array)
    if isinstance(design, SparseDesign):
        return SparseDesign(design.matrix.astype(np.float64))
    if isinstance(design, Scaled):
        return Scaled(in_double(design.base), design.centre, design.scale, design.row_scale)
    if isinstance(design, ClippedDense):
        base = in_double(design.base)
        assert isinstance(base, DenseDesign)
        return ClippedDense(base, design.low, design.high)
    if isinstance(design, Deflated):
        return Deflated(in_double(design.base), design.left, design.right, design.blank)
    raise TypeError(f"cannot read a {type(design).__name__} in double precision")


class _DoubleDense(DenseDesign):
    """A float32 array that is converted to double precision block by block."""

    def __init__(self, X: np.ndarray):
        super().__init__(X)
        self.dtype = np.dtype(np.float64)

    def matmul(self, W):
        product = np.empty((self.shape[0], W.shape[1]))
        for rows in self.row_blocks():
            product[rows] = self.array[rows].astype(np.float64) @ W
        return product

    def rmatmul(self, R):
        total = np.zeros((self.shape[1], R.shape[1]))
        for rows in self.row_blocks():
            total += self.array[rows].astype(np.float64).T @ R[rows]
        return total

    def rows(self, index):
        return _DoubleDense(self.array[index])

    def columns(self, index):
        return _DoubleDense(self.array[:, index])

    def dense_columns(self, index):
        return np.asfortranarray(self.array[:, index], dtype=np.float64)

    def column_sq_norms(self):
        return np.einsum("ij,ij->j", self.array, self.array, dtype=np.float64)


def own_passes(design: DesignMatrix) -> AbstractContextManager[None]:
    """The context of a run of passes with small work between them: BLAS on one thread.

    That is where passes are compiled loops of our own, on a device, or too small for a second
    thread: those of BLAS stay busy after every call, and on 90 x 12,533 numbers that took four
    times as long.
    """
    base = design.base if isinstance(design, Scaled) else design
    compiled = isinstance(base, ClippedDense | DenseDesign) and base.has_long_rows
    small = design.n_entries < parallel_passes.MIN_WORK_PER_THREAD
    alone = compiled or small or design.is_on_device
    return parallel_passes.limit_blas() if alone else nullcontext()


# Inner products of sparse columns are centred afterwards where that leaves this share of their
# squares: two digits at most are lost.
MIN_SHARE_AFTER_CENTRING = 0.01


class Scaled(TransformedView[DesignMatrix]):
    """diag(row_scale) (B - 1 centre') diag(1 / scale), applied lazily to a base design B.

    X W = r * (B (W / s) - 1 (c / s)' W)   and   X' R = (B' (r * R) - c 1'(r * R)) / s,
    so a sparse B stays sparse. Any of the three parts may be None.
    """

    centre: np.ndarray | None
    scale: np.ndarray | None
    row_scale: np.ndarray | None

    def __init__(
        self,
        base: DesignMatrix,
        centre: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        row_scale: np.ndarray | None = None,
    ):
        super().__init__(base)
        self.columns_at_once: int = base.columns_at_once
        self.centre, self.scale, self.row_scale = (
            None if part is None else np.asarray(part, dtype=self.dtype)
            for part in (centre, scale, row_scale)
        )

    def matmul(self, W: np.ndarray) -> np.ndarray:
        if self.scale is not None:
            W = W / self.scale[:, None]
        product = self.base.matmul(W)
        if self.centre is not None:
            product -= self.centre @ W
        return product if self.row_scale is None else product * self.row_scale[:, None]

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if self.row_scale is not None:
            R = R * self.row_scale[:, None]
        sums = R.sum(axis=0, dtype=np.float64).astype(R.dtype, copy=False)
        return self._unshift(self.base.rmatmul(R), sums)

    def _unshift(self, product: np.ndarray, sums: np.ndarray) -> np.ndarray:
        # In place, output by output: a second array of the size of the product would cost as
        # much as reading it.
        for k, total in enumerate(sums):
            column = product[:, k]
            if self.centre is not None:
                column -= self.centre * total
            if self.scale is not None:
                column /= self.scale
        return product

    def rows(self, index: Index | slice) -> Self:
        row_scale = None if self.row_scale is None else self.row_scale[index]
        return type(self)(self.base.rows(index), self.centre, self.scale, row_scale)

    def columns(self, index: Index | slice) -> Self:
        return type(self)(
            self.base.columns(index),
            None if self.centre is None else self.centre[index],
            None if self.scale is None else self.scale[index],
            self.row_scale,
        )

    def dense_columns(self, index: Index) -> np.ndarray:
        columns = np.array(self.base.dense_columns(index), order="F")
        if self.centre is not None:
            columns -= self.centre[index]
        if self.scale is not None:
            columns /= self.scale[index]
        if self.row_scale is not None:
            columns *= self.row_scale[:, None]
        return columns

    def sparse_columns(self, index: Index) -> tuple[Any, np.ndarray, np.ndarray] | None:
        parts = self.base.sparse_columns(index)
        if parts is None:
            return None
        S, U, C = parts
        if self.centre is not None:
            U = np.hstack((U, np.ones((self.shape[0], 1))))
            C = np.vstack((C, self.centre[index][None]))
        if self.scale is not None:
            S, C = S @ sparse.diags_array(1.0 / self.scale[index]), C / self.scale[index]
        if self.row_scale is not None:
            S, U = sparse.diags_array(self.row_scale) @ S, self.row_scale[:, None] * U
        return S, U, C

    def inner(self, index: Index, weights: np.ndarray | None = None) -> np.ndarray:
        if self.row_scale is not None or not self.is_very_sparse:
            return super().inner(index, weights)
        found = self.base.inner(index, weights)
        if self.centre is not None:
            squares, centre = found.diagonal().copy(), self.centre[index].astype(np.float64)
            of_samples = np.ones(self.shape[0]) if weights is None else weights
            sums = self.base.columns(index).rmatmul(of_samples[:, None].astype(self.dtype))
            sums = sums[:, 0].astype(np.float64)
            found -= np.outer(sums - of_samples.sum() * centre, centre)
            found -= np.outer(centre, sums)
            if (found.diagonal() < MIN_SHARE_AFTER_CENTRING * squares).any():
                return super().inner(index, weights)
        if self.scale is not None:
            scale = self.scale[index].astype(np.float64)
            found /= scale
            found /= scale[:, None]
        return found

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        if self.row_scale is None:
            means, variances = self.base.column_moments(weights)
            if self.centre is not None:
                means = means - self.centre
            if self.scale is not None:
                means, variances = means / self.scale, variances / self.scale.astype(float) ** 2
            return means, variances
        n_samples = self.shape[0]
        weights = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=float)
        total = weights.sum()
        means = (self.rmatmul(weights[:, None].astype(self.dtype)) / total)[:, 0].astype(float)
        squares = self._weighted_squares(weights)
        return means, np.maximum(squares / total - means**2, 0.0)

    def column_sq_norms(self) -> np.ndarray:
        return self._weighted_squares(None).astype(self.dtype)

    def column_magnitudes(self) -> np.ndarray:
        sizes = self.base.column_magnitudes()
        if self.centre is not None:
            sizes = sizes + np.sqrt(self.shape[0]) * np.abs(self.centre.astype(np.float64))
        if self.row_scale is not None:
            sizes = sizes * float(np.abs(self.row_scale).max(initial=0.0))
        return sizes if self.scale is None else sizes / self.scale.astype(np.float64)

    def _weighted_squares(self, weights: np.ndarray | None) -> np.ndarray:
        """sum_i weights_i x_ij^2 through the base's moments, which never form X."""
        if self.row_scale is not None:
            squared = self.row_scale.astype(float) ** 2
            weights = squared if weights is None else weights * squared
        means, variances = self.base.column_moments(weights)
        centre = 0.0 if self.centre is None else self.centre.astype(float)
        total = self.shape[0] if weights is None else weights.sum()
        squares = total * (variances + (means - centre) ** 2)
        return squares if self.scale is None else squares / self.scale.astype(float) ** 2


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
        return dense_products.find_clip_excess(self.base.array, self.low, self.high)

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


def deflate(
    base: DesignMatrix, left: np.ndarray, right: np.ndarray, blank: np.ndarray
) -> DesignMatrix:
    """B - left @ right with the columns in ``blank`` set to zero: a copy where B is small."""
    if not (isinstance(base, DenseDesign) and base.array.nbytes <= MAX_COPY_BYTES):
        return Deflated(base, left, right, blank)
    array = base.array - left @ right if left.shape[1] else base.array.copy()
    array[:, blank] = 0.0
    return DenseDesign(array.astype(base.dtype, copy=False))


def blank_columns(base: DesignMatrix, blank: np.ndarray) -> DesignMatrix:
    """B with the columns in ``blank`` set to zero."""
    if not blank.any():
        return base
    return deflate(base, np.zeros((base.shape[0], 0)), np.zeros((0, base.shape[1])), blank)


class Deflated(TransformedView[DesignMatrix]):
    """B - left @ right with the columns in ``blank`` set to zero, applied lazily.

    With an orthonormal ``left`` and ``right`` = left' B this is B projected on the orthogonal
    complement of ``left``: what is left of every feature once covariates are accounted for.
    """

    def __init__(self, base: DesignMatrix, left: np.ndarray, right: np.ndarray, blank: np.ndarray):
        super().__init__(base)
        self.left: np.ndarray = np.asarray(left, dtype=self.dtype)
        self.right: np.ndarray = np.asarray(right, dtype=self.dtype)
        self.blank: np.ndarray = np.asarray(blank, dtype=bool)

    def matmul(self, W: np.ndarray) -> np.ndarray:
        W = np.where(self.blank[:, None], W.dtype.type(0), W)
        return self.base.matmul(W) - self.left @ (self.right @ W)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        product = self.base.rmatmul(R) - self.right.T @ (self.left.T @ R)
        product[self.blank] = 0.0
        return product

    def rows(self, index: Index | slice) -> Deflated:
        return Deflated(self.base.rows(index), self.left[index], self.right, self.blank)

    def columns(self, index: Index | slice) -> Deflated:
        right, blank = self.right[:, index], self.blank[index]
        return Deflated(self.base.columns(index), self.left, right, blank)

    def dense_columns(self, index: Index) -> np.ndarray:
        columns = self.base.dense_columns(index) - self.left @ self.right[:, index]
        columns[:, self.blank[index]] = 0.0
        return np.asfortranarray(columns)

    def sparse_columns(self, index: Index) -> tuple[Any, np.ndarray, np.ndarray] | None:
        parts = self.base.sparse_columns(index)
        if parts is None:
            return None
        S, U, C = parts
        kept = sparse.diags_array((~self.blank[index]).astype(self.dtype))
        C = np.vstack((C, self.right[:, index])) @ kept
        return S @ kept, np.hstack((U, self.left)), C

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        weights = np.ones(self.shape[0]) if weights is None else np.asarray(weights, dtype=float)
        total = weights.sum()
        means, variances = self.base.column_moments(weights)
        # Second moments of x - left r, expanded; cross terms need one product with the design.
        left, right = self.left.astype(float), self.right.astype(float)
        weighted = weights[:, None] * left
        cross = self.base.rmatmul(weighted.astype(self.dtype)).astype(float)
        quadratic = np.einsum("ij,ij->j", right, (left.T @ weighted) @ right)
        squares = total * (variances + means**2) - 2.0 * (cross * right.T).sum(axis=1) + quadratic
        means = means - (weighted.sum(axis=0) / total) @ right
        means[self.blank] = squares[self.blank] = 0.0
        return means, np.maximum(squares / total - means**2, 0.0)

    def column_sq_norms(self) -> np.ndarray:
        means, variances = self.column_moments()
        return (self.shape[0] * (variances + means**2)).astype(self.dtype)

    def column_magnitudes(self) -> np.ndarray:
        lengths = np.linalg.norm(self.left.astype(np.float64), axis=0)
        return self.base.column_magnitudes() + lengths @ np.abs(self.right.astype(np.float64))
