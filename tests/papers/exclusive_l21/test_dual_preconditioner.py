"""Matrices of outputs that are kept up to date against those built anew."""

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.exclusive_l21 import dual_preconditioner as own_matrices
from sparsieve.papers.exclusive_l21.dual_preconditioner import CommonMatrix, OwnMatrix


@pytest.mark.parametrize("side", [0.0, 1e9], ids=["samples", "features"])
def test_solves_as_if_built_anew_whatever_comes_and_goes(rng, monkeypatch, side):
    monkeypatch.setattr(own_matrices, "FEATURES_SIDE", side)
    X = rng.standard_normal((15, 60))
    X[:, 7] *= 1e5  # its going must not take the digits of the others along
    own = OwnMatrix(as_design(X))
    kinds = rng.integers(0, 3, 60)  # not used, alone, tied
    for step in range(20):
        kinds[rng.integers(0, 60, 60 if step == 10 else 3)] = rng.integers(0, 3)
        kinds[7] = step % 3
        alone, tied = np.flatnonzero(kinds == 1), np.flatnonzero(kinds == 2)
        weights = rng.uniform(0.1, 10.0, 2)
        matrix = np.eye(15)
        for features, weight in zip((alone, tied), weights, strict=True):
            matrix += weight * X[:, features] @ X[:, features].T
        v = rng.standard_normal(15)
        found = own.solver(alone, tied, weights)(v)
        atol = 1e-11 if kinds[7] == 0 else 1e-7  # with it the equations are as bad as 1e12
        np.testing.assert_allclose(found, np.linalg.solve(matrix, v), rtol=0, atol=atol)
        np.testing.assert_array_equal(own.solver(alone, tied, weights)(v), found)


def test_an_output_without_features_has_the_identity(rng):
    nothing = np.empty(0, dtype=np.int64)
    v = rng.standard_normal(5)
    solve = OwnMatrix(as_design(rng.standard_normal((5, 8)))).solver(nothing, nothing, np.ones(2))
    np.testing.assert_array_equal(solve(v), v)


def test_the_factor_of_a_common_matrix(rng):
    X = rng.standard_normal((6, 20))
    weights = np.where(np.arange(20) < 10, rng.uniform(0.5, 1.0, 20), 0.0)
    lower = np.tril(CommonMatrix(as_design(X)).factor(weights))
    np.testing.assert_allclose(lower @ lower.T, np.eye(6) + (X * weights) @ X.T, rtol=1e-10)
    np.testing.assert_array_equal(CommonMatrix(as_design(0 * X)).factor(weights), np.eye(6))
