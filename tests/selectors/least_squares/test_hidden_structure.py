"""Samples that are nearly copies of each other, in sparse and in dense X."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from sparsieve.design import as_design, standardise_columns
from sparsieve.selectors.least_squares.hidden_structure import HiddenStructure, nearest_sparse_rows


def words(n_samples, n_columns, density, seed=0):
    """Counts of words, most of which are zero."""
    rng = np.random.default_rng(seed)
    return rng.poisson(density, (n_samples, n_columns)).astype(np.float64)


@pytest.mark.parametrize("density", [0.0, 0.001, 0.02, 0.4])
@pytest.mark.parametrize("n_rows", [1, 40, 700])
def test_the_nearest_rows_are_those_of_all_distances(density, n_rows):
    X = words(700, 60, density)
    rows = np.random.default_rng(1).permutation(700)[:n_rows]
    near, apart = nearest_sparse_rows(sparse.csr_array(X), rows, 10)
    distances = cdist(X[rows], X, "sqeuclidean")
    np.testing.assert_allclose(np.take_along_axis(distances, near, axis=1), apart, atol=1e-9)
    distances[np.arange(n_rows), rows] = np.inf
    np.testing.assert_allclose(apart, np.sort(distances, axis=1)[:, :10], atol=1e-9)
    assert not (near == rows[:, None]).any()
    assert all(len(set(row)) == 10 for row in near.tolist())


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["counts", "negative"])
@pytest.mark.parametrize("n_samples", [60, 400])
def test_groups_do_not_depend_on_whether_zeros_are_stored(n_samples, sign):
    X = words(n_samples, 500, 0.04)
    X[:20] *= sign
    X[-n_samples // 4 :] = X[: n_samples // 4]
    found = []
    for held in (X, sparse.csr_array(X), sparse.csc_array(X)):
        view = standardise_columns(as_design(held), centre=True, scale=True, clip=3.0)
        found.append(HiddenStructure(view.design, ~view.constant).close_samples())
    assert found[0] is not None
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
