"""Ranks and spreads of sparse columns, from what is stored of them.

All zeros of a column share one rank. Ranks less that one are as sparse as the column itself, and
the correlation of two columns of ranks does not notice what was taken off.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from .sparse import SparseDesign


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
    >>> from sparsieve.design.sparse_ranks import ranks_from_zero
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
    >>> from sparsieve.design.sparse_ranks import normal_scores
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
