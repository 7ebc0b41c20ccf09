"""Figure 1: how the augmented Lagrangian method of the paper converges, and to what."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.design import as_design
from sparsieve.papers.exclusive_l21.published import ExclusiveALM
from sparsieve.penalties.convex import ExclusiveL21
from sparsieve.solvers.base import Event
from sparsieve.solvers.least_squares import LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .methods import centred_indicators, loaded

STARTS = {
    "zero": "published ALM from zero",
    "random": "published ALM from N(0, 1)",
}
OPTIMUM = "optimum (block coordinate descent)"


def run_alm(setting: dict) -> dict:
    """Objective and constraint residual after every iteration of the published method."""
    problem = _problem(setting)
    start = None
    if setting["start"] == "random":
        shape = (problem.design.shape[1], problem.Y.shape[1])
        start = problem.make_result(np.random.default_rng(setting["seed"]).standard_normal(shape))
    objective, split = [], []

    def watch(event: Event) -> None:
        objective.append(rounded(event.objective, 5))
        split.append(rounded(event.solution.copy_distance, 5))

    solver = ExclusiveALM(max_iter=setting["max_iter"])
    result = solver.solve(problem, start, watch)
    return {
        "objective": objective,
        "split": split,
        "final": float(result.objective),
        "stopped": result.n_iter < setting["max_iter"],
    }


def find_optimum(setting: dict) -> dict:
    """The optimum of the same problem, certified by a duality gap."""
    result = BlockCD(tol=setting["tol"], max_iter=100_000).solve(_problem(setting))
    return {"optimum": float(result.objective), "gap": float(result.optimality)}


def convergence(bench: Bench) -> list[Exhibit]:
    """Objective and residual per iteration beside the certified optimum."""
    names = bench.datasets(bench.scale.converging)
    places = [
        {"dataset": name, "label": label, "alpha": 1.0, "beta": 1.0}
        for label, name in names.items()
    ]
    optima = {
        found["label"]: found
        for found in bench.jobs(
            "exclusive-l21 optimum", find_optimum, [{**place, "tol": 1e-4} for place in places]
        )
    }
    runs = bench.jobs(
        "exclusive-l21 convergence",
        run_alm,
        [
            {**place, "start": start, "seed": 0, "max_iter": 1000}
            for place in places
            for start in STARTS
        ],
    )
    runs = [run for run in runs if run["label"] in optima]
    rows = [row for run in runs for row in _iterations(run)]
    for label, found in optima.items():
        lengths = [len(run["objective"]) for run in runs if run["label"] == label]
        # A level line from the first iteration to the last.
        for iteration in (1, max(lengths, default=1)):
            level = {"objective": rounded(found["optimum"], 5), "constraint_residual": None}
            rows.append({"dataset": label, "method": OPTIMUM, "iteration": iteration, **level})
    summary = [_end(run, optima[run["label"]]) for run in runs]
    return [exhibit(__package__, "Figure 1", rows, summary)]


def _problem(setting: dict) -> LeastSquares:
    X, codes, n_classes = loaded(setting["dataset"])
    design = as_design(np.asfortranarray(StandardScaler().fit_transform(X)))
    Y = centred_indicators(codes, n_classes)
    return LeastSquares(design, Y, ExclusiveL21(setting["alpha"], setting["beta"]))


def _iterations(run: dict) -> list[dict]:
    return [
        {
            "dataset": run["label"],
            "method": STARTS[run["start"]],
            "iteration": t,
            "objective": objective,
            "constraint_residual": split or None,
        }
        for t, (objective, split) in enumerate(
            zip(run["objective"], run["split"], strict=True), start=1
        )
    ]


def _end(run: dict, best: dict) -> dict:
    return {
        "dataset": run["label"],
        "method": STARTS[run["start"]],
        "iterations": len(run["objective"]),
        "stopped_by_its_rule": run["stopped"],
        "iterations_to_look_flat": _flat_from(run["objective"]),
        "objective": rounded(run["final"], 5),
        "optimum": rounded(best["optimum"], 5),
        "relative_excess": rounded(run["final"] / best["optimum"] - 1.0, 5),
        "constraint_residual": run["split"][-1],
    }


def _flat_from(objective: list[float]) -> int:
    """The iteration from which on the objective is within a percent of its last value."""
    off = np.flatnonzero(np.abs(np.array(objective) - objective[-1]) > 0.01 * objective[-1])
    return int(off[-1]) + 2 if len(off) else 1
