"""Finite Newton steps for the squared hinge loss against L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hinge_reference import small_problem, squared_hinge_minimum
from sparsieve.solvers.hinge import FeatureSide, FiniteNewton, GramSide, SquaredHinge


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 10), (25, 25)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_both_sides_find_the_minimum(fit_intercept, n, d, C):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    costs = C * rng.uniform(0.5, 2.0, n)
    w, b, value = squared_hinge_minimum(X, y, costs, fit_intercept)
    for side in (GramSide(X @ X.T, fit_intercept), FeatureSide(X, fit_intercept)):
        problem, solver = SquaredHinge(side, y, costs), FiniteNewton(tol=1e-10)
        result = solver.solve(problem)
        beta, free = result.solution.beta, result.solution.free
        ours = X.T @ beta
        slack = np.maximum(0.0, 1.0 - y * (X @ ours + free.sum()))
        assert 0.5 * ours @ ours + costs @ slack**2 <= value * (1 + 1e-9)
        assert result.objective == pytest.approx(value, rel=1e-9)
        assert (np.diff(result.trace) <= 1e-9 * value).all()
        assert_allclose(ours, w, atol=2e-4 * np.abs(w).max())
        assert_allclose(free.sum(), b, atol=1e-3)
        assert result.optimality <= 1e-10
        # Starting at the solution, one step confirms it.
        assert solver.solve(problem, result).n_iter <= 1


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 80), (80, 10)])
def test_unpenalised_columns(fit_intercept, n, d):
    rng = np.random.default_rng(n)
    X, F = rng.normal(size=(n, d)), rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + F[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    costs = rng.uniform(0.05, 0.2, n)
    charged = np.append(np.ones(d), np.zeros(2))
    w, _, value = squared_hinge_minimum(np.hstack([X, F]), y, costs, fit_intercept, charged)
    for side in (GramSide(X @ X.T, fit_intercept, F), FeatureSide(X, fit_intercept, F)):
        problem, solver = SquaredHinge(side, y, costs), FiniteNewton(tol=1e-10)
        result = solver.solve(problem)
        ours, free = X.T @ result.solution.beta, result.solution.free
        slack = np.maximum(0.0, 1.0 - y * (X @ ours + side.free @ free))
        assert 0.5 * ours @ ours + costs @ slack**2 <= value * (1 + 1e-9)
        assert_allclose(ours, w[:d], atol=2e-4 * np.abs(w).max())
        assert_allclose(free[-2:], w[d:], atol=2e-3)
        assert result.objective == pytest.approx(value, rel=1e-8)
        assert result.optimality <= 1e-10


@pytest.mark.parametrize("seed", range(10))
def test_unpenalised_columns_that_separate_leave_nothing_to_do(seed):
    rng = np.random.default_rng(seed)
    n = 30
    F = rng.normal(size=(n, 2 + seed % 3))
    y = np.where(F[:, 0] > 0.1, 1.0, -1.0)
    X = rng.normal(size=(n, 40))
    for side in (GramSide(X @ X.T, True, F), FeatureSide(X, True, F)):
        result = FiniteNewton().solve(SquaredHinge(side, y, np.full(n, 2.0)))
        assert result.optimality <= 1e-8
        assert not result.solution.beta.any()
        assert (y * (side.free @ result.solution.free) > 0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 20), st.integers(1, 20), st.floats(1e-3, 1e3))
def test_the_sides_agree(seed, n, d, C):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    costs = np.full(n, C)
    one = FiniteNewton().solve(SquaredHinge(GramSide(X @ X.T, True), y, costs))
    two = FiniteNewton().solve(SquaredHinge(FeatureSide(X, True), y, costs))
    assert max(one.optimality, two.optimality) <= 1e-8
    first, second = X.T @ one.solution.beta, X.T @ two.solution.beta
    assert_allclose(first, second, atol=1e-5 * max(1.0, np.abs(first).max()))


def test_a_callback_that_says_stop_is_obeyed():
    X, y = small_problem()
    problem, seen = SquaredHinge(GramSide(X @ X.T, True), y, np.full(30, 100.0)), []

    def stop(event):
        seen.append(event)
        return True

    stopped = FiniteNewton().solve(problem, callback=stop)
    assert (len(seen), stopped.n_iter, stopped.converged) == (1, 1, False)
    assert stopped.objective > FiniteNewton().solve(problem).objective
