"""Figures 1, 6 and 7: how the objectives fall, and how long the fits take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sparsieve.report.wording import listed_names

from ...studies.exhibits import Drawing, Exhibit, by_method
from ..base import Bench
from ..numbers import grouped, rounded
from ..verdicts import lower_verdict
from .plan import OURS, about_data, coarser, data_sets, scale_of
from .work import EARLY, descent, fit_seconds

# The paper does not say at which lambda, gamma and number of features it measured.
# More features than samples would fit exactly at once.
LAM, GAMMA, COUNT = 1e-3, 1.0, 20
EXAMPLES = ["Brain", "Breast3", "Leukemia"]
# The methods that the paper finds fast, their cost being proportional to the number of features.
SAID_FAST = ("RFS", "RPMFS", "AHIHT")
AHIHT_1 = "AHIHT (L0 = 1)"
_METHODS: dict[str, tuple[str, dict]] = {
    "RFS": ("RFSSelector", {"alpha": GAMMA}),
    "RLSR": ("RLSRSelector", {"alpha": GAMMA}),
    "RPMFS": ("RPMFSSelector", {"n_features_to_select": COUNT, "solver": "published"}),
    "ESFS": ("ESFSSelector", {"n_features_to_select": COUNT}),
    "HIHT": ("L20Selector", {"lam": LAM, "solver": "hiht"}),
    "AHIHT": ("L20Selector", {"lam": LAM, "solver": "ahiht"}),
    AHIHT_1: ("L20Selector", {"lam": LAM, "solver": "ahiht", "solver__L_0": 1.0}),
}


def descent_of_hiht(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1."""
    sets = data_sets(bench, EXAMPLES)
    if not sets:
        return
    outcomes = _descents(bench, sets, ["HIHT"])
    rows = _descent_rows(outcomes)
    rises, steps = (sum(o[name] for o in outcomes) for name in ("n_rises", "n_iter"))
    note = (
        f"Final lambda {LAM:g}; training part of the first split. Every point is a step of "
        "HIHT; lambda falls whenever the steps have become small. "
        f"The objective rose in {rises} of {steps} steps. The paper does not name the "
        f"data set of its example. {about_data(bench, sets, EXAMPLES)}"
    )
    yield Exhibit(
        "Figure 1",
        "Objective of HIHT at every step",
        rows,
        [_objective_drawing("objective", "objective")],
        note,
        _descent_summary(outcomes),
    )


def descents(bench: Bench) -> Iterator[Exhibit]:
    """Figure 6."""
    sets = data_sets(bench)
    if not sets:
        return
    outcomes = _descents(bench, sets, ["RPMFS", "ESFS", "AHIHT", AHIHT_1])
    runs = grouped(outcomes, "method")
    early = ", ".join(
        f"{method} {np.mean([o['after_ten'] / o['first'] for o in found]):.3f}"
        for (method,), found in runs.items()
        if all(o["first"] for o in found)
    )
    settled = ", ".join(
        f"{method} {np.mean([o['settled'] for o in found]):.0f}"
        for (method,), found in runs.items()
    )
    note = [
        f"Training part of the first split; final lambda {LAM:g} for AHIHT, {COUNT} features for "
        "RPMFS and ESFS. The three objectives differ (priced squared loss, l2,1 loss at the "
        "sparse copy of W, squared loss of discriminant codes), so the relative column divides "
        "each by its first value. AHIHT starts with the square of the spectral norm as step "
        "constant, or with 1; the paper does not give its own.",
        f"Share of its first value that an objective has after {EARLY} iterations: {early}.",
        f"Mean iterations until 99 percent of the whole decrease: {settled}.",
        coarser(scale_of(bench), "rpmfs_iterations"),
        about_data(bench, sets),
    ]
    yield Exhibit(
        "Figure 6",
        "Objective at every iteration of the l2,0 methods",
        _descent_rows(outcomes),
        [
            _objective_drawing("relative_objective", "objective relative to the first"),
            _objective_drawing("objective", "objective"),
        ],
        " ".join(filter(None, note)),
        _descent_summary(outcomes),
    )


