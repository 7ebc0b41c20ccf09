"""The machines written down in cvxpy, straight from their definitions."""

import cvxpy as cp
import numpy as np

ACCURATE = {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8}


def random_problem(seed, n, d, shift=0.7, share=0.4, spread=0.5):
    """Two Gaussian classes whose first three features differ, in features of unequal scale."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:2] = (0, 1)
    X = rng.normal(size=(n, d)) * np.exp(spread * rng.normal(size=d))
    X[y == 1, :3] += shift
    return X, y


def moments(X, y, weights=None):
    """(mu1, mu2, Z1, Z2) with class 1 first."""
    found = []
    for label in (1, 0):
        rows = X[y == label]
        p = np.ones(len(rows)) if weights is None else weights[y == label]
        p = p / p.sum()
        mean = p @ rows
        found.append((mean, np.sqrt(p)[:, None] * (rows - mean)))
    (mu1, Z1), (mu2, Z2) = found
    return mu1, mu2, Z1, Z2


def _norms(w, Z1, Z2, ridge):
    if ridge == 0.0:
        return cp.norm(Z1 @ w), cp.norm(Z2 @ w)
    root = np.sqrt(ridge)
    return cp.norm(cp.hstack([Z1 @ w, root * w])), cp.norm(cp.hstack([Z2 @ w, root * w]))


def mpm(X, y, ridge=0.0):
    """Least N1 + N2 with D'w = 1."""
    mu1, mu2, Z1, Z2 = moments(X, y)
    w = cp.Variable(X.shape[1])
    first, second = _norms(w, Z1, Z2, ridge)
    problem = cp.Problem(cp.Minimize(first + second), [(mu1 - mu2) @ w == 1])
    problem.solve(solver="CLARABEL", **ACCURATE)
    return problem.value


def weighted_l1(X, y, costs, kappa, ridge=0.0):
    """Least costs'|w| with both classes at least max(kappa N_i, 1) on their side."""
    mu1, mu2, Z1, Z2 = moments(X, y)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    first, second = _norms(w, Z1, Z2, ridge)
    a1, a2 = mu1 @ w - b, b - mu2 @ w
    constraints = [a1 >= kappa * first, a1 >= 1, a2 >= kappa * second, a2 >= 1]
    problem = cp.Problem(cp.Minimize(costs @ cp.abs(w)), constraints)
    problem.solve(solver="CLARABEL", **ACCURATE)
    return problem.value


def ratio(X, y, alpha, ridge=0.0):
    """Least N1 + N2 with D'w - alpha'|w| >= 1; one price for all, or one for each."""
    mu1, mu2, Z1, Z2 = moments(X, y)
    w = cp.Variable(X.shape[1])
    first, second = _norms(w, Z1, Z2, ridge)
    gain = (mu1 - mu2) @ w - (np.zeros(X.shape[1]) + alpha) @ cp.abs(w)
    problem = cp.Problem(cp.Minimize(first + second), [gain >= 1])
    problem.solve(solver="CLARABEL", **ACCURATE)
    return problem.value


def norms_at(X, y, w, ridge=0.0):
    """N1 and N2 at w."""
    _, _, Z1, Z2 = moments(X, y)
    return [np.sqrt(np.sum((Z @ w) ** 2) + ridge * w @ w) for Z in (Z1, Z2)]
