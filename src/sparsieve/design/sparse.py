"""A design held as a SciPy sparse matrix (CSR or CSC)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._saved import Savable
from .base import DesignMatrix, Index
from .blocks.class_codes import code_sizes

# Share of the squares of a column around zero that those around its mean must be, to be what is
# left of them: three digits are lost at most.
MIN_LEFT = 1e-3


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
        means, variances = self.group_moments(None, 1, weights)
        return means[0], variances[0]

    def group_moments(
        self, codes: np.ndarray | None, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        if codes is None:
            sizes = np.array([[self.shape[0] if weights is None else np.sum(weights)]])
        else:
            sizes = code_sizes(codes, n_groups, weights)[:, None]
        places, add = self._sums(codes, n_groups, weights)
        values = self.matrix.data.astype(np.float64, copy=False)
        means, powers = add(values) / sizes, add(values * values)
        squares = powers - sizes * means**2
        if (squares < MIN_LEFT * powers).any():  # of a mean far from zero digits would be lost
            # Stored entries deviate by (x - mean), all the others by exactly -mean.
            stored = add((values - means.ravel()[places]) ** 2)
            counts = np.bincount(places, minlength=means.size).reshape(means.shape)
            missing = np.maximum(sizes - add(np.ones_like(values)), 0.0)
            # Rounding of the sums is no weight of rows that are not stored.
            rows = self.shape[0] if codes is None else code_sizes(codes, n_groups)[:, None]
            missing[counts == rows] = 0.0
            squares = stored + missing * means**2
        return means, squares / sizes

    def group_sums(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> np.ndarray:
        return self._sums(codes, n_groups, weights)[1](self.matrix.data)

    def _sums(
        self, codes: np.ndarray | None, n_groups: int, weights: np.ndarray | None
    ) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Where entries are in a groups x features table, and sums of amounts over its places."""
        n_features = self.shape[1]
        rows, columns = self._coordinates
        places = columns if codes is None else codes[rows].astype(np.intp) * n_features + columns
        own = None if weights is None else np.asarray(weights, dtype=np.float64)[rows]

        def add(amounts: np.ndarray) -> np.ndarray:
            amounts = amounts if own is None else amounts * own
            total = np.bincount(places, weights=amounts, minlength=n_groups * n_features)
            return total.reshape(n_groups, n_features)

        return places, add

    @property
    def _coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of every stored entry."""
        matrix = self.matrix
        outer = np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))
        inner = matrix.indices.astype(np.intp)
        return (inner, outer) if matrix.format == "csc" else (outer, inner)

    def column_minima(self) -> np.ndarray:
        columns = self._coordinates[1]
        is_full = np.bincount(columns, minlength=self.shape[1]) == self.shape[0]
        lowest = np.where(is_full, np.inf, 0.0).astype(self.dtype)
        np.minimum.at(lowest, columns, self.matrix.data)
        return lowest

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
