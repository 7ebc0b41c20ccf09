"""Plain computations of linear support vector machines, to compare the fast ones with."""

from __future__ import annotations

import numpy as np
from scipy import optimize


def small_problem(seed=0, n_samples=30, n_features=80):
    """Two classes that depend on the features 3 and 7."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = np.where(X[:, 3] - X[:, 7] + 0.5 * rng.normal(size=n_samples) > 0, 1.0, -1.0)
    return X, y


def hinge_value(X, y, C, costs, w, b):
    """costs'|w| + C'max(0, 1 - y (X w + b))."""
    return costs @ np.abs(w) + C @ np.maximum(0.0, 1.0 - y * (X @ w + b))


def hinge_minimum(X, y, C, costs, bounds=np.inf, fit_bias=True):
    """The smallest ``hinge_value`` with |w| <= bounds, by interior points on one dense program.

    The variables are u, v, b and the slacks, with w = u - v.
    """
    n, d = X.shape
    signed = X * y[:, None]
    rows = -np.hstack([signed, -signed, y[:, None], np.eye(n)])
    parts = np.broadcast_to(bounds, d).tolist()
    limits = [(0.0, most) for most in parts * 2]
    limits += [(None, None) if fit_bias else (0.0, 0.0), *[(0.0, None)] * n]
    cost = np.concatenate([costs, costs, [0.0], C])
    found = optimize.linprog(cost, rows, -np.ones(n), bounds=limits, method="highs-ipm")
    assert found.status == 0, found.message
    return found.fun


def squared_hinge_minimum(X, y, C, fit_intercept, charged=1.0):
    """(w, b, smallest 1/2 ||w||^2 + C'max(0, 1 - y (X w + b))^2), by L-BFGS.

    ``charged`` is zero for unpenalised columns.
    """

    def objective(v):
        w, b = v[:-1], v[-1] * fit_intercept
        slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
        pull = -2.0 * C * y * slack
        gradient = np.append(charged * w + X.T @ pull, pull.sum() * fit_intercept)
        return 0.5 * (charged * w) @ w + C @ slack**2, gradient

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-11}
    start = np.zeros(X.shape[1] + 1)
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return found.x[:-1], found.x[-1] * fit_intercept, found.fun


def dense(plane, n_features):
    """The weights of all features."""
    full = np.zeros(n_features)
    full[plane.features] = plane.weights
    return full
