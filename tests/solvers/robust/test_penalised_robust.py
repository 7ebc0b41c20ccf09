"""The published method and reweighted least squares for the penalised robust model."""

from dataclasses import replace

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.robust_l20.published import NonmonotoneAPG
from sparsieve.penalties import row_norms
from sparsieve.penalties.concave import TopKGap
from sparsieve.solvers.robust.irls import ReweightedLeastSquares
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.robust.working_set import RobustWorkingSet


def penalised_objective(data, solution):
    """Residual norms plus penalty, written out."""
    residuals = data.design.matmul(solution.W) + data.free @ solution.free - data.Y
    norms = np.linalg.norm(residuals, axis=1)
    return float(data.weights @ norms) + data.penalty.value(solution.W)


@pytest.fixture(params=[False, True], ids=["plain", "intercept"])
def data(request):
    rng = np.random.default_rng(0)
    n, d = 40, 25
    X = rng.standard_normal((n, d))
    Y = np.eye(3)[rng.integers(0, 3, n)]
    weights = rng.uniform(0.5, 2.0, n)
    return RobustRegression(as_design(X), Y, weights, request.param, alpha=0.3, k=4, rho=1.0)


def plain_algorithm_1(X, Y, penalty, mu, n_iter):
    """Algorithm 1 as printed, with the corrected proximal map, unweighted, without intercept."""

    def ball(R):
        return R / np.maximum(row_norms(R), 1.0)[:, None]

    def smoothed(R):
        P = ball(R / mu)
        return float((P * R).sum() - 0.5 * mu * (P * P).sum())

    gap = TopKGap(penalty.k, penalty.rho)

    def value(W):
        return smoothed(X @ W - Y) + penalty.alpha * smoothed(W) + gap.value(W)

    def gradient(W):
        return X.T @ ball((X @ W - Y) / mu) + penalty.alpha * ball(W / mu)

    constant = ((X**2).sum() + X.shape[1] * penalty.alpha) / mu
    tau, eta = 2 * constant, 0.9
    delta = 0.1 * (tau - constant)
    W = W_last = Z = np.zeros((X.shape[1], Y.shape[1]))
    t_last, t, q, c = 0.0, 1.0, 1.0, value(W)
    for _ in range(n_iter):
        U = W + t_last / t * (Z - W) + (t_last - 1) / t * (W - W_last)
        Z = gap.prox(U - gradient(U) / tau, 1 / tau)
        W_last = W
        if value(Z) <= c - 0.5 * delta * ((Z - U) ** 2).sum():
            W = Z
        else:
            V = gap.prox(W - gradient(W) / tau, 1 / tau)
            W = Z if value(Z) <= value(V) else V
        t_last, t = t, (np.sqrt(4 * t * t + 1) + 1) / 2
        c = (eta * q * c + value(W)) / (eta * q + 1)
        q = eta * q + 1
    return W


def test_nmapg_follows_algorithm_1():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((20, 12)), np.eye(2)[rng.integers(0, 2, 20)]
    data = RobustRegression(as_design(X), Y, np.ones(20), False, alpha=0.1, k=3, rho=0.8)
    fit = NonmonotoneAPG(mu=0.05, max_iter=60, tol=1e-30).solve(data)
    assert np.allclose(fit.solution.W, plain_algorithm_1(X, Y, data.penalty, 0.05, 60), atol=1e-10)
    assert fit.n_iter == len(fit.trace) == 60


@pytest.mark.parametrize("step_constant", ["printed", "spectral"])
def test_nmapg_history_is_the_unsmoothed_objective(data, step_constant):
    fit = NonmonotoneAPG(step_constant=step_constant, max_iter=120).solve(data)
    assert fit.trace[-1] == fit.objective
    exact = penalised_objective(data, fit.solution)
    assert fit.objective == pytest.approx(exact, rel=1e-9)
    assert fit.objective < fit.trace[0]


def test_the_spectral_constant_gets_further(data):
    printed = NonmonotoneAPG(mu=0.01, max_iter=200).solve(data)
    spectral = NonmonotoneAPG(mu=0.01, max_iter=200, step_constant="spectral").solve(data)
    assert spectral.objective < printed.objective


def test_nmapg_starts_from_the_result_given(data):
    first = NonmonotoneAPG(mu=0.01, max_iter=50).solve(data)
    seen = []
    again = NonmonotoneAPG(mu=0.01, max_iter=1).solve(data, first, seen.append)
    assert [(event.n_iter, event.objective) for event in seen] == [(1, again.objective)]
    from_zero = NonmonotoneAPG(mu=0.01, max_iter=1).solve(data)
    lead = from_zero.objective - first.objective
    assert lead > 0
    assert abs(again.objective - first.objective) < 0.1 * lead
    # One proximal step without momentum, from the solution given; the rule (6.1) looks at it.
    old, new = first.solution, again.solution
    length = np.hypot(np.linalg.norm(new.W - old.W), np.linalg.norm(new.free - old.free))
    moved = length / max(np.hypot(np.linalg.norm(new.W), np.linalg.norm(new.free)), 1.0)
    for share, n_iter in ((1 + 1e-9, 1), (1 - 1e-9, 2)):
        solver = NonmonotoneAPG(mu=0.01, max_iter=2, tol=0.0, step_tol=share * moved)
        assert solver.solve(data, first).n_iter == n_iter


def test_a_large_rho_enforces_the_limit(data):
    fit = NonmonotoneAPG(max_iter=400).solve(replace(data, rho=100.0))
    assert 1 <= fit.solution.W.any(axis=1).sum() <= 4


def test_irls_never_rises_and_reports_its_objective(data):
    fit = ReweightedLeastSquares().solve(data)
    assert (np.diff(fit.trace[1:]) <= 1e-9).all()
    exact = penalised_objective(data, fit.solution)
    assert fit.objective == pytest.approx(exact, rel=1e-3)


def test_without_rho_both_approach_the_convex_optimum(data):
    data = replace(data, alpha=2.0, rho=0.0)
    optimum = RobustWorkingSet().solve(data).objective
    irls = ReweightedLeastSquares(max_iter=500, tol=1e-9).solve(data)
    nmapg = NonmonotoneAPG(max_iter=4000, stage_iter=1000, step_constant="spectral").solve(data)
    assert optimum * (1 - 1e-6) <= irls.objective <= optimum * (1 + 1e-4)
    assert optimum * (1 - 1e-6) <= nmapg.objective <= optimum * (1 + 1e-2)


@pytest.mark.parametrize(
    "solver", [ReweightedLeastSquares(), ReweightedLeastSquares(published=True)]
)
def test_a_warm_start_saves_iterations(data, solver):
    cold = solver.solve(data)
    warm = solver.solve(data, cold)
    assert warm.n_iter < cold.n_iter / 2
    assert warm.objective <= cold.objective * (1 + 1e-6)
