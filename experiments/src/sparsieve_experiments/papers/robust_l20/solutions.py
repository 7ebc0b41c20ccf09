"""What solutions are like: Theorem 3.1, and Figures 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.penalties import row_norms
from sparsieve.scoring.feature_sets import sparsity_level
from sparsieve.solvers.robust.irls import ReweightedLeastSquares

from ...studies.exhibits import Exhibit
from ...studies.sources import DatasetSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .accuracy import NMAPG, TOP_K
from .methods import FITS, published_nmapg, rho_max, robust_problem

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


TOLERANCES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)
ROW_SETS = ("LUNG",)


def sparsity_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 4."""
    sets = bench.at_hand(ROW_SETS)
    ks = list(bench.scale.sparsity_ks)
    settings = [
        {
            "dataset": name,
            "label": method.label,
            "method": method.method,
            "parameters": dict(method.parameters),
            "ks": ks,
            "tolerances": list(TOLERANCES),
        }
        for name in sets.values()
        for method in (*NMAPG, TOP_K)
    ]
    printed = {name: shown for shown, name in sets.items()}
    levels, norms = [], []
    for found in bench.jobs("robust-l20 sparsity", rows_above, settings):
        place = {"dataset": printed[found["dataset"]], "method": found["label"]}
        for k, counts in zip(found["fitted"], found["levels"], strict=True):
            for tolerance, count in zip(found["tolerances"], counts, strict=True):
                levels.append({**place, "k": k, "tolerance": tolerance, "rows_above": count})
        for rank, norm in zip(found["ranks"], found["norms"], strict=True):
            norms.append({**place, "k": found["fitted"][-1], "rank": rank, "row_norm": norm})
    yield exhibit(__package__, "Figure 4", levels)
    yield exhibit(
        __package__,
        "Figure 4, row norms",
        norms,
        [row for row in norms if row["rank"] in (1, 10, 20, row["k"])],
    )


def rows_above(setting: dict) -> dict:
    """Numbers of rows above the tolerances for every K, and the row norms for the largest K."""
    data = DatasetSpec(setting["dataset"]).load()
    X = StandardScaler().fit_transform(data.X)
    ks = [k for k in setting["ks"] if k <= X.shape[1]]
    levels = []
    for fit in FITS[setting["method"]](X, data.y, ks, **setting["parameters"]):
        levels.append([sparsity_level(fit.W.T, tolerance) for tolerance in setting["tolerances"]])
    norms = np.sort(row_norms(fit.W))[::-1]
    norms = norms[norms > 0]
    ranks = np.unique(np.geomspace(1, max(len(norms), 1), 60).astype(int))
    ranks = np.union1d(ranks, ks)
    ranks = ranks[ranks <= len(norms)]
    return {
        "fitted": ks,
        "levels": levels,
        "ranks": [int(rank) for rank in ranks],
        "norms": [rounded(float(norms[rank - 1])) for rank in ranks],
    }


DESCENT_SETS = ("COIL20", "Isolet", "Yale", "USPS")
PROBLEM = {"gamma": 0.1, "rho": 0.01, "k": 10}
FIRST, SECOND, SPECTRAL, REFERENCE = (
    "Algorithm 1",
    "Algorithm 2",
    "Algorithm 2, spectral step (ours)",
    "reweighted least squares (ours)",
)
_ALGORITHMS = {
    FIRST: published_nmapg(mu=0.01, max_iter=1000),
    SECOND: published_nmapg(),
    SPECTRAL: published_nmapg(step_constant="spectral"),
}


def convergence_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 5."""
    sets = bench.at_hand(DESCENT_SETS)
    scale = bench.scale
    settings = [
        {
            "dataset": name,
            "method": method,
            "n_rows": scale.descent_rows,
            "max_iter": scale.reference_iterations if method == REFERENCE else None,
            **PROBLEM,
        }
        for name in sets.values()
        for method in (FIRST, SECOND, SPECTRAL, REFERENCE)
    ]
    printed = {name: shown for shown, name in sets.items()}
    rows, ends = [], []
    for run in bench.jobs("robust-l20 convergence", descent, settings):
        place = {"dataset": printed[run["dataset"]], "method": run["method"]}
        for iteration, objective in zip(run["iterations"], run["objectives"], strict=True):
            rows.append({**place, "iteration": iteration, "objective": objective})
        ends.append(
            {
                **place,
                "objective_at_zero": rounded(run["objectives"][0]),
                "objective_at_the_end": rounded(run["objectives"][-1]),
                "iterations": run["iterations"][-1],
            }
        )
    yield exhibit(__package__, "Figure 5", rows, ends)


def descent(setting: dict) -> dict:
    """Objective after every iteration, thinned out, and how it ended."""
    data = DatasetSpec(setting["dataset"]).load()
    X, y = data.X, data.y
    if setting["n_rows"] is not None and setting["n_rows"] < len(y):
        rows = np.random.default_rng(0).permutation(len(y))[: setting["n_rows"]]
        X, y = X[np.sort(rows)], y[np.sort(rows)]
    problem = robust_problem(StandardScaler().fit_transform(X), y, setting["gamma"])
    problem = replace(problem, k=setting["k"], rho=setting["rho"])
    if setting["method"] == REFERENCE:
        varies = problem.design.column_sq_norms() > 0
        irls = ReweightedLeastSquares(max_iter=setting["max_iter"])
        fit = irls.solve(replace(problem, eligible=varies))
    else:
        fit = _ALGORITHMS[setting["method"]].solve(problem)
    # At W = 0 and the frequencies of the classes as the intercept.
    objectives = [float(row_norms(problem.Y).sum()), *fit.trace]
    shown = np.unique(np.geomspace(1, len(objectives), 80).astype(int)) - 1
    return {
        "iterations": shown.tolist(),
        "objectives": [rounded(objectives[i], 6) for i in shown],
        "lowest": min(objectives),
    }
