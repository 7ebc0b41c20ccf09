"""Figures 1, 6 and 7: how the objectives fall, and how long the fits take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .sensitivity import MAX_STEPS
from .work import data_sets, descent, fit_seconds

# The paper does not say at which lambda, gamma and number of features it measured.
# More features than samples would fit exactly at once.
LAM, GAMMA, COUNT = 1e-3, 1.0, 20
EXAMPLES = ["Brain", "Breast3", "Leukemia"]
AHIHT_1 = "AHIHT (L0 = 1)"
_METHODS: dict[str, tuple[str, dict]] = {
    "RFS": ("RFSSelector", {"alpha": GAMMA}),
    "RLSR": ("RLSRSelector", {"alpha": GAMMA}),
    "RPMFS": ("RPMFSSelector", {"n_features_to_select": COUNT, "solver": "published"}),
    "ESFS": ("ESFSSelector", {"n_features_to_select": COUNT}),
    "HIHT": ("L20Selector", {"lam": LAM, "solver": "hiht"}),
    "AHIHT": ("L20Selector", {"lam": LAM, "solver": "published"}),
    AHIHT_1: ("L20Selector", {"lam": LAM, "solver": "published", "solver__L_0": 1.0}),
}


def descent_of_hiht(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1."""
    yield _descents(bench, "Figure 1", data_sets(bench, EXAMPLES), ["HIHT"])


def descents(bench: Bench) -> Iterator[Exhibit]:
    """Figure 6."""
    yield _descents(bench, "Figure 6", data_sets(bench), ["RPMFS", "ESFS", "AHIHT", AHIHT_1])


def seconds(bench: Bench) -> Iterator[Exhibit]:
    """Figure 7."""
    sets, scale = data_sets(bench), bench.scale
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
            "cut": o["method"] == "HIHT" and o["n_iter"] >= MAX_STEPS,
        }
        for o in outcomes
    ]
    yield exhibit(__package__, "Figure 7", rows)


def _setting(bench: Bench, label: str, name: str, method: str) -> dict:
    selector, parameters = _METHODS[method]
    if method == "RPMFS":
        parameters = {**parameters, "max_iter": bench.scale.rpmfs_iterations}
    return {
        "dataset": name,
        "label": label,
        "method": method,
        "selector": selector,
        "parameters": parameters,
        "repeat": 0,
    }


def _descents(bench: Bench, figure: str, sets: dict, wanted: list[str]) -> Exhibit:
    settings = [
        _setting(bench, label, name, method) for label, name in sets.items() for method in wanted
    ]
    outcomes = bench.jobs(f"l20 descent of {', '.join(wanted)}", descent, settings)
    rows, summary = [], []
    for o in outcomes:
        place = {"dataset": o["label"], "method": o["method"]}
        for iteration, objective in zip(o["iterations"], o["objectives"], strict=True):
            relative = rounded(objective / o["first"]) if o["first"] else None
            shown = {"objective": rounded(objective), "relative_objective": relative}
            rows.append({**place, "iteration": iteration, **shown})
        summary.append(
            {
                **place,
                "iterations": o["n_iter"],
                "first_objective": rounded(o["first"]),
                "last_objective": rounded(o["last"]),
                "rises": o["n_rises"],
                "iterations_to_99_percent": o["settled"],
            }
        )
    return exhibit(__package__, figure, rows, summary)
