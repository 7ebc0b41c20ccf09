"""A design held as a SciPy sparse matrix (CSR or CSC), and the ranks of its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

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

    def gram(self) -> np.ndarray:
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


def without_stored_zeros(X: sparse.csc_array) -> sparse.csc_array:
    """A copy of the values in double precision without those that are zero."""
    X = sparse.csc_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def ranks_from_zero(X: sparse.csc_array) -> sparse.csc_array:
    """The ranks of every column less that of its zeros, ties sharing the mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from sparsieve.design.sparse import ranks_from_zero
    >>> ranks_from_zero(sparse.csc_array(np.array([[0.0], [-3.0], [0.0], [7.0]]))).toarray().T
    array([[ 0. , -1.5,  0. ,  1.5]])
    """
    from scipy.stats import rankdata  # which takes long to import

    ranks = np.empty(len(X.data))
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        values = X.data[start:stop]
        n_zeros = X.shape[0] - len(values)
        of_zeros = (values < 0).sum() + 0.5 * (n_zeros + 1)
        ranks[start:stop] = rankdata(values) + n_zeros * (values > 0) - of_zeros
    return sparse.csc_array((ranks, X.indices, X.indptr), shape=X.shape)


def normal_scores(X: np.ndarray) -> np.ndarray:
    """Quantiles of the normal distribution at the ranks of every column (van der Waerden).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.design.sparse import normal_scores
    >>> normal_scores(np.array([[5.0], [9.0], [5.5]])).ravel().round(3) + 0.0
    array([-0.674,  0.674,  0.   ])
    """
    from scipy.stats import rankdata  # which takes long to import

    return ndtri(rankdata(X, axis=0) / (len(X) + 1.0))


def scores_from_zero(X: sparse.csc_array) -> sparse.csc_array:
    """Normal scores of every column less that of its zeros."""
    n_samples = X.shape[0]
    n_zeros = n_samples - np.diff(X.indptr)
    below = np.add.reduceat(np.append(X.data < 0, 0), X.indptr[:-1]) * (n_zeros < n_samples)
    of_zeros = np.repeat(below + 0.5 * (n_zeros + 1), np.diff(X.indptr))
    ranks = ranks_from_zero(X).data + of_zeros
    scores = ndtri(ranks / (n_samples + 1.0)) - ndtri(of_zeros / (n_samples + 1.0))
    return sparse.csc_array((scores, X.indices, X.indptr), shape=X.shape)


def deviations_and_ranges(X: sparse.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviation, and largest less smallest value, of every column."""
    ranges = (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    return np.sqrt(SparseDesign(X).column_moments()[1]), ranges
