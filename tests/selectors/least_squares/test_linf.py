"""The l1,inf model against a convex solver, the lasso and its conditions of optimality."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

from sparsieve import LInfSelector


def make(seed, n=40, d=12, c=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
    Y = X[:, :3] @ rng.normal(size=(3, c)) + rng.normal(size=(n, c))
    return X, Y


def targets(kind, X, seed):
    """(what is given to fit, the outputs as documented)."""
    rng = np.random.default_rng([seed, 7])
    n = len(X)
    if kind.endswith("classes"):
        c = int(kind.split()[0])
        y = np.argmax(X[:, :c] + 0.5 * rng.normal(size=(n, c)), axis=1)
        y[:c] = np.arange(c)
        return np.array(list("abcde"))[y], np.eye(c)[y]
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 4))
    if kind == "rank two":
        Y = Y[:, :2] @ rng.normal(size=(2, 4))
    if kind == "one output":
        return Y[:, 0], Y[:, :1]
    return Y, Y


def optimum(X, Y, alpha, *, fit_intercept, standardize, weights):
    """(value, W on the scaled columns, their scale) of the documented problem by a cone solver."""
    weights = np.ones(len(X)) if weights is None else weights
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    A = X / spread if standardize else X
    W = cp.Variable((X.shape[1], Y.shape[1]))
    b = cp.Variable((1, Y.shape[1])) if fit_intercept else np.zeros((1, Y.shape[1]))
    residual = A @ W + np.ones((len(X), 1)) @ b - Y
    loss = cp.sum_squares(cp.multiply(np.sqrt(weights)[:, None], residual))
    largest = cp.sum(cp.max(cp.abs(W), axis=1))
    problem = cp.Problem(cp.Minimize(loss + alpha * largest))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11, tol_feas=1e-11)
    return problem.value, W.value, spread if standardize else np.ones(X.shape[1])


@pytest.mark.thinned(3)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    "kind", ["2 classes", "3 classes", "5 classes", "one output", "rank two", "full rank"]
)
def test_the_optimum_is_that_of_a_convex_solver(kind, weighted, fit_intercept, standardize):
    for seed, share, (n, d) in [(0, 0.05, (40, 12)), (1, 0.3, (25, 40))]:
        X = make(seed, n, d)[0] + 1.0
        y, Y = targets(kind, X, seed)
        weights = np.random.default_rng(seed).uniform(0.2, 3.0, n) if weighted else None
        setting = {"fit_intercept": fit_intercept, "standardize": standardize}
        alpha = share * np.abs(2 * (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0))).sum(axis=1).max()
        value, W, spread = optimum(X, Y, alpha, **setting, weights=weights)
        selector = LInfSelector(alpha=alpha, tol=1e-9, **setting)
        selector.fit(X, y, sample_weight=weights)
        assert_allclose(selector.objective_, value, rtol=1e-7)
        assert selector.optimality_ <= 1e-9
        # What the problem says about W itself: predictions are unique, W need not be.
        assert_allclose(
            X @ selector.coef_.T, (X / spread) @ W, atol=1e-3 * np.abs(X / spread @ W).max()
        )


@pytest.mark.parametrize(
    ("load", "alpha", "value"), [(load_wine, 120.0, 92.509), (load_iris, 60.0, 69.9456)]
)
def test_wine_and_iris(load, alpha, value):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    selector = LInfSelector(alpha=alpha, tol=1e-8).fit(X, y)
    assert_allclose(selector.objective_, value, rtol=1e-5)
    W, Y = selector.coef_.T, np.eye(3)[y]
    loss = ((X @ W + selector.intercept_ - Y) ** 2).sum()
    assert_allclose(loss + alpha * np.abs(W).max(axis=1).sum(), value, rtol=1e-5)


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


def test_two_classes_are_the_lasso():
    X, Y = make(1)
    y, alpha = (Y[:, 0] > 0).astype(int), 5.0
    selector = LInfSelector(alpha=alpha, standardize=False, tol=1e-10).fit(X, y)
    # 2 ||Xw - y||^2 + alpha ||w||_1: the two outputs are each other's negative but for a constant.
    lasso = Lasso(alpha=alpha / (4 * len(y)), tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(selector.coef_, [-lasso.coef_, lasso.coef_], atol=1e-6)


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


def test_a_path_has_the_documented_objectives():
    X, Y = make(4)
    y = np.argmax(Y, axis=1)
    path = LInfSelector(standardize=False).path(X, y, n_alphas=4)
    models = zip(path.strength, path.objective, path.coefs, path.intercepts, strict=True)
    for alpha, objective, coef, intercept in models:
        W = coef.toarray().T
        loss = ((X @ W + intercept - np.eye(3)[y]) ** 2).sum()
        assert_allclose(loss + alpha * np.abs(W).max(axis=1).sum(), objective, rtol=1e-9)
