"""Solvers of the exclusive family: Newton steps, certificates, and agreement between them."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.papers.baselines.rlsr import RescaledRegression
from sparsieve.papers.exclusive_l21 import dual_newton
from sparsieve.papers.exclusive_l21 import dual_preconditioner as own_matrices
from sparsieve.papers.exclusive_l21.dual_newton import ProximalDualNewton
from sparsieve.papers.exclusive_l21.published import ExclusiveALM
from sparsieve.penalties.convex import L21, ExclusiveL21, SquaredL21
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD, GramModel
from sparsieve.solvers.paths.entry_newton import newton_entries


def correlated(rng, n, d, c):
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.1 * rng.standard_normal(
        (n, d)
    )
    return X, X[:, :3] @ rng.standard_normal((3, c)) + 0.3 * rng.standard_normal((n, c))


def problem(X, Y, penalty):
    return LeastSquares(as_design(X), Y, penalty)


@pytest.mark.parametrize("beta", [0.05, 5.0])
def test_newton_steps_never_raise_the_objective(rng, beta):
    X, Y = correlated(rng, 50, 20, 4)
    penalty = ExclusiveL21(1.0, beta)
    equations = problem(X, Y, penalty)
    W = 0.1 * rng.standard_normal((20, 4))
    W[rng.random((20, 4)) < 0.3] = 0.0
    W = W[W.any(axis=1)]
    X = X[:, : len(W)]
    equations = problem(X, Y, penalty)
    values = [equations.objective(W)]
    for n_before in range(15):
        W = newton_entries(X.T @ X, X.T @ Y, 1.0, beta, W, n_before)
        values.append(equations.objective(W))
        if not W.any(axis=1).all():
            break
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.9 * values[0]


def test_copies_that_have_just_come_in_get_their_share_in_one_step(rng):
    x = rng.standard_normal((50, 1))
    X, Y = np.repeat(x, 30, axis=1), np.hstack([x, -x])
    W = np.tile([1e-17, -1e-17], (30, 1))
    W[0] = 0.8, -0.8
    moved = newton_entries(X.T @ X, X.T @ Y, 1.0, 0.2, W, n_before=100)
    np.testing.assert_allclose(moved, np.tile(moved[0], (30, 1)), rtol=1e-4)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("apart", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize(("n", "copies"), [(80, 50), (300, 100), (40, 60)])
@pytest.mark.long("many fits to full accuracy")
def test_copies_and_near_copies_of_a_column_are_shared_out_in_few_sweeps(rng, n, copies, apart):
    cp = pytest.importorskip("cvxpy")
    X = rng.standard_normal((n, 6))
    Y = np.eye(3)[np.argmax(X[:, :3] + 0.5 * rng.standard_normal((n, 3)), axis=1)]
    X = np.hstack([X, np.repeat(X[:, :1], copies, axis=1)])
    X[:, 6:] += apart * rng.standard_normal((n, copies))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    alpha, beta = 0.3 * np.linalg.norm(2 * X.T @ Y, axis=1).max(), 1e-3 * n
    result = BlockCD(tol=1e-6, max_iter=600).solve(problem(X, Y, ExclusiveL21(alpha, beta)))
    assert result.converged
    # The optimum by Clarabel. Copies share a row evenly, so that m of them are one column with
    # beta / m.
    merged, strengths = X, np.full(X.shape[1], beta)
    if apart == 0:
        merged, strengths = X[:, :6], np.array([beta / (copies + 1), *[beta] * 5])
    W = cp.Variable((merged.shape[1], 3))
    value = cp.sum_squares(merged @ W - Y) + alpha * cp.sum(cp.norm(W, 2, axis=1))
    value += strengths @ cp.square(cp.norm(W, 1, axis=1))
    optimum = cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")
    assert result.objective == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("shape", [(60, 15, 3), (15, 60, 3), (20, 40, 1)])
@pytest.mark.parametrize(("alpha", "beta"), [(5.0, 0.5), (0.1, 0.1), (0.0, 2.0)])
def test_block_descent_agrees_with_proximal_gradients(rng, alpha, beta, shape):
    X, Y = correlated(rng, *shape)
    penalty = ExclusiveL21(alpha, beta)
    equations = problem(X, Y, penalty)
    result = BlockCD(tol=1e-9).solve(equations)
    assert result.converged
    W = result.solution.W
    step = 0.5 / np.linalg.norm(X, 2) ** 2
    for _ in range(200):
        W = penalty.prox(W - step * 2 * X.T @ (X @ W - Y), step)
    assert equations.objective(W) == pytest.approx(result.objective, rel=1e-8)


def test_few_samples_in_single_precision_or_sparse(rng):
    X, Y = correlated(rng, 20, 100, 3)
    X[np.abs(X) < 1.0] = 0.0
    penalty = ExclusiveL21(2.0, 0.5)
    expected = BlockCD(tol=1e-8).solve(problem(X, Y, penalty))
    assert expected.converged
    for design in (X.astype(np.float32), sparse.csr_array(X)):
        result = BlockCD(tol=1e-6).solve(problem(design, Y.astype(design.dtype), penalty))
        assert result.converged
        assert result.solution.W.dtype == design.dtype
        assert result.objective == pytest.approx(expected.objective, rel=1e-5)


def test_few_samples_along_a_path(rng):
    X, Y = correlated(rng, 20, 100, 3)
    alphas = (20.0, 10.0, 5.0, 2.0, 1.0)
    solver = BlockCD(tol=1e-8)
    results = solver.path(problem(X, Y, ExclusiveL21(1.0, 0.2)), alphas)
    for alpha, result in zip(alphas, results, strict=True):
        alone = solver.solve(problem(X, Y, ExclusiveL21(alpha, 0.2)))
        assert result.converged
        assert result.objective == pytest.approx(alone.objective, abs=2e-8 * (Y**2).sum())
        residual = 2 * X.T @ (X @ result.solution.W - Y)
        np.testing.assert_allclose(
            result.solution.correlation, np.linalg.norm(residual, axis=1), atol=1e-8
        )


def test_few_samples_keep_to_the_limit_on_sweeps(rng):
    X, Y = correlated(rng, 20, 100, 3)
    result = BlockCD(tol=1e-14, max_iter=7).solve(problem(X, Y, ExclusiveL21(0.1, 0.1)))
    assert result.n_iter == 7
    assert not result.converged


def test_few_samples_move_only_to_what_is_lower(rng):
    X, Y = correlated(rng, 10, 30, 2)
    penalty = ExclusiveL21(1.0, 0.5)
    state = GramModel(problem(X, Y, penalty))
    state.add(np.arange(30))
    state.descend(penalty, 1e-8, 1000)
    best = state.W.copy()
    state.move_if_lower(penalty, best + 0.1)
    np.testing.assert_array_equal(state.W, best)
    state.W = best + 0.1
    state.move_if_lower(penalty, best.copy())
    np.testing.assert_array_equal(state.W, best)


def test_dual_newton_agrees_with_block_descent(rng):
    X, Y = correlated(rng, 30, 25, 3)
    equations = problem(X, Y, ExclusiveL21(0.0, 0.7))
    primal, dual = BlockCD(tol=1e-9).solve(equations), ProximalDualNewton().solve(equations)
    assert dual.objective == pytest.approx(primal.objective, rel=2e-6)
    assert dual.converged
    again = ProximalDualNewton().solve(equations, dual)
    assert again.n_iter <= dual.n_iter


@pytest.mark.parametrize(
    "settings",
    [
        {"COMMON_CG_STEPS": -1e9},
        {"COMMON_CG_STEPS": 1e9, "FEATURES_SIDE": 0.0},
        {"COMMON_CG_STEPS": 1e9, "FEATURES_SIDE": 1e9},
    ],
    ids=["shared", "samples", "features"],
)
def test_dual_newton_comes_to_the_same_from_every_side(rng, settings, monkeypatch):
    X, Y = rng.standard_normal((24, 40)), rng.standard_normal((24, 4))
    X[:, 3] = 0.0  # never used
    equations = problem(X, Y, ExclusiveL21(0.0, 0.5))
    expected = BlockCD(tol=1e-10, max_iter=100_000).solve(equations)
    for name, value in settings.items():
        monkeypatch.setattr(dual_newton if name == "COMMON_CG_STEPS" else own_matrices, name, value)
    found = ProximalDualNewton(tol=1e-8).solve(equations)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=2e-8)
    np.testing.assert_allclose(found.solution.W, expected.solution.W, atol=1e-4)


def test_published_solver_reports_the_gap(rng):
    X, Y = correlated(rng, 20, 30, 3)
    equations = problem(X, Y, ExclusiveL21(2.0, 0.5))
    best, published = BlockCD(tol=1e-9).solve(equations), ExclusiveALM().solve(equations)
    assert published.objective >= best.objective * (1 - 1e-9)
    assert published.objective * (1 - published.optimality) <= best.objective * (1 + 1e-9)
    assert published.trace[-1] == pytest.approx(published.objective)


def test_rescaled_regression_is_an_l21_problem_of_its_own_strength(rng):
    X, Y = correlated(rng, 40, 20, 2)
    result = RescaledRegression(tol=1e-9).solve(problem(X, Y, SquaredL21(3.0)))
    strength = 2 * 3.0 * np.linalg.norm(result.solution.W, axis=1).sum()
    l21 = BlockCD(tol=1e-10).solve(problem(X, Y, L21(strength)))
    np.testing.assert_allclose(
        result.solution.W, l21.solution.W, atol=1e-4 * np.abs(l21.solution.W).max()
    )


def test_solvers_name_what_they_cannot_do(rng):
    X, Y = correlated(rng, 10, 5, 2)
    with pytest.raises(ValueError, match="alpha = 0 < beta"):
        ProximalDualNewton().solve(problem(X, Y, ExclusiveL21(1.0, 1.0)))
    with pytest.raises(TypeError, match="SquaredL21"):
        RescaledRegression().solve(problem(X, Y, L21(1.0)))


def test_dual_newton_reaches_the_gap_in_single_precision(rng):
    X, Y = rng.standard_normal((20, 200)).astype(np.float32), rng.standard_normal((20, 5))
    penalty = ExclusiveL21(0.0, 0.01)
    single = ProximalDualNewton(max_iter=500).solve(problem(X, Y.astype(np.float32), penalty))
    double = ProximalDualNewton(tol=1e-8).solve(problem(X.astype(float), Y, penalty))
    assert single.converged
    assert single.solution.W.dtype == np.float32
    assert single.objective == pytest.approx(double.objective, rel=2e-6)
