"""Tables 1 and 3 to 7 and Figure 5 of the l0-MPM paper, ours beside the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..data import data_table
from ..declared import exhibit
from ..numbers import (
    difference,
    grouped,
    mean,
    mean_rows,
    picked,
    published_by,
    rounded,
    with_deviation,
)
from .figures import three_machines
from .work import PRINTED_DELTA, alpha_of, descend, draws, machine, sets, try_linear

# Machine, level, and how a row calls it. The last levels are the printed ones.
MACHINES: tuple[tuple[str, list | None, str], ...] = (
    ("MPM", None, "MPM"),
    ("L1-MPM", ["share", 0.8], "L1-MPM, 0.8 of the best level"),
    ("L1-MPM", ["share", 0.95], "L1-MPM, 0.95 of the best level"),
    ("L1-MPM", ["delta", PRINTED_DELTA], f"L1-MPM, delta {PRINTED_DELTA}"),
    ("L0-MPM", ["share", 0.8], "L0-MPM, 0.8 of the best level"),
    ("L0-MPM", ["share", 0.95], "L0-MPM, 0.95 of the best level"),
    ("L0-MPM", ["delta", PRINTED_DELTA], f"L0-MPM, delta {PRINTED_DELTA}"),
    ("S-MPM", None, "S-MPM"),
)
AVERAGE = "Average"  # in the place of a data set
RANKED = ("MPM", "L1-MPM, 0.95 of the best level", "L0-MPM, 0.95 of the best level")


def _linear(bench: Bench) -> list[dict]:
    """One row per set and machine, with the scores of all folds."""
    settings = [
        {**draw, **machine(method), "alpha": alpha_of(printed), "level": level}
        for printed, dataset in sets(bench).items()
        for draw in draws(bench, printed, dataset)
        for method, level, _ in MACHINES
    ]
    found = bench.jobs("l0-mpm linear", try_linear, settings)
    places = [{**row, "level": str(row["level"])} for row in found]
    groups = grouped(places, "dataset", "method", "level")
    return [
        {"dataset": printed, "method": method, "label": label, **_pooled(groups[place])}
        for printed, dataset in sets(bench).items()
        for method, level, label in MACHINES
        if (place := (dataset, method, str(level))) in groups
    ]


def _pooled(jobs: Sequence[dict]) -> dict:
    """All folds of all draws in one list each."""
    return {
        **{
            name: [value for job in jobs for value in job[name]]
            for name in ("accuracy", "mcc", "n_kept", "n_iter", "reach")
        },
        **{name: jobs[0][name] for name in ("n_features", "n_samples", "positive")},
    }


def _percent(values: Sequence[float | None]) -> list[float]:
    return [100 * value for value in values if value is not None]


def levels(bench: Bench) -> list[Exhibit]:
    """Table 1, and the levels that its data sets allow."""
    rows = [
        {
            "dataset": row["dataset"],
            "best_level": mean(row["reach"]),
            "folds_that_reach_printed_delta": sum(v >= PRINTED_DELTA for v in row["reach"]),
            "folds": len(row["reach"]),
        }
        for row in _linear(bench)
        if row["method"] == "MPM"
    ]
    drawn = "200 random rows are used, since the paper does not say which"
    return [
        *data_table(
            bench,
            remarks={
                "Spam": drawn,
                "Madelon": drawn,
                "Pima": "all rows are used: the paper does not say which it left out",
            },
        ),
        exhibit(__package__, "Table 1", rows),
    ]


_ENDS = ("dataset", "level", "iterations", "converged", "rises", "slowest_rate")


def convergence(bench: Bench) -> Iterator[Exhibit]:
    """Theorem 1: the objective of the DC algorithm at every iteration."""
    settings = [
        {
            **draws(bench, printed, dataset)[0],
            **machine("L0-MPM"),
            "alpha": alpha_of(printed),
            "level": ["share", share],
        }
        for printed, dataset in sets(bench).items()
        for share in (0.8, 0.95)
    ]
    names = {dataset: printed for printed, dataset in sets(bench).items()}
    runs = [
        {**run, "dataset": names[run["dataset"]], "level": f"{run['level'][1]:g} of the best level"}
        for run in bench.jobs("l0-mpm convergence", descend, settings)
    ]
    yield exhibit(
        __package__,
        "Theorem 1",
        [
            {"dataset": run["dataset"], "method": run["level"], "iteration": i, "objective": value}
            for run in runs
            for i, value in enumerate(run["history"], start=1)
        ],
        [picked(run, *_ENDS) for run in runs],
    )


def _score_row(row: dict, theirs: dict) -> dict:
    accuracy = _percent(row["accuracy"])
    return {
        "dataset": row["dataset"],
        "method": row["label"],
        **with_deviation("accuracy", accuracy),
        "published_accuracy": theirs.get("tsa"),
        "difference": difference(mean(accuracy), theirs.get("tsa")),
        "mcc": mean(_percent(row["mcc"])),
        "published_mcc": theirs.get("mcc"),
        "largest_mcc": theirs and rounded(100 * largest_mcc(theirs["tsa"] / 100, row["positive"])),
        "percent_features": mean(
            100 * kept / row["n_features"] for kept in row["n_kept"] if kept is not None
        ),
        "published_percent_features": theirs.get("percent_features"),
        "feasible_folds": len(accuracy),
        "folds": len(row["accuracy"]),
    }


def scores(bench: Bench) -> Iterator[Exhibit]:
    """Table 3, Table 4 and Figure 5."""
    printed = published_by("l0mpm_tables3_5_6_7", "dataset", "method")
    found = [row for row in _linear(bench) if row["method"] != "S-MPM"]
    rows = [_score_row(row, printed.get((row["dataset"], row["method"]), {})) for row in found]
    yield exhibit(__package__, "Table 3", rows)
    yield _ranks(bench, rows)
    yield _kept(rows)


def largest_mcc(accuracy: float, positive: float) -> float:
    """The largest Matthews correlation of predictions with this accuracy and class share.

    Examples
    --------
    >>> from sparsieve_experiments.papers.l0_mpm.tables import largest_mcc
    >>> round(largest_mcc(1.0, 0.3), 6)
    1.0
    """
    wrong = 1.0 - accuracy
    missed = np.linspace(max(0.0, wrong - (1.0 - positive)), min(wrong, positive), 2001)
    false = wrong - missed
    hit, spared = positive - missed, 1.0 - positive - false
    called = hit + false
    below = np.sqrt(called * positive * (spared + missed) * (1.0 - positive))
    above = hit * spared - missed * false
    possible = below > 0
    return float(np.max(above[possible] / below[possible])) if possible.any() else 0.0


def _ranks(bench: Bench, rows: Sequence[dict]) -> Exhibit:
    table4 = published_by("l0mpm_table4", "dataset", "method")
    printed = {place: row["rank"] for place, row in table4.items()}
    accuracies: dict[str, list[float]] = {}
    for name in dict.fromkeys(row["dataset"] for row in rows):
        values = [
            r["accuracy"] for m in RANKED for r in rows if (r["dataset"], r["method"]) == (name, m)
        ]
        if len(values) == len(RANKED):
            accuracies[name] = values
    made = three_machines(bench)
    if len(made) == len(RANKED):
        accuracies["Synthetic"] = [row["accuracy"] for row in made]
    ranks = {name: rankdata([-value for value in values]) for name, values in accuracies.items()}
    methods = [label.split(",")[0] for label in RANKED]
    table = [
        {"dataset": name, "method": method, "rank": float(rank), "published": printed[name, method]}
        for name, ranked in ranks.items()
        for method, rank in zip(methods, ranked, strict=True)
    ]
    return exhibit(__package__, "Table 4", table)


def average_ranks(rows: Sequence[dict]) -> list[dict]:
    """The mean rank of every method over the data sets, beside the printed one."""
    printed = published_by("l0mpm_table4", "dataset", "method")
    apart = [row for row in rows if row["dataset"] != AVERAGE]
    return [
        {"dataset": AVERAGE, **row, "published": printed[AVERAGE, row["method"]]["rank"]}
        for row in mean_rows(apart, "method", ["rank"])
    ]


def _kept(rows: Sequence[dict]) -> Exhibit:
    bars = [
        {
            **picked(row, "dataset", "method", "percent_features"),
            "published": row["published_percent_features"],
        }
        for row in rows
        if row["percent_features"] is not None
    ]
    return exhibit(__package__, "Figure 5", bars)


def ratio_machine(bench: Bench) -> Iterator[Exhibit]:
    """Tables 5, 6 and 7: L0-MPM against S-MPM."""
    printed = published_by("l0mpm_tables3_5_6_7", "dataset", "method")
    names = [name for name, method in printed if method == "S-MPM"]
    rows = [
        {
            **_score_row(row, theirs),
            "iterations": mean(row["n_iter"]),
            "published_iterations": theirs["iterations"],
        }
        for row in _linear(bench)
        if row["dataset"] in names and row["method"] in ("L0-MPM", "S-MPM")
        for theirs in [printed[row["dataset"], row["method"]]]
    ]
    yield exhibit(__package__, "Tables 5, 6 and 7", rows)
