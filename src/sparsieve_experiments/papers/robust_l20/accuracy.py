"""Figures 2 and 3: accuracy of nearest neighbours and linear SVM over the number of features."""

from __future__ import annotations

from collections.abc import Iterator

from ...studies.exhibits import Exhibit
from ...studies.selector_spec import SelectorSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, rounded, wide_rows
from .plan import scale_of, studies_of
from .scoring import (
    FILTERS,
    GREEDY,
    OURS,
    PerK,
    mean_scores,
    with_set_counts,
)

ALGORITHM_2 = {"gamma": 0.1, "warm_start": True}
NMAPG = tuple(
    PerK(f"nmAPG, rho = {share} rho_max", "nmAPG", {**ALGORITHM_2, "rho_share": share})
    for share in (0.001, 0.01)
)
TOP_K = PerK("TopK", "TopK")
FIGURES = {"1nn": "Figure 2", "svm": "Figure 3"}


def accuracy_figures(bench: Bench) -> Iterator[Exhibit]:
    """Figures 2 and 3."""
    scale = scale_of(bench)
    sets = bench.at_hand(scale.curve_sets)
    if not sets:
        return
    rfs = _rfs(scale.curves.gammas)
    studies = studies_of(
        "robust-l20 curves",
        sets,
        lambda gammas: [_rfs(gammas), *FILTERS, GREEDY],
        list(FIGURES),
        scale.curves,
        scale.large_curves,
    )
    means = mean_scores(bench, studies, [*NMAPG, TOP_K])
    printed = {name: shown for shown, name in sets.items()}
    order = [*(m.label for m in (*NMAPG, TOP_K)), rfs.label, *(s.label for s in FILTERS), OURS]
    means.sort(key=lambda mean: order.index(mean["selector"]))
    for classifier, name in FIGURES.items():
        rows = [_row(m, printed[m["dataset"]]) for m in means if m["classifier"] == classifier]
        yield exhibit(__package__, name, rows, _summary(rows))


def _rfs(gammas: tuple[float, ...]) -> SelectorSpec:
    grid = {"alpha": gammas}
    return SelectorSpec("RFSSelector", grid=grid, tuning="best-on-test", label="RFS")


def _row(mean: dict, dataset: str) -> dict:
    sd = mean["accuracy_sd"]
    return {
        "dataset": dataset,
        "method": mean["selector"],
        "k": mean["k"],
        "accuracy_percent": rounded(100 * mean["accuracy"]),
        "standard_error": rounded(None if sd is None else 100 * sd / mean["n_splits"] ** 0.5, 3),
        "splits": mean["n_splits"],
    }


def _summary(rows: list[dict]) -> list[dict]:
    """Means over the data sets, at a few K that all of them have."""
    found = [{row["k"] for row in group} for group in grouped(rows, "dataset").values()]
    common = set.intersection(*found) if found else set()
    shown = [k for k in (5, 10, 20, 50) if k in common] or sorted(common)[-4:]
    means = wide_rows(rows, "method", "accuracy_percent", {"k": shown}, "percent_at_{}")
    return with_set_counts(means, rows)
