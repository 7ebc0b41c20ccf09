"""A design held as a SciPy sparse matrix (CSR or CSC)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._saved import Savable
from .base import DesignMatrix, Index


class SparseDesign(Savable, DesignMatrix):
    """A CSR or CSC matrix; never densified beyond the columns asked for."""

    def __init__(self, matrix: sparse.sparray | sparse.spmatrix):
        if matrix.format not in ("csr", "csc"):
            matrix = matrix.tocsr()
        self.matrix: Any = matrix
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype = matrix.dtype
        self._by_column = matrix if matrix.format == "csc" else None

    @property
    def n_entries(self) -> int:
        return int(self.matrix.nnz)

    def matmul(self, W: np.ndarray) -> np.ndarray:
        return self.matrix @ W

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return self.matrix.T @ R

    def rows(self, index: Index | slice) -> SparseDesign:
        return SparseDesign(self.matrix[index])._adopt_unit(self)

    def columns(self, index: Index | slice) -> SparseDesign:
        return SparseDesign(self.by_column[:, index])._adopt_unit(self, index)

    def dense_columns(self, index: Index) -> np.ndarray:
        return self.by_column[:, index].toarray(order="F")

    def sparse_columns(self, index: Index) -> tuple[Any, np.ndarray, np.ndarray]:
        columns = self.by_column[:, index]
        return columns, np.zeros((self.shape[0], 0)), np.zeros((0, columns.shape[1]))

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        (n_samples, n_features), matrix = self.shape, self.matrix
        values = matrix.data.astype(np.float64, copy=False)
        rows = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
        total = rows.sum()

        def by_column(amounts: np.ndarray) -> np.ndarray:
            """Weighted sums of numbers in the places of the stored entries."""
            places = (amounts, matrix.indices, matrix.indptr)
            return type(matrix)(places, shape=self.shape).T @ rows

        means = by_column(values) / total
        if matrix.format == "csc":
            counts = np.diff(matrix.indptr)
            own_means = np.repeat(means, counts)
        else:
            counts = np.bincount(matrix.indices, minlength=n_features)
            own_means = means[matrix.indices]
        # Stored entries deviate by (x - mean), all the others by exactly -mean.
        stored = by_column((values - own_means) ** 2)
        present = counts if weights is None else by_column(np.ones_like(values))
        missing = np.maximum(total - present, 0.0)
        # Rounding of the sums is no weight of rows that are not stored.
        missing[counts == n_samples] = 0.0
        return means, (stored + missing * means**2) / total

    def column_minima(self) -> np.ndarray:
        return np.asarray(self.matrix.min(axis=0).todense()).ravel()

    def column_sq_norms(self) -> np.ndarray:
        return np.asarray(self.matrix.multiply(self.matrix).sum(axis=0)).ravel()

    def _gram(self) -> np.ndarray:
        return (self.matrix.T @ self.matrix).toarray()

    def inner(self, index: Index, weights: np.ndarray | None = None) -> np.ndarray:
        columns = self.by_column[:, index].astype(np.float64, copy=False)
        if weights is None:
            return (columns.T @ columns).toarray()
        weighted = columns.copy()
        weighted.data *= weights[columns.indices]
        return (columns.T @ weighted).toarray()

    def cross_gram(self) -> np.ndarray:
        return (self.matrix @ self.matrix.T).toarray()

    @property
    def by_column(self) -> Any:
        """The same matrix in CSC format, converted once when first needed."""
        if self._by_column is None:
            made = sparse.csc_array(self.matrix)
            if max(*made.shape, made.nnz) <= np.iinfo(np.int32).max:  # a quarter less to read
                made.indices = made.indices.astype(np.int32, copy=False)
                made.indptr = made.indptr.astype(np.int32, copy=False)
            self._by_column = made
        return self._by_column
