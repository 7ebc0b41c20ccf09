"""Figures 1 to 3: how redundant the selected features are, and how well others predict by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...studies.exhibits import Exhibit
from ...studies.selector_spec import SelectorSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, rounded
from .scoring import FILTERS, OURS, PerK, mean_scores

ALGORITHM_2 = {"gamma": 0.1, "warm_start": True}
NMAPG = tuple(
    PerK(f"nmAPG, rho = {share} rho_max", "nmAPG", {**ALGORITHM_2, "rho_share": share})
    for share in (0.001, 0.01)
)
TOP_K = PerK("TopK", "TopK")
FIGURES = {"1nn": "Figure 2", "svm": "Figure 3"}


def accuracy_figures(bench: Bench) -> Iterator[Exhibit]:
    """Figures 2 and 3."""
    per_k = [*NMAPG, TOP_K]
    means = mean_scores(bench, "curves", bench.scale.curve_sets, _rfs, per_k, list(FIGURES))
    order = [*(one.label for one in per_k), "RFS (best on test)", *(f.label for f in FILTERS), OURS]
    means.sort(key=lambda mean: order.index(mean["selector"]))
    for classifier, name in FIGURES.items():
        rows = [_row(mean) for mean in means if mean["classifier"] == classifier]
        yield exhibit(__package__, name, rows)


def _rfs(gammas: Sequence[float]) -> list[SelectorSpec]:
    grid = {"alpha": gammas}
    return [SelectorSpec("RFSSelector", grid=grid, tuning="best-on-test", label="RFS")]


def _row(mean: dict) -> dict:
    sd = mean["accuracy_sd"]
    return {
        "dataset": mean["dataset"],
        "method": mean["selector"],
        "k": mean["k"],
        "accuracy_percent": rounded(100 * mean["accuracy"]),
        "standard_error": rounded(None if sd is None else 100 * sd / mean["n_splits"] ** 0.5, 3),
        "splits": mean["n_splits"],
    }


FIXED_NMAPG = PerK("nmAPG", "nmAPG", {"gamma": 1.0, "mu": 0.01, "rho": 0.01, "max_iter": 1000})
RFS = "RFS (lowest over gamma)"
MEASURES = ("redundancy_signed", "redundancy_absolute")


def redundancy_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1."""
    sets = bench.scale.redundancy_sets
    means = mean_scores(bench, "redundancy", sets, _rfs_of_each, [FIXED_NMAPG, TOP_K], ["1nn"])
    for mean in means:
        mean["method"] = RFS if mean["selector"].startswith("RFS") else mean["selector"]
    order = [FIXED_NMAPG.label, RFS, TOP_K.label, *(spec.label for spec in FILTERS), OURS]
    means.sort(key=lambda mean: order.index(mean["method"]))
    rows = [
        {
            "dataset": dataset,
            "method": method,
            "k": k,
            # Of RFS the lowest over gamma, separately for both measures.
            **{name: rounded(min(mean[name] for mean in same)) for name in MEASURES},
            "runs": same[0]["n_splits"],
        }
        for (dataset, method, k), same in grouped(means, "dataset", "method", "k").items()
    ]
    yield exhibit(__package__, "Figure 1", rows)


def _rfs_of_each(gammas: Sequence[float]) -> list[SelectorSpec]:
    return [SelectorSpec("RFSSelector", {"alpha": g}, label=f"RFS gamma={g}") for g in gammas]
