"""Theorem 3.1: from which rho on the penalised problem has minima of at most K rows.

The penalty takes the row norms outside the best set of K rows. So the penalised problem is the
smallest of one convex problem for every set, with gamma for the rows of the set and gamma + rho for
the others. The minimum without the others is one of that convex problem if no other row would be
worth its price, which asks for a rho that can be computed.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .methods import rho_max

SHAPES = ((8, 4, 2, 1), (12, 5, 3, 2), (20, 6, 3, 3))  # samples, features, outputs, K
GAMMAS, SEEDS = (0.1, 1.0), range(10)
ROUNDS, SMOOTHING = 300, 1e-9


def exact_penalty(bench: Bench) -> list[Exhibit]:
    """The exhibit of the theorem."""
    settings = [
        {"shape": list(shape), "gamma": gamma, "seed": seed}
        for shape in SHAPES
        for gamma in GAMMAS
        for seed in SEEDS
    ]
    rows = [
        {
            **dict(zip(("samples", "features", "outputs", "K"), found["shape"], strict=True)),
            "gamma": found["gamma"],
            "sets": found["sets"],
            "rho_needed": rounded(found["needed"]),
            "rho_max": rounded(found["rho_max"]),
        }
        for found in bench.jobs("robust-l20 exact penalty", rho_needed, settings)
    ]
    return [exhibit(__package__, "Theorem 3.1", rows)]


def rho_needed(setting: dict) -> dict:
    """The largest rho that any set of K rows asks for, and the bound of the theorem."""
    n, d, c, K = setting["shape"]
    rng = np.random.default_rng(setting["seed"])
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, c))
    sets = list(combinations(range(d), K))
    return {
        "sets": len(sets),
        "needed": max(_needed(X, Y, list(rows), setting["gamma"]) for rows in sets),
        "rho_max": rho_max(X, setting["gamma"]),
    }


def _needed(X: np.ndarray, Y: np.ndarray, rows: list[int], gamma: float) -> float:
    """From which rho on no row beside these lowers the objective."""
    residual = Y - X[:, rows] @ restricted(X[:, rows], Y, gamma)
    directions = residual / np.linalg.norm(residual, axis=1, keepdims=True)
    others = [j for j in range(X.shape[1]) if j not in rows]
    return float(np.linalg.norm(X[:, others].T @ directions, axis=1).max()) - gamma


def restricted(X: np.ndarray, Y: np.ndarray, gamma: float) -> np.ndarray:
    """Minimum of the sum of residual norms and gamma times the row norms, by reweighting."""
    W = np.linalg.lstsq(X, Y, rcond=None)[0]
    for _ in range(ROUNDS):
        residuals = np.sqrt(((Y - X @ W) ** 2).sum(axis=1) + SMOOTHING)
        norms = np.sqrt((W**2).sum(axis=1) + SMOOTHING)
        weighted = X / residuals[:, None]
        W = np.linalg.solve(weighted.T @ X + np.diag(gamma / norms), weighted.T @ Y)
    return W
