"""What the paper says about Figure 2, held against the rows that were computed."""

from __future__ import annotations

import numpy as np

from .methods import FILTERS, LASSO, METHODS

OURS = tuple(method for method in METHODS if method.startswith("exclusive l2,1"))
OTHERS = tuple(method for method in METHODS if method not in OURS)
FEW = (10, 20)  # where the paper sees a lead of five to ten points


def claims(rows: list[dict], x: str) -> str:
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
    sentences = [
        "Claim: exclusive l2,1 is best on every set, by 5 to 10 points at 10 and 20 features.",
        *(_lead(table, ours, datasets) for ours in OURS),
    ]
    sentences.append(_embedded(table, datasets))
    sentences.append(_best_filter(table, datasets))
    sentences.append(_lasso(table, datasets))
    return " ".join(sentences)


def _lead(table: dict, ours: str, datasets: list[str]) -> str:
    means = {method: _means(table[method], datasets) for method in (ours, *OTHERS)}
    best = sum(
        all(means[ours][i] >= means[other][i] for other in OTHERS) for i in range(len(datasets))
    )
    few = [place for place in table[ours] if place[1] in FEW]
    name = ours[0].upper() + ours[1:]
    text = f"{name}: best on {best} of {len(datasets)} by the mean over all numbers of features"
    if not few:
        return text + "."
    leads = [table[ours][place] - max(table[other][place] for other in OTHERS) for place in few]
    return (
        f"{text}; at 10 and 20 features its lead over the best of the five others is "
        f"{np.mean(leads):+.1f} points on average ({min(leads):+.1f} to {max(leads):+.1f})."
    )


def _embedded(table: dict, datasets: list[str]) -> str:
    filters = np.mean([_means(table[method], datasets) for method in FILTERS], axis=0)
    models = [method for method in METHODS if method not in FILTERS]
    embedded = np.mean([_means(table[method], datasets) for method in models], axis=0)
    return (
        f"Claim: sparse models beat filters. Their mean is higher on "
        f"{int((embedded > filters).sum())} of {len(datasets)} sets, by "
        f"{np.mean(embedded - filters):+.1f} points on average."
    )


def _best_filter(table: dict, datasets: list[str]) -> str:
    means = {method: _means(table[method], datasets) for method in FILTERS}
    wins = sum(
        all(means["mRMR"][i] >= means[other][i] for other in FILTERS) for i in range(len(datasets))
    )
    return f"Claim: mRMR is the best filter. It is on {wins} of {len(datasets)} sets."


def _lasso(table: dict, datasets: list[str]) -> str:
    behind = _means(table[LASSO], datasets) - _means(table["l2,1"], datasets)
    values = ", ".join(
        f"{dataset} {value:+.1f}" for dataset, value in zip(datasets, behind, strict=True)
    )
    return (
        "Claim: the exclusive lasso does well on images and speech and badly on genes and text. "
        f"Its mean minus that of l2,1: {values}."
    )


def _means(accuracies: dict, datasets: list[str]) -> np.ndarray:
    """Mean over the numbers of features on every data set."""
    return np.array(
        [
            np.mean([value for (name, _), value in accuracies.items() if name == dataset])
            for dataset in datasets
        ]
    )
