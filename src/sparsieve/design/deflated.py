"""A design with some directions taken out and some columns blanked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import MAX_COPY_BYTES, DesignMatrix, Index, TransformedView
from .dense import DenseDesign


def deflated(
    base: DesignMatrix, left: np.ndarray, right: np.ndarray, blank: np.ndarray
) -> DesignMatrix:
    """B - left @ right with the columns in ``blank`` set to zero: a copy where B is small."""
    if not (isinstance(base, DenseDesign) and base.array.nbytes <= MAX_COPY_BYTES):
        return Deflated(base, left, right, blank)
    array = base.array - left @ right if left.shape[1] else base.array.copy()
    array[:, blank] = 0.0
    return DenseDesign(array.astype(base.dtype, copy=False))


def blanked(base: DesignMatrix, blank: np.ndarray) -> DesignMatrix:
    """B with the columns in ``blank`` set to zero."""
    if not blank.any():
        return base
    return deflated(base, np.zeros((base.shape[0], 0)), np.zeros((0, base.shape[1])), blank)


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
