"""Sums of row norms against a conic solver, and the certificate itself."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsieve.design import as_design
from sparsieve.penalties import row_norms
from sparsieve.solvers.row_norms._weighted_kernel import WeightedKernel
from sparsieve.solvers.row_norms.interior_point import (
    RowNormProblem,
    constant_column,
    minimise_row_norms,
    settle,
    unpenalised_basis,
)
from sparsieve.solvers.row_norms.problem import RobustData
from sparsieve.solvers.row_norms.working_set import RowNormRegression


def reference(problem, columns=None):
    """The optimum by Clarabel, over penalised columns and free ones."""
    columns = problem.free if columns is None else columns
    W = cp.Variable((problem.X.shape[1], problem.Y.shape[1])) if problem.X.shape[1] else None
    residual = problem.Y
    value = 0
    if W is not None:
        residual = residual - problem.X @ W
        value = problem.strengths @ cp.norm(W, 2, axis=1)
    if columns.shape[1]:
        residual = residual - columns @ cp.Variable((columns.shape[1], problem.Y.shape[1]))
    value = value + problem.weights @ cp.norm(residual, 2, axis=1)
    program = cp.Problem(cp.Minimize(value))
    return program.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)


def random_problem(rng, n, d, outputs, alpha, *, intercept, kind):
    X = rng.standard_normal((n, d)) + rng.uniform(-1, 1, d)
    if kind == "classes":
        Y = np.eye(outputs + 1)[rng.integers(0, outputs + 1, n)]
    else:
        Y = X[:, :1].sum(axis=1)[:, None] + rng.standard_normal((n, outputs))
        Y[: n // 5] *= 20.0  # outliers
    return RowNormProblem(
        X, Y, np.full(d, alpha), rng.uniform(0.3, 3.0, n), constant_column(n, intercept)
    )


@pytest.mark.parametrize("kind", ["classes", "regression"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "outputs", "alpha"),
    [(20, 50, 1, 0.3), (25, 60, 3, 0.02), (60, 8, 1, 2.0), (70, 10, 3, 0.05), (30, 30, 2, 8.0)],
)
def test_reaches_the_optimum(n, d, outputs, alpha, intercept, kind):
    rng = np.random.default_rng(n + d)
    problem = random_problem(rng, n, d, outputs, alpha, intercept=intercept, kind=kind)
    result = minimise_row_norms(problem, tol=1e-7)
    assert result.converged
    assert result.optimality <= 1e-7
    point = result.solution
    assert result.objective == pytest.approx(problem.objective(point.W, point.B))
    assert result.objective <= reference(problem) * (1 + 1e-6)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 30),
    d=st.integers(0, 30),
    outputs=st.integers(1, 3),
    log_alpha=st.floats(-3, 1.5),
    intercept=st.booleans(),
)
def test_every_dual_point_is_feasible_and_every_bound_holds(
    seed, n, d, outputs, log_alpha, intercept
):
    rng = np.random.default_rng(seed)
    problem = random_problem(
        rng, n, d, outputs, 10.0**log_alpha, intercept=intercept, kind="regression"
    )
    best = minimise_row_norms(problem, tol=1e-8)
    for max_iter in (1, 3):
        early = minimise_row_norms(problem, tol=1e-8, max_iter=max_iter).solution
        assert early.bound <= best.objective * (1 + 1e-9)
        assert (row_norms(early.dual) <= problem.weights * (1 + 1e-9)).all()
        assert (row_norms(problem.X.T @ early.dual) <= problem.strengths * (1 + 1e-9)).all()
        assert np.abs(problem.free.T @ early.dual).max(initial=0.0) <= 1e-7 * problem.weights.max()
    assert best.optimality <= 1e-6


def test_free_columns_only_is_robust_regression():
    rng = np.random.default_rng(3)
    columns = np.hstack([rng.standard_normal((40, 3)), np.ones((40, 1))])
    columns = np.hstack([columns, columns[:, :1]])  # a copy changes nothing
    Y = rng.standard_normal((40, 2))
    problem = RowNormProblem(
        np.empty((40, 0)), Y, np.empty(0), np.ones(40), unpenalised_basis(columns)
    )
    assert problem.free.shape[1] == 4
    solution = minimise_row_norms(problem, tol=1e-7)
    assert solution.objective <= reference(problem, columns[:, :4]) * (1 + 1e-6)


def test_a_perfect_fit_by_free_columns_ends_at_once():
    problem = RowNormProblem(
        np.ones((5, 1)), np.ones((5, 2)), np.ones(1), np.ones(5), constant_column(5, True)
    )
    solution = minimise_row_norms(problem)
    assert solution.objective == pytest.approx(0.0, abs=1e-12)
    assert solution.converged


def test_many_samples_use_the_small_dimension_and_conjugate_gradients():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 900, 12, 2, 3.0, intercept=True, kind="classes")
    solution = minimise_row_norms(problem, tol=1e-7)
    assert solution.converged


def test_settled_rows_are_exactly_zero():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, 40, 60, 2, 12.0, intercept=True, kind="classes")
    solution = minimise_row_norms(problem, tol=1e-7)
    bound = solution.solution.bound
    settled = settle(problem, solution, bound=bound, tol=1e-6)
    point = settled.solution
    zero = ~point.W.any(axis=1)
    assert 0 < zero.sum() < 60
    assert (row_norms(problem.X.T @ point.dual)[~zero] > 0.99 * 12.0).all()
    assert settled.objective == pytest.approx(problem.objective(point.W, point.B))
    assert settled.objective <= bound * (1 + 1e-6)


@pytest.mark.parametrize("n", [30, 700])
def test_kernel_equals_the_explicit_inverse(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 20))
    a, e = rng.uniform(0.1, 2, 20), 10.0 ** rng.uniform(-6, 1, n)
    free = unpenalised_basis(np.hstack([np.ones((n, 1)), rng.standard_normal((n, 1))]))
    kernel = WeightedKernel(X, a, e, free)
    V = rng.standard_normal((n, 3))
    M, B = kernel(V), kernel.free_part(V)
    back = X @ (a[:, None] * (X.T @ M)) + e[:, None] * M + free @ B
    assert np.allclose(back, V, atol=1e-7)
    assert np.allclose(free.T @ M, 0, atol=1e-6 * np.abs(M).max())
    W = rng.standard_normal((20, 3))
    features, samples = kernel.both(W, V)
    assert np.allclose(samples, kernel(X @ W + V), rtol=1e-6)
    assert np.allclose(features, X.T @ kernel(X @ W + V), atol=1e-6)
    Z = np.hstack([X, np.eye(n)])
    ratios = np.concatenate(kernel.variances()) / np.einsum("ij,ij->j", Z, kernel(Z))
    assert ((ratios > 0.2) & (ratios < 3.0)).all()
    if not kernel.on_samples:
        assert np.allclose(kernel.among_features(), X.T @ kernel(X), rtol=1e-5)


def test_samples_that_are_all_fitted_go_through_their_own_matrix():
    rng = np.random.default_rng(7)
    X, a, e = rng.standard_normal((500, 300)), np.ones(300), np.full(500, 1e-9)
    kernel = WeightedKernel(X, a, e, np.empty((500, 0)))
    assert kernel.on_samples  # both sides together are larger than the samples' alone
    e[20:] = 1.0
    split = WeightedKernel(X, a, e, np.empty((500, 0)))
    assert not split.on_samples
    V = rng.standard_normal((500, 2))
    M = np.linalg.solve(X @ X.T + np.diag(e), V)
    assert np.allclose(split(V), M, rtol=1e-6, atol=1e-9 * np.abs(M).max())
    assert np.allclose(split.among_features(), X.T @ split(X), atol=1e-7)


def test_working_sets_reach_the_optimum_over_all_features():
    rng = np.random.default_rng(2)
    n, d = 30, 800
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    data = RobustData(as_design(X), Y, np.ones(n), True)
    solver = RowNormRegression(data, np.ones(d, dtype=bool), tol=1e-7)
    for share in (0.5, 0.1):
        fit = solver.solve(share * data.reference_strength())
        assert fit.converged
        problem = data.restricted(np.arange(d), share * data.reference_strength())
        assert fit.objective <= reference(problem) * (1 + 1e-6)
        assert (fit.solution.pulls <= problem.strengths * (1 + 1e-9)).all()
