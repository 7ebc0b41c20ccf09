"""Columns of a support kept sparse stand for the same numbers as dense ones."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve import RobustL20Selector
from sparsieve.design import as_design, standardised
from sparsieve.solvers.row_norms import support_columns
from sparsieve.solvers.row_norms.problem import RobustData
from sparsieve.solvers.row_norms.support_columns import better_sparse


def rare(rng, n=300, d=40, offset=0.0):
    X = sparse.random(n, d, density=0.1, format="csr", random_state=1)
    X.data[:] = rng.uniform(1.0, 2.0, X.nnz) + offset
    return sparse.csr_array(X)


def data_of(X, rng, n_covariates=2):
    n = X.shape[0]
    design = standardised(as_design(X), centre=True, scale=True).design
    covariates = rng.standard_normal((n, n_covariates)) if n_covariates else None
    return RobustData(design, rng.standard_normal((n, 3)), np.ones(n), True, covariates)


@pytest.mark.parametrize("n_covariates", [0, 2])
def test_sparse_and_dense_columns_agree(rng, n_covariates):
    data = data_of(rare(rng), rng, n_covariates)
    few, others = np.array([3, 7, 1, 30]), np.array([2, 5])
    size = len(few) + 1 + n_covariates
    weight, scale = rng.uniform(0.1, 9.0, 300), rng.uniform(0.1, 3.0, size)
    V, U = rng.standard_normal((300, 3)), rng.standard_normal((size, 3))
    answers = []
    for sparsely in (False, True):
        first = support_columns.support_columns(data, few, sparsely)
        more = support_columns.support_columns(data, others, sparsely)
        joined = first.rearranged(np.array([2, 0]), more)
        answers.append(
            [
                *first.products(weight, V, scale),
                first.gram(weight),
                first.matmul(U),
                first.cross(weight, more),
                first.squares(weight),
                joined.matmul(U),
                joined.squares(weight),
            ]
        )
    for dense, kept_sparse in zip(*answers, strict=True):
        np.testing.assert_allclose(kept_sparse, dense, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize(
    ("offset", "filled", "expected"), [(0.0, 0.2, True), (0.0, 0.01, False), (1e6, 0.2, True)]
)
def test_columns_are_kept_sparse_where_that_pays(rng, monkeypatch, offset, filled, expected):
    data = data_of(rare(rng, offset=offset), rng)
    assert not better_sparse(data)  # few samples
    monkeypatch.setattr(support_columns, "MANY_SAMPLES", 100)
    monkeypatch.setattr(support_columns, "FILLED", filled)
    assert better_sparse(data) == expected


def test_means_far_from_zero_are_centred_before_the_products(rng, monkeypatch):
    monkeypatch.setattr(support_columns, "MANY_SAMPLES", 100)
    X = rare(rng).toarray()
    X[:, 0] = 1e6 + rng.standard_normal(300)
    monkeypatch.setattr(support_columns, "FILLED", 1.0)
    assert not better_sparse(data_of(sparse.csr_array(X), rng))


def test_the_selector_finds_the_same_features(rng, monkeypatch):
    X = rare(rng)
    y = np.arange(300) % 3
    informative = sparse.csr_array((y[:, None] == np.arange(3)) * (rng.random((300, 3)) < 0.3))
    X = sparse.csr_array(sparse.hstack([X, informative.astype(float)]))
    expected = RobustL20Selector(6).fit(X, y)
    monkeypatch.setattr(support_columns, "MANY_SAMPLES", 100)
    monkeypatch.setattr(support_columns, "FILLED", 0.3)
    found = RobustL20Selector(6).fit(X, y)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
