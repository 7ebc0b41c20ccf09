"""Theorem 3.1 of the robust l2,0 paper, against general minimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve_experiments.papers.robust_l20 import solutions as penalty


def test_the_penalty_is_exact_where_its_minimum_says_so():
    """The reweighted minimum against a general one, and the rho by random other rows."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(10, 4)), rng.normal(size=(10, 2))
    rows, gamma = [0, 2], 0.3

    def value(W, rho):
        price = np.array([gamma, gamma + rho, gamma, gamma + rho])
        residuals = np.linalg.norm(Y - X @ W, axis=1)
        return residuals.sum() + price @ np.linalg.norm(W, axis=1)

    W = np.zeros((4, 2))
    W[rows] = penalty.restricted(X[:, rows], Y, gamma)
    general = minimize(
        lambda w: value(np.insert(w.reshape(2, 2), [1, 2], 0.0, axis=0), 0.0),
        np.zeros(4),
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10_000},
    )
    assert value(W, 0.0) == pytest.approx(general.fun, rel=1e-8)
    needed = penalty._needed(X, Y, rows, gamma)
    assert 0 < needed < penalty.rho_max(X, gamma)
    best = value(W, needed * 1.001)
    for _ in range(200):
        other = W + 1e-3 * rng.normal(size=W.shape)
        assert value(other, needed * 1.001) > best
    slopes = X.T @ ((Y - X @ W) / np.linalg.norm(Y - X @ W, axis=1, keepdims=True))
    step = np.zeros_like(W)
    row = max((1, 3), key=lambda j: np.linalg.norm(slopes[j]))
    step[row] = 1e-4 * slopes[row]  # just below, the best other row pays
    assert value(W + step, needed * 0.98) < value(W, 0.0)
