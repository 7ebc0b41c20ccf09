"""What the paper says about Figure 2, held against the rows that were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..verdicts import Verdict
from .methods import FILTERS, LASSO, METHODS

OURS = tuple(method for method in METHODS if method.startswith("exclusive l2,1"))
OTHERS = tuple(method for method in METHODS if method not in OURS)
MODELS, SIEVES = "mean of the sparse models", "mean of the filters"
FEW_COUNTS = (10, 20)  # where the paper sees a lead of five to ten points


def claims(rows: list[dict], x: str, chance: Mapping[str, float] | None = None) -> str:
    """Sentences that say which claims hold in these rows, whose numbers of features are ``x``."""
    places: dict[str, dict[str, set]] = {}
    for row in rows:
        places.setdefault(row["dataset"], {}).setdefault(row["method"], set()).add(row[x])
    # A method that failed on a set must not look as if it had won or lost there.
    datasets = [
        dataset
        for dataset, counts in places.items()
        if len(counts) == len(METHODS) and len(set(map(frozenset, counts.values()))) == 1
    ]
    if not datasets:
        return "No set has numbers of all methods, so that no claim can be compared."
    table: dict[str, dict[tuple[str, int], float]] = {method: {} for method in METHODS}
    for row in rows:
        if row["dataset"] in datasets:
            table[row["method"]][row["dataset"], row[x]] = row["accuracy_percent"]
    found = {row.get("folds") for row in rows}
    folds = found.pop() if len(found) == 1 else None  # the note names sets with fewer
    means = _mean_table(table, datasets)

    def verdict(method: str, rivals: Sequence[str]) -> str:
        measure = "accuracy averaged over the numbers of features"
        return str(Verdict(method, rivals, measure, means, splits=folds, chance=chance or {}))

    return " ".join(
        [
            "Claim: exclusive l2,1 is best on every set, by 5 to 10 points at 10 and 20 features.",
            *(f"{verdict(ours, OTHERS)}{_lead(table, ours)}" for ours in OURS),
            f"Claim: sparse models beat filters. {verdict(MODELS, [SIEVES])}",
            "Claim: mRMR is the best filter. "
            + verdict("mRMR", [name for name in FILTERS if name != "mRMR"]),
            "Claim: the exclusive lasso does well on images and speech and badly on genes and "
            f"text. {verdict(LASSO, ['l2,1'])} {_lasso(means)}",
        ]
    )


def _mean_table(table: dict, datasets: list[str]) -> dict[str, dict[str, float | None]]:
    """Means over the numbers of features by data set and method, and of both kinds of methods."""
    means: dict[str, dict[str, float | None]] = {}
    for dataset in datasets:
        found = {
            method: float(np.mean([v for (name, _), v in table[method].items() if name == dataset]))
            for method in METHODS
        }
        models = [value for method, value in found.items() if method not in FILTERS]
        filters = [value for method, value in found.items() if method in FILTERS]
        means[dataset] = {**found, MODELS: float(np.mean(models)), SIEVES: float(np.mean(filters))}
    return means


def _lead(table: dict, ours: str) -> str:
    few = [place for place in table[ours] if place[1] in FEW_COUNTS]
    if not few:
        return ""
    leads = [table[ours][place] - max(table[other][place] for other in OTHERS) for place in few]
    return (
        f" At 10 and 20 features its lead over the best of the five others is "
        f"{np.mean(leads):+.1f} points on average ({min(leads):+.1f} to {max(leads):+.1f})."
    )


def _lasso(means: Mapping) -> str:
    values = ", ".join(
        f"{dataset} {found[LASSO] - found['l2,1']:+.1f}" for dataset, found in means.items()
    )
    return f"Its mean minus that of l2,1: {values}."
