"""The augmented Lagrangian against the published iteration, written out with dense matrices."""

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian
from sparsieve.solvers.robust.problem import RobustRegression


def written_out(X, Y, weights, k, n_iter, mu=0.1, growth=1.02):
    """Residual, copy and coefficients in turn; multipliers as such, nothing saved or shared."""
    n, d = X.shape
    A = np.hstack([X, np.ones((n, 1))])
    ridge = np.diag([1.0] * d + [0.0])
    gram = A.T @ (weights[:, None] * A) + ridge

    def least_squares(target, copy):
        right = A.T @ (weights[:, None] * target)
        right[:d] += copy
        found = np.linalg.solve(gram, right)
        return found[:d], found[d:]

    W, b = least_squares(Y, np.zeros((d, Y.shape[1])))
    L, M = np.zeros_like(Y), np.zeros_like(W)
    losses = []
    for _ in range(n_iter):
        R = Y - X @ W - b - L / mu
        E = np.array([r * max(0.0, 1.0 - 1.0 / (mu * np.linalg.norm(r))) for r in R])
        candidate = W + M / mu
        rows = np.sort(np.argsort(-np.linalg.norm(candidate, axis=1), kind="stable")[:k])
        V = np.zeros_like(W)
        V[rows] = candidate[rows]
        W, b = least_squares(Y - E - L / mu, V - M / mu)
        L += mu * (E - (Y - X @ W - b))
        M += mu * (W - V)
        losses.append(weights @ np.linalg.norm(Y - X @ V - b, axis=1))
        mu *= growth
    return rows, W, losses


@pytest.mark.parametrize("shape", [(20, 35), (35, 12)])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_published_iteration(shape, weighted):
    rng = np.random.default_rng(0)
    n = shape[0]
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    X = rng.standard_normal(shape)
    X -= weights @ X / weights.sum()
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((n, 2))
    problem = RobustRegression(as_design(X), Y, weights, True, k=4)
    found = TopKLagrangian.published(max_iter=60, tol=0.0).solve(problem)
    rows, W, losses = written_out(X, Y, weights, 4, 60)
    assert found.solution.features.tolist() == rows.tolist()
    assert np.allclose(found.solution.W, W, rtol=1e-8, atol=1e-10)
    assert np.allclose(found.trace, losses, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_support_without_any_loss_is_the_end(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((4, 2000)), np.array([[1.0], [0.0], [1.0], [0.0]])
    X, Y = X - X.mean(axis=0), Y - Y.mean()
    problem = RobustRegression(as_design(X), Y, np.ones(4), True, k=3)
    found = TopKLagrangian().solve(problem)
    A = np.column_stack([X[:, found.solution.features], np.ones(4)])
    np.testing.assert_allclose(A @ np.linalg.lstsq(A, Y, rcond=None)[0], Y, atol=1e-10)
    assert (found.converged, found.objective, found.n_iter) == (True, 0.0, 1)
    # The published iteration knows nothing of it.
    assert TopKLagrangian.published(max_iter=20).solve(problem).n_iter == 20