def seconds(bench: Bench) -> Iterator[Exhibit]:
    """Figure 7."""
    sets, scale = data_sets(bench), scale_of(bench)
    if not sets:
        return
    settings = [
        {**_setting(bench, label, name, method), "timings": scale.timings}
        for label, name in sets.items()
        for method in _METHODS
    ]
    # One after the other, so that they do not slow each other down.
    outcomes = replace(bench, n_jobs=1).jobs("l20 seconds", fit_seconds, settings)
    rows = [
        {
            "dataset": o["label"],
            "method": o["method"],
            "seconds": rounded(o["seconds"]),
            "n_iter": o["n_iter"],
        }
        for o in outcomes
    ]
    timed = grouped(rows, "method")
    means = {
        method: float(np.mean([row["seconds"] for row in timed[method,]]))
        for method in _METHODS
        if (method,) in timed
    }
    fast = _fast_verdicts(rows, scale.timings)
    rows += [
        {"dataset": "mean", "method": method, "seconds": rounded(mean), "n_iter": None}
        for method, mean in means.items()
    ]
    order = sorted(means, key=lambda method: means[method])
    ordered = ", ".join(f"{method} {means[method]:.3g} s" for method in order)
    note = [
        "Wall-clock seconds of one fit to the training part of the first split with one thread, "
        f"the fastest of {scale.timings}; gamma {GAMMA:g} for RFS and RLSR, final lambda {LAM:g} "
        f"for HIHT and AHIHT, {COUNT} features for RPMFS and ESFS (the paper gives none of these).",
        f"From fast to slow: {ordered}.",
        *fast,
        _ratio_verdict(means),
        "RFS, RLSR and ESFS are solved here by other algorithms than the paper timed; none forms "
        "a matrix of features by features.",
        coarser(scale, "rpmfs_iterations"),
        about_data(bench, sets),
    ]
    yield Exhibit(
        "Figure 7",
        "Computation time of the sparse methods",
        rows,
        [by_method("method", "seconds", "seconds", "bars", log_y=True)],
        " ".join(filter(None, note)),
        [row for row in rows if row["dataset"] == "mean"],
    )


def _setting(bench: Bench, label: str, name: str, method: str) -> dict:
    selector, parameters = _METHODS[method]
    if method == "RPMFS":
        parameters = {**parameters, "max_iter": scale_of(bench).rpmfs_iterations}
    return {
        "dataset": name,
        "label": label,
        "method": method,
        "selector": selector,
        "parameters": parameters,
        "repeat": 0,
    }


def _descents(bench: Bench, sets: dict, wanted: list[str]) -> list[dict]:
    settings = [
        _setting(bench, label, name, method) for label, name in sets.items() for method in wanted
    ]
    return bench.jobs(f"l20 descent of {', '.join(wanted)}", descent, settings)


def _descent_rows(outcomes: list[dict]) -> list[dict]:
    return [
        {
            "dataset": o["label"],
            "method": o["method"],
            "iteration": iteration,
            "objective": rounded(objective),
            "relative_objective": rounded(objective / o["first"]) if o["first"] else None,
        }
        for o in outcomes
        for iteration, objective in zip(o["iterations"], o["objectives"], strict=True)
    ]


def _descent_summary(outcomes: list[dict]) -> list[dict]:
    return [
        {
            "dataset": o["label"],
            "method": o["method"],
            "iterations": o["n_iter"],
            "first_objective": rounded(o["first"]),
            "last_objective": rounded(o["last"]),
            "rises": o["n_rises"],
            "iterations_to_99_percent": o["settled"],
        }
        for o in outcomes
    ]


def _objective_drawing(column: str, title: str) -> Drawing:
    return by_method("iteration", column, title, log_x=True)


def _fast_verdicts(rows: list[dict], timings: int) -> list[str]:
    """The paper: three methods are fast, the others are not."""
    timed = [row for row in rows if row["method"] != AHIHT_1]
    methods = dict.fromkeys(row["method"] for row in timed)
    others = [method for method in methods if method not in SAID_FAST]
    if not others:
        return []
    measure = f"time (the fastest of {timings} fits)" if timings > 1 else "time"
    verdicts = [
        str(lower_verdict(timed, "seconds", method, others, measure, " s"))
        for method in SAID_FAST
        if method in methods
    ]
    return [f"Claim that {listed_names(SAID_FAST)} are faster than the others.", *verdicts]


def _ratio_verdict(means: dict) -> str:
    if not {"HIHT", "AHIHT", AHIHT_1} <= set(means):
        return ""
    return (
        f"HIHT takes {means['HIHT'] / means['AHIHT']:.3g} times as long as AHIHT, the solver of "
        f"{OURS}, and {means['HIHT'] / means[AHIHT_1]:.3g} times as long as {AHIHT_1}, which has "
        "its step constant."
    )
