"""Table 2 and Figures 2 to 4 (Spam over alpha and delta), Figures 6 and 7 (Gaussian kernels)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, mean, picked, with_deviation
from ..published import published_by
from .work import METHODS, PRINTED_DELTA, draws, machine, sets, try_kernel, try_linear

ALPHAS = (50.0, 10.0, 5.0, 1.0, 0.5, 0.1)
DELTAS = (0.9, 0.7, 0.5, 0.3, 0.1)
SHARES = (0.95, 0.8, 0.6, 0.4, 0.2)
KERNEL_SETS = ("Ionosphere", "Sonar", "WDBC", "Madelon")
# How the printed steps are compared with ours: a fit of WDBC takes a minute, of Ionosphere 15 s.
STEPS = {"our steps": "surrogate", "printed steps": "published"}
COMPARED_SETS, COMPARED_WIDTHS, COMPARED_FOLDS = ("Sonar", "Madelon"), (0.5, 2.0, 8.0), 3


# -- Spam over alpha and delta ---------------------------------------------------------------


def _spam(bench: Bench, kind: str, levels: Sequence[float]) -> list[dict]:
    """One row per alpha and level."""
    dataset = sets(bench).get("Spam")
    if dataset is None:
        return []
    settings = [
        {**draw, **machine("L0-MPM"), "alpha": alpha, "level": [kind, level]}
        for alpha in ALPHAS
        for level in levels
        for draw in draws(bench, "Spam", dataset)
    ]
    found = bench.jobs(f"l0-mpm spam {kind}", try_linear, settings)
    rows = []
    for (alpha, level), jobs in grouped(
        [{**row, "level": row["level"][1]} for row in found], "alpha", "level"
    ).items():
        kept = [value for job in jobs for value in job["n_kept"] if value is not None]
        accuracy = [100 * v for job in jobs for v in job["accuracy"] if v is not None]
        rows.append(
            {
                "alpha": alpha,
                "level": level,
                "n_features": mean(kept),
                "percent_features": mean(100 * value / jobs[0]["n_features"] for value in kept),
                **with_deviation("accuracy", accuracy),
                "feasible_folds": len(kept),
                "folds": sum(len(job["n_kept"]) for job in jobs),
            }
        )
    return rows


def spam(bench: Bench) -> Iterator[Exhibit]:
    """Table 2 and Figures 2, 3 and 4."""
    printed = published_by("l0mpm_table2", "alpha", "delta")
    rows = [
        {
            "alpha": row["alpha"],
            "delta": row["level"],
            "n_features": row["n_features"],
            "published": printed[row["alpha"], row["level"]]["n_features"],
            **picked(row, "accuracy", "feasible_folds", "folds"),
        }
        for row in _spam(bench, "delta", DELTAS)
    ]
    yield exhibit(__package__, "Table 2", rows)
    shares = [
        {"share" if name == "level" else name: value for name, value in row.items()}
        for row in _spam(bench, "share", SHARES)
    ]
    for row in shares:
        row["level"] = f"{row['share']:g} of the best level"
        row["with_alpha"] = f"alpha {row['alpha']:g}"
    yield exhibit(__package__, "Figures 2, 3 and 4", shares)


# -- Gaussian kernels ------------------------------------------------------------------------


def _kernels(bench: Bench) -> dict[tuple[str, str], list[dict]]:
    """Per set and method the results of every width."""
    used = {name: dataset for name, dataset in sets(bench).items() if name in KERNEL_SETS}
    scale = bench.scale
    settings = [
        {
            **draws(bench, printed, dataset)[0],
            "method": method,
            "width": width,
            "delta": PRINTED_DELTA,
            "n_folds": scale.kernel_folds,
            "inner_folds": scale.inner_folds,
        }
        for printed, dataset in used.items()
        for method in METHODS
        for width in scale.widths
    ]
    shown = {dataset: printed for printed, dataset in used.items()}
    found = grouped(bench.jobs("l0-mpm kernels", try_kernel, settings), "dataset", "method")
    return {(shown[dataset], method): rows for (dataset, method), rows in found.items()}


def _kept_percent(row: dict) -> list[float]:
    return [100 * n / total for n, total in zip(row["n_kept"], row["n_train"], strict=True)]


def kernels(bench: Bench) -> Iterator[Exhibit]:
    """Figures 6 and 7."""
    found = _kernels(bench)
    chosen = [_chosen(printed, method, rows) for (printed, method), rows in found.items()]
    yield exhibit(__package__, "Figures 6 and 7", chosen)
    rows = [
        {"dataset": printed, "method": method, **_at_width(row)}
        for (printed, method), group in found.items()
        for row in group
    ]
    yield exhibit(__package__, "Figures 6 and 7, every width", rows)


def printed_steps(bench: Bench) -> Iterator[Exhibit]:
    """Figures 6 and 7 once more, with the printed steps beside ours."""
    used = {name: dataset for name, dataset in sets(bench).items() if name in COMPARED_SETS}
    settings = [
        {
            **draws(bench, printed, dataset)[0],
            "method": "L0-MPM",
            "solver": solver,
            "width": width,
            "delta": PRINTED_DELTA,
            "n_folds": COMPARED_FOLDS,
            "inner_folds": 0,
        }
        for printed, dataset in used.items()
        for solver in STEPS.values()
        for width in COMPARED_WIDTHS
    ]
    shown = {dataset: printed for printed, dataset in used.items()}
    names = {solver: name for name, solver in STEPS.items()}
    rows = [
        {
            "dataset": shown[row["dataset"]],
            "method": names[row["solver"]],
            **_at_width(row),
            "iterations": mean(row["n_iter"]),
        }
        for row in bench.jobs("l0-mpm printed kernels", try_kernel, settings)
    ]
    yield exhibit(__package__, "Figures 6 and 7, printed steps", rows)


def _at_width(row: dict) -> dict:
    return {
        "width": row["width"],
        **with_deviation("accuracy", [100 * value for value in row["accuracy"]]),
        "mcc": mean(100 * value for value in row["mcc"]),
        "percent_samples": mean(_kept_percent(row)),
    }


def _chosen(printed: str, method: str, rows: Sequence[dict]) -> dict:
    """The width by inner cross-validation in every fold, and the one best on test."""
    taken = [
        int(np.argmax(values)) for values in zip(*(r["inner_accuracy"] for r in rows), strict=True)
    ]
    accuracy = [100 * rows[which]["accuracy"][fold] for fold, which in enumerate(taken)]
    best = max(rows, key=lambda row: np.mean(row["accuracy"]))
    return {
        "dataset": printed,
        "method": method,
        **with_deviation("accuracy", accuracy),
        "mcc": mean(100 * rows[which]["mcc"][fold] for fold, which in enumerate(taken)),
        "percent_samples": mean(
            _kept_percent(rows[which])[fold] for fold, which in enumerate(taken)
        ),
        "accuracy_best_on_test": mean(100 * value for value in best["accuracy"]),
        "percent_samples_best_on_test": mean(_kept_percent(best)),
        "width_best_on_test": best["width"],
    }
