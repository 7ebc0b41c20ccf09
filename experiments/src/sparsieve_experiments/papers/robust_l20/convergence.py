"""Figure 5: the objective over the iterations of Algorithms 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.penalties import row_norms
from sparsieve.solvers.robust.irls import ReweightedLeastSquares

from ...studies.exhibits import Exhibit
from ...studies.sources import DatasetSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .methods import published_nmapg, robust_problem

PRINTED = ("COIL20", "Isolet", "Yale", "USPS")
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
    sets = bench.at_hand(PRINTED)
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
