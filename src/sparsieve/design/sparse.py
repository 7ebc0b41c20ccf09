"""A design held as a SciPy sparse matrix (CSR or CSC)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import compressed
from .base import DesignMatrix


class SparseDesign(DesignMatrix):
    """A CSR or CSC matrix; never densified beyond the columns asked for."""

    compiled_from: int = compressed.LARGE  # entries

    def __init__(self, X):
        if X.format not in ("csr", "csc"):
            X = X.tocsr()
        self.matrix = X
        self.shape = X.shape
        self.dtype = X.dtype
        self._by_column = X if X.format == "csc" else None

    @property
    def stored(self) -> int:
        return int(self.matrix.nnz)

    @property
    def is_large(self) -> bool:
        """Whether products are taken by compiled passes."""
        return self.matrix.nnz >= self.compiled_from

    def _is_for_compiled(self, V: np.ndarray) -> bool:
        return self.is_large and compressed.serves(self.matrix, V)

    def matmul(self, W):
        if not self._is_for_compiled(W):
            return self.matrix @ W
        product = compressed.along if self.matrix.format == "csr" else compressed.across
        return product(self.matrix, W)

    def rmatmul(self, R):
        if not self._is_for_compiled(R):
            return self.matrix.T @ R
        if self._by_column is not None:
            return compressed.along(self._by_column, R)
        return compressed.across(self.matrix, R)

    def rows(self, index):
        return SparseDesign(self.matrix[index])._in_unit_of(self)

    def columns(self, index):
        return SparseDesign(self.by_column[:, index])._in_unit_of(self, index)

    def dense_columns(self, index):
        return self.by_column[:, index].toarray(order="F")

    def column_moments(self, weights=None):
        n_samples, n_features = self.shape
        weights = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
        total = weights.sum()
        entries = self.matrix.tocoo(copy=False)
        weight = weights[entries.row]
        values = entries.data.astype(np.float64, copy=False)

        def by_column(amounts):
            return np.bincount(entries.col, weights=amounts, minlength=n_features)

        means = by_column(weight * values) / total
        # Stored entries deviate by (x - mean), all the others by exactly -mean.
        stored = by_column(weight * (values - means[entries.col]) ** 2)
        missing = np.maximum(total - by_column(weight), 0.0)
        return means, (stored + missing * means**2) / total

    def column_minima(self):
        return np.asarray(self.matrix.min(axis=0).todense()).ravel()

    def column_sq_norms(self):
        return np.asarray(self.matrix.multiply(self.matrix).sum(axis=0)).ravel()

    def _gram(self):
        return (self.matrix.T @ self.matrix).toarray()

    def cross_gram(self):
        return (self.matrix @ self.matrix.T).toarray()

    @property
    def by_column(self):
        """The same matrix in CSC format, converted once when first needed."""
        if self._by_column is None:
            made = sparse.csc_array(self.matrix)
            if max(*made.shape, made.nnz) <= np.iinfo(np.int32).max:  # a quarter less to read
                made.indices = made.indices.astype(np.int32, copy=False)
                made.indptr = made.indptr.astype(np.int32, copy=False)
            self._by_column = made
        return self._by_column
