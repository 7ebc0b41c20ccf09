"""The l1,inf model against a convex solver, the lasso and its conditions of optimality."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso

from sparsieve import LInfSelector


def make(seed, n=40, d=12, c=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
    Y = X[:, :3] @ rng.normal(size=(3, c)) + rng.normal(size=(n, c))
    return X, Y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.05, 0.4])
def test_the_optimum_is_that_of_a_convex_solver(seed, share):
    X, Y = make(seed)
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    alpha = share * np.abs(2 * A.T @ B).sum(axis=1).max()
    W = cp.Variable((12, 3))
    largest = cp.sum(cp.max(cp.abs(W), axis=1))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ W - B) + alpha * largest))
    problem.solve(solver="CLARABEL")
    selector = LInfSelector(alpha=alpha, standardize=False, tol=1e-9).fit(X, Y)
    assert_allclose(selector.objective_, problem.value, rtol=1e-6)
    assert_allclose(selector.coef_.T, W.value, atol=1e-3 * np.abs(W.value).max())
    assert selector.optimality_ <= 1e-9


def test_the_strength_that_keeps_nothing():
    X, Y = make(5)
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    critical = np.abs(2 * A.T @ B).sum(axis=1).max()
    assert not LInfSelector(alpha=critical * 1.001, standardize=False).fit(X, Y).coef_.any()
    assert LInfSelector(alpha=critical * 0.999, standardize=False).fit(X, Y).coef_.any()


def test_one_output_is_the_lasso():
    X, Y = make(1)
    y, alpha = Y[:, 0], 20.0
    selector = LInfSelector(alpha=alpha, standardize=False, tol=1e-10).fit(X, y)
    lasso = Lasso(alpha=alpha / (2 * len(y)), tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(selector.coef_[0], lasso.coef_, atol=1e-6)


def test_the_order_of_entry_does_not_depend_on_that_of_columns():
    X, Y = make(3, d=30)
    order = LInfSelector(10).fit(X, Y).path_.features
    columns = np.random.default_rng(0).permutation(30)
    assert_array_equal(columns[LInfSelector(10).fit(X[:, columns], Y).path_.features], order)


def test_float32_stays():
    X, Y = make(2)
    single = LInfSelector(5).fit(X.astype(np.float32), Y)
    assert single.coef_.dtype == np.float32
    assert_array_equal(single.support_, LInfSelector(5).fit(X, Y).support_)
