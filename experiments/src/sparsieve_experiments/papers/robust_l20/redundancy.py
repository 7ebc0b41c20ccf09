"""Figure 1: how redundant the selected features are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...studies.exhibits import Exhibit
from ...studies.selector_spec import SelectorSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, rounded
from .scoring import FILTERS, OURS, PerK, mean_scores

NMAPG = PerK("nmAPG", "nmAPG", {"gamma": 1.0, "mu": 0.01, "rho": 0.01, "max_iter": 1000})
TOP_K = PerK("TopK", "TopK")
RFS = "RFS (lowest over gamma)"
MEASURES = ("redundancy_signed", "redundancy_absolute")


def redundancy_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1."""
    sets = bench.scale.redundancy_sets
    means = mean_scores(bench, "redundancy", sets, _rfs, [NMAPG, TOP_K], ["1nn"])
    for mean in means:
        mean["method"] = RFS if mean["selector"].startswith("RFS") else mean["selector"]
    order = [NMAPG.label, RFS, TOP_K.label, *(spec.label for spec in FILTERS), OURS]
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


def _rfs(gammas: Sequence[float]) -> list[SelectorSpec]:
    return [SelectorSpec("RFSSelector", {"alpha": g}, label=f"RFS gamma={g}") for g in gammas]
