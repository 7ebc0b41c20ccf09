"""What lambda, the initial W and the solver change, iteration by iteration and at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, mean, picked, rounded, with_deviation
from .work import data_sets, descent, fit_seconds, homotopy_fit, l21_rows

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
        {**_descent_setting(bench, label, name, method), "timings": scale.timings}
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


def _descent_setting(bench: Bench, label: str, name: str, method: str) -> dict:
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
        _descent_setting(bench, label, name, method)
        for label, name in sets.items()
        for method in wanted
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


LARGE_GAMMA = 10.0
INITS = ("zero", "gaussian", "uniform")
# The result depends on the initial step constant, which the paper does not give: both ends of
# what is sensible are shown where that matters.
CONSTANTS: dict[str, float | str] = {"L0 = spectral norm squared": "auto", "L0 = 1": 1.0}
SOLVERS: dict[str, dict] = {
    "HIHT (L0 = 1)": {"solver": "hiht", "solver__L_0": 1.0},
    "AHIHT (L0 = 1)": {"solver": "published", "solver__L_0": 1.0},
    "AHIHT (L0 = spectral norm squared)": {"solver": "published"},
}
MAX_STEPS = 10_000  # of one fit
# HIHT ends within so many at these lambdas; below, it takes over ten times as many.
MORE_STEPS, FROM_LAM = 50_000, 1e-3
REMOVES = "removes the start"
FIRST_PRICES = {REMOVES: None, "1000 lambda": 1e3, "10 lambda": 10.0, "lambda": 1.0}


def sensitivity_to_lambda(bench: Bench) -> Iterator[Exhibit]:
    """Figure 4."""
    sets, scale = data_sets(bench, ["Brain", "Leukemia", "Lung", "Prostate"]), bench.scale
    settings = [
        _setting(label, name, repeat, lam, {"solver": "published"}, scale.sensitivity_ks)
        for label, name in sets.items()
        for lam in scale.lams
        if lam < 1.0
        for repeat in range(scale.n_repeats)
    ]
    outcomes = bench.jobs("l20 sensitivity to lambda", homotopy_fit, settings)
    rows = []
    for (label, lam), group in grouped(outcomes, "label", "lam").items():
        for place, k in enumerate(scale.sensitivity_ks):
            rows.append(
                {
                    "dataset": label,
                    "lambda": lam,
                    "line": f"lambda {lam:g}",
                    "k": k,
                    **with_deviation("accuracy", [100 * o["accuracies"][place] for o in group]),
                    "n_rows": mean(o["n_rows"] for o in group),
                }
            )
    yield exhibit(__package__, "Figure 4", rows)


def initialisations(bench: Bench) -> Iterator[Exhibit]:
    """Figure 5, also over the price at which the homotopy begins."""
    sets, scale = data_sets(bench, ["Breast3", "Lung", "Srbct"]), bench.scale
    settings = [
        {
            **_setting(label, name, trial, lam, _started(constant, init, times, lam)),
            "init": init,
            "constant": shown,
            "first_price": first,
        }
        for label, name in sets.items()
        for shown, constant in CONSTANTS.items()
        for first, times in FIRST_PRICES.items()
        for init in INITS
        for lam in scale.compared_lams
        for trial in range(scale.n_trials)
    ]
    outcomes = bench.jobs("l20 initialisations", homotopy_fit, settings)
    zeros = {_place(o): o["rows"] for o in outcomes if o["init"] == "zero"}
    rows = [
        {
            "dataset": label,
            "L0": constant,
            "first_price": first,
            "panel": f"{label}, {constant}, first price {first}",
            "init": init,
            "lambda": lam,
            **_own_means(group),
            "fits": len(group),
            "fits_with_rows": sum(bool(o["rows"] or zeros.get(_place(o))) for o in group),
            "same_rows_as_from_zero": sum(
                bool(o["rows"]) and o["rows"] == zeros.get(_place(o)) for o in group
            ),
        }
        for (label, constant, first, init, lam), group in grouped(
            outcomes, "label", "constant", "first_price", "init", "lam"
        ).items()
    ]
    yield exhibit(__package__, "Figure 5", rows)


def _started(constant: float | str, init: str, times: float | None, lam: float) -> dict:
    first = {} if times is None else {"solver__lambda_0": times * lam}
    return {"solver": "published", "solver__L_0": constant, "solver__init": init, **first}


def _place(outcome: dict) -> tuple:
    return tuple(outcome[name] for name in ("label", "constant", "first_price", "lam", "repeat"))


def starts_in_short(rows: Sequence[dict]) -> list[dict]:
    """Fits from a random start with the same rows as from zero, by first price and L0."""
    random = [row for row in rows if row["init"] != "zero"]
    return [
        {
            "first_price": first,
            "L0": constant,
            "fits_with_rows": sum(row["fits_with_rows"] for row in group),
            "same_rows_as_from_zero": sum(row["same_rows_as_from_zero"] for row in group),
        }
        for (first, constant), group in grouped(random, "first_price", "L0").items()
    ]


def hiht_against_ahiht(bench: Bench) -> Iterator[Exhibit]:
    """Figure 8."""
    sets, scale = data_sets(bench, ["Breast3", "Lung", "NCI"]), bench.scale
    settings = [
        {
            **_setting(label, name, trial, lam, {**parameters, **_longer(method, lam)}),
            "method": method,
        }
        for label, name in sets.items()
        for method, parameters in SOLVERS.items()
        for lam in scale.compared_lams
        for trial in range(scale.n_trials)
    ]
    outcomes = bench.jobs("l20 HIHT against AHIHT", homotopy_fit, settings)
    rows = [
        {
            "dataset": label,
            "method": method,
            "lambda": lam,
            **_own_means(group),
            "cut_fits": sum(
                o["n_iter"] >= _longer(method, lam).get("max_iter", MAX_STEPS) for o in group
            ),
        }
        for (label, method, lam), group in grouped(outcomes, "label", "method", "lam").items()
    ]
    yield exhibit(__package__, "Figure 8", rows)


def cut_fits_or_first(rows: Sequence[dict]) -> list[dict]:
    """Rows with fits that were stopped; the first ones where there is none."""
    return [row for row in rows if row["cut_fits"]] or list(rows[:25])


def _longer(method: str, lam: float) -> dict:
    """More steps for HIHT, which needs them, where it then ends."""
    return {"max_iter": MORE_STEPS} if method.startswith("HIHT") and lam >= FROM_LAM else {}


def rows_of_l21(bench: Bench) -> Iterator[Exhibit]:
    """What the introduction says of large strengths."""
    settings = [
        {"dataset": name, "label": label, "gamma": gamma}
        for label, name in data_sets(bench).items()
        for gamma in bench.scale.gammas
        if gamma >= LARGE_GAMMA
    ]
    rows = [
        {"dataset": found["label"], **picked(found, "gamma", "n_rows", "n_features")}
        for found in bench.jobs("l20 rows of l2,1", l21_rows, settings)
    ]
    yield exhibit(__package__, "Rows of l2,1", rows)


def _setting(
    label: str, name: str, repeat: int, lam: float, parameters: dict, ks: Sequence[int] = ()
) -> dict:
    return {
        "dataset": name,
        "label": label,
        "selector": "L20Selector",
        "parameters": {**parameters, "lam": lam, "random_state": repeat},
        "lam": lam,
        "repeat": repeat,
        "ks": list(ks),
    }


def _own_means(group: list[dict]) -> dict:
    return {
        **with_deviation("accuracy", [100 * o["accuracy"] for o in group]),
        **with_deviation("n_rows", [o["n_rows"] for o in group]),
        "steps": mean(o["n_iter"] for o in group),
    }
