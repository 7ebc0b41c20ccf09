"""Sums of row norms against a conic solver, and the certificate itself."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsieve.design import as_design
from sparsieve.penalties import row_norms
from sparsieve.solvers.robust.interior_point import InteriorPoint
from sparsieve.solvers.robust.problem import RobustRegression, lower_bound, orthonormal_basis
from sparsieve.solvers.robust.weighted_gram import ReweightedSystem
from sparsieve.solvers.robust.working_set import RobustWorkingSet, polish


def written_out(problem, solution):
    """The objective from its definition."""
    residual = problem.Y - problem.X @ solution.W - problem.free @ solution.free
    return problem.weights @ row_norms(residual) + problem.alpha * row_norms(solution.W).sum()


def reference(problem, columns=None):
    """The optimum by Clarabel, over penalised columns and free ones."""
    columns = problem.free if columns is None else columns
    W = cp.Variable((problem.X.shape[1], problem.Y.shape[1])) if problem.X.shape[1] else None
    residual = problem.Y
    value = 0
    if W is not None:
        residual = residual - problem.X @ W
        value = problem.alpha * cp.sum(cp.norm(W, 2, axis=1))
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
    weights = rng.uniform(0.3, 3.0, n)
    return RobustRegression(as_design(X), Y, weights, intercept, alpha=alpha)


@pytest.mark.parametrize("kind", ["classes", "regression"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "outputs", "alpha"),
    [(20, 50, 1, 0.3), (25, 60, 3, 0.02), (60, 8, 1, 2.0), (70, 10, 3, 0.05), (30, 30, 2, 8.0)],
)
def test_reaches_the_optimum(n, d, outputs, alpha, intercept, kind):
    rng = np.random.default_rng(n + d)
    problem = random_problem(rng, n, d, outputs, alpha, intercept=intercept, kind=kind)
    result = InteriorPoint(1e-7).solve(problem)
    assert result.converged
    assert result.optimality <= 1e-7
    point = result.solution
    assert result.objective == pytest.approx(written_out(problem, point))
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
    best = InteriorPoint(1e-8).solve(problem)
    for max_iter in (1, 3):
        result = InteriorPoint(1e-8, max_iter).solve(problem)
        early = result.solution
        assert lower_bound(result) <= best.objective * (1 + 1e-9)
        assert (row_norms(early.dual) <= problem.weights * (1 + 1e-9)).all()
        assert (row_norms(problem.X.T @ early.dual) <= problem.alpha * (1 + 1e-9)).all()
        assert np.abs(problem.free.T @ early.dual).max(initial=0.0) <= 1e-7 * problem.weights.max()
    assert best.optimality <= 1e-6


def test_free_columns_only_is_robust_regression():
    rng = np.random.default_rng(3)
    columns = np.hstack([rng.standard_normal((40, 3)), np.ones((40, 1))])
    columns = np.hstack([columns, columns[:, :1]])  # a copy changes nothing
    Y = rng.standard_normal((40, 2))
    assert orthonormal_basis(columns).shape[1] == 4
    problem = RobustRegression(as_design(columns), Y, np.ones(40), False)
    found = InteriorPoint(1e-7).solve(problem)
    assert found.objective == pytest.approx(written_out(problem, found.solution))
    nothing = RobustRegression(as_design(np.empty((40, 0))), Y, np.ones(40), False)
    assert found.objective <= reference(nothing, columns[:, :4]) * (1 + 1e-6)


def test_a_perfect_fit_by_free_columns_ends_at_once():
    X = as_design(np.ones((5, 1)))
    problem = RobustRegression(X, np.ones((5, 2)), np.ones(5), True, alpha=1.0)
    solution = InteriorPoint().solve(problem)
    assert solution.objective == pytest.approx(0.0, abs=1e-12)
    assert solution.converged


def test_many_samples_use_the_small_dimension_and_conjugate_gradients():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 900, 12, 2, 3.0, intercept=True, kind="classes")
    solution = InteriorPoint(1e-7).solve(problem)
    assert solution.converged


def test_polished_rows_are_exactly_zero():
    rng = np.random.default_rng(1)
    problem = random_problem(rng, 40, 60, 2, 12.0, intercept=True, kind="classes")
    solution = InteriorPoint(1e-7).solve(problem)
    bound = lower_bound(solution)
    exact = polish(problem, solution, bound=bound, tol=1e-6)
    point = exact.solution
    zero = ~point.W.any(axis=1)
    assert 0 < zero.sum() < 60
    assert (row_norms(problem.X.T @ point.dual)[~zero] > 0.99 * 12.0).all()
    assert exact.objective == pytest.approx(written_out(problem, point))
    assert exact.objective <= bound * (1 + 1e-6)


@pytest.mark.parametrize("n", [20, 30, 700])
def test_kernel_solves_its_equations(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 20))
    a, e = rng.uniform(0.1, 2, 20), 10.0 ** rng.uniform(-6, 1, n)
    free = orthonormal_basis(np.hstack([np.ones((n, 1)), rng.standard_normal((n, 1))]))
    columns = np.hstack([X, free])
    system = ReweightedSystem(columns, a, e)
    assert system.on_samples == (n == 20)
    V = rng.standard_normal((n, 3))
    M, W, B = system.fit(V)
    assert np.allclose(X @ W + e[:, None] * M + free @ B, V, atol=1e-9)
    assert np.allclose(a[:, None] * (X.T @ M), W, atol=1e-8 * np.abs(W).max())
    assert np.allclose(free.T @ M, 0, atol=1e-9 * np.abs(M).max())
    assert np.allclose(system(V), np.vstack([X.T @ M, M]), rtol=1e-6)
    W = rng.standard_normal((20, 3))
    features, samples = system.both(W, V)
    whole = system(X @ W + V)
    assert np.allclose(samples, whole[20:], rtol=1e-6)
    assert np.allclose(features, whole[:20], atol=1e-6)
    Z = np.hstack([X, np.eye(n)])
    ratios = np.concatenate(system.variances()) / np.diag(system(Z))
    assert ((ratios > 0.2) & (ratios < 3.0)).all()
    if not system.on_samples:
        assert np.allclose(system.among_features(), system(X)[:20], rtol=1e-5)


@pytest.mark.parametrize(
    ("n", "copies", "spread"), [(500, 1, 1e12), (500, 50, 1e6), (500, 50, 1e12), (40, 4, 1e6)]
)
def test_kernel_solves_its_equations_where_most_samples_are_fitted_exactly(n, copies, spread):
    # Equal samples with tiny e_i and rows that are hardly penalised: badly conditioned.
    rng = np.random.default_rng(copies)
    d = 60
    X = np.repeat(rng.standard_normal((n // copies, d)), copies, axis=0)
    columns = np.hstack([X, np.full((n, 1), n**-0.5)])
    e = np.where(np.arange(n) < 20, 1.0, 1.0 / spread)
    a = np.where(np.arange(d) < 5, spread, 1.0)
    V = rng.standard_normal((n, 1))
    M, W, B = ReweightedSystem(columns, a, e).fit(V)
    missing = X @ W + e[:, None] * M + columns[:, d:] @ B - V
    assert np.abs(missing).max() < 1e-8  # 3e-3 without refinement
    assert np.abs(columns[:, d:].T @ M).max() < 1e-6 * np.abs(M).max()
    assert np.abs(X.T @ M - W / a[:, None]).max() < 1e-6 * np.abs(M).max() * n


def rare_problem(rng, n, d, *, rate, density, outputs, intercept, kind, share):
    """Rare classes: the majority is fitted exactly, which is where the loss is not smooth."""
    X = rng.standard_normal((n, d)) if density == 1 else rng.random((n, d))
    X *= rng.random((n, d)) < density
    rare = np.zeros(n, dtype=int)
    rare[rng.choice(n, max(1, round(rate * n)), replace=False)] = 1
    if kind == "copies":
        chosen = rng.permutation(n)[rng.integers(0, n // 4, n)]
        chosen[:2] = rare.argmax(), rare.argmin()
        X, rare = X[chosen], rare[chosen]
    if kind == "zero rows":
        X[rng.random(n) < 0.6] = 0.0
    if kind == "copy of the target":
        X[:, 0] = rare
    Y = np.eye(1 + outputs)[rare * rng.integers(1, 1 + outputs, n)]
    Y = Y[:, :1] * np.sqrt(2) if outputs == 1 else Y
    weights = np.ones(n)
    if kind == "balanced":
        weights = np.where(rare == 1, n / (2.0 * max(rare.sum(), 1)), n / (2.0 * (n - rare.sum())))
    if intercept:
        X, Y = X - weights @ X / weights.sum(), Y - weights @ Y / weights.sum()
    problem = RobustRegression(as_design(X), Y, weights, intercept)
    return replace(problem, alpha=share * problem.alpha_max() or 1.0)


KINDS = ["plain", "copies", "zero rows", "copy of the target", "balanced"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 12), (25, 50)])
def test_rare_classes_reach_the_optimum(n, d, intercept, outputs, kind):
    rng = np.random.default_rng(n + outputs)
    for rate, density, share in [(0.02, 0.1, 0.3), (0.1, 1.0, 0.05), (0.5, 0.1, 1e-3)]:
        problem = rare_problem(
            rng,
            n,
            d,
            rate=rate,
            density=density,
            outputs=outputs,
            intercept=intercept,
            kind=kind,
            share=share,
        )
        result = InteriorPoint(1e-7).solve(problem)
        assert result.converged
        optimum = reference(problem)
        assert result.objective <= optimum * (1 + 1e-6) + 1e-9
        assert lower_bound(result) <= optimum * (1 + 1e-7) + 1e-9


def certified(problem, result):
    """The gap recomputed from the coefficients and the dual point alone."""
    point = result.solution
    value = written_out(problem, point)
    free = problem.free_basis
    dual = point.dual - free @ (free.T @ point.dual)
    excess = max(
        (np.linalg.norm(dual, axis=1) / problem.weights).max(),
        (np.linalg.norm(problem.X.T @ dual, axis=1) / problem.alpha).max(initial=0.0),
        1.0,
    )
    return (value - np.vdot(dual, problem.Y) / excess) / value


@pytest.mark.thinned(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1, 0.5])
def test_rare_classes_among_many_samples_are_certified(rate, kind):
    rng = np.random.default_rng(int(1000 * rate))
    for n, d, density, outputs, share in [
        (1200, 60, 0.01, 1, 0.3),
        (1200, 60, 1.0, 1, 0.01),
        (700, 300, 0.01, 2, 0.3),
        (300, 700, 0.02, 1, 0.05),
    ]:
        problem = rare_problem(
            rng,
            n,
            d,
            rate=rate,
            density=density,
            outputs=outputs,
            intercept=True,
            kind=kind,
            share=share,
        )
        result = InteriorPoint(1e-6).solve(problem)
        assert result.converged
        assert certified(problem, result) <= 1.01e-6


def test_numbers_beyond_doubles_leave_an_answer_without_a_certificate():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 4)), rng.standard_normal((20, 2))
    problem = RobustRegression(as_design(X), Y, np.full(20, 1e-200), True, alpha=1.0)
    result = InteriorPoint().solve(problem)
    assert np.isfinite(result.objective)
    assert result.converged == (result.optimality <= 1e-6)


def test_working_sets_reach_the_optimum_over_all_features():
    rng = np.random.default_rng(2)
    n, d = 30, 800
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    data = RobustRegression(as_design(X), Y, np.ones(n), True)
    fit = None
    for share in (0.5, 0.1):
        problem = replace(data, alpha=share * data.alpha_max())
        fit = RobustWorkingSet(tol=1e-7).solve(problem, fit)
        assert fit.converged
        assert fit.objective <= reference(problem) * (1 + 1e-6)
        assert (fit.solution.correlations <= problem.alpha * (1 + 1e-9)).all()
