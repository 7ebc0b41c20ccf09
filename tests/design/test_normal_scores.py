"""Normal scores: of dense columns by SciPy, of sparse ones the same but for a shift."""

import numpy as np
from scipy import sparse
from scipy.stats import norm, rankdata

from sparsieve.design.sparse import normal_scores, scores_from_zero, without_stored_zeros


def test_sparse_columns_have_the_scores_of_dense_ones():
    X = np.random.default_rng(0).integers(-2, 3, (11, 6)).astype(float)
    X[:, 2], X[:, 5] = 0.0, np.abs(X[:, 5]) + 1  # nothing stored, everything stored
    dense = normal_scores(X)
    np.testing.assert_allclose(dense, norm.ppf(np.apply_along_axis(rankdata, 0, X) / 12))
    thin = scores_from_zero(without_stored_zeros(sparse.csc_array(X)))
    assert thin.nnz == np.count_nonzero(X)
    shift = dense - thin.toarray()
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-12)
