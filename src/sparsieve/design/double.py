"""The same design with its arithmetic in double precision."""

from __future__ import annotations

import numpy as np

from .base import MAX_COPY_BYTES, DesignMatrix
from .clipped import ClippedDense
from .deflated import Deflated
from .dense import DenseDesign
from .scaled import Scaled
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
