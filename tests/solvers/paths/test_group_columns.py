"""Columns of groups in a working set."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.design.standardise import standardise_columns
from sparsieve.design.views import Deflated
from sparsieve.penalties.convex import L21
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.paths.block_cd import GroupL21
from sparsieve.solvers.paths.group_columns import PackedColumns, turned_columns


@pytest.mark.parametrize("nearly", [0.0, 1e-9])
def test_products_within_sparse_groups_are_those_of_their_columns(rng, nearly):
    """Also of a column that a covariate explains to the last digits."""
    X = sparse.random_array((400, 12), density=0.02, rng=rng, format="csc")
    covariate = X[:, [5]].toarray() + (nearly or 1.0) * rng.normal(size=(400, 1))
    design = standardise_columns(as_design(X), centre=True, scale=True).design
    covariate -= covariate.mean()
    covariate /= np.linalg.norm(covariate)
    design = Deflated(design, covariate, design.rmatmul(covariate).T, np.zeros(12, dtype=bool))
    groups = [np.arange(3), np.arange(3, 6), np.arange(6, 12)]
    columns = turned_columns(design, groups, 1)
    assert isinstance(columns, PackedColumns)
    columns.add(np.arange(3))
    for index in (np.array([[0, 1, 2], [3, 4, 5]]), np.arange(6, 12)[None, :]):
        found = columns._inner_products(index)
        for own, products in zip(index, found, strict=True):
            dense = np.asarray(design.dense_columns(own))
            limits = np.sqrt(np.outer(*[np.einsum("ij,ij->j", dense, dense)] * 2))
            assert (abs(products - dense.T @ dense) <= 1e-7 * limits).all()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_groups_of_one_size_may_be_rows_of_an_array(rng, is_sparse):
    X = sparse.random_array((80, 30), density=0.03, rng=rng, format="csc")
    design = as_design(X if is_sparse else X.toarray())
    problem = LeastSquares(design, rng.normal(size=(80, 1)), L21(0.3))
    groups = rng.permutation(30).reshape(10, 3)
    one, other = (GroupL21(given, np.ones(10)).solve(problem) for given in (groups, list(groups)))
    assert one.solution.norms.any()
    np.testing.assert_array_equal(one.solution.norms, other.solution.norms)
    assert one.objective == other.objective
