"""Figure 1: how redundant the selected features are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ...studies.exhibits import Exhibit
from ...studies.selector_spec import SelectorSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import mean_rows, rounded
from .plan import scale_of, studies_of
from .scoring import (
    FILTERS,
    GREEDY,
    OURS,
    PerK,
    mean_scores,
    with_set_counts,
)

NMAPG = PerK("nmAPG", "nmAPG", {"gamma": 1.0, "mu": 0.01, "rho": 0.01, "max_iter": 1000})
TOP_K = PerK("TopK", "TopK")
RFS = "RFS (lowest over gamma)"
MEASURES = ("redundancy_signed", "redundancy_absolute")


def redundancy_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1."""
    scale = scale_of(bench)
    sets = bench.at_hand(scale.redundancy_sets)
    if not sets:
        return
    studies = studies_of(
        "robust-l20 redundancy",
        sets,
        _selectors,
        ["1nn"],
        scale.redundancy,
        scale.large_redundancy,
    )
    means = mean_scores(bench, studies, [NMAPG, TOP_K])
    printed = {name: shown for shown, name in sets.items()}
    rows = [
        {
            "dataset": printed[mean["dataset"]],
            "method": mean["method"],
            "k": mean["k"],
            **{measure: rounded(mean[measure]) for measure in MEASURES},
            "runs": mean["n_splits"],
        }
        for mean in _lowest_rfs(means)
    ]
    yield exhibit(__package__, "Figure 1", rows, _summary(rows))


def _selectors(gammas: tuple[float, ...]) -> list[SelectorSpec]:
    rfs = (SelectorSpec("RFSSelector", {"alpha": g}, label=f"RFS gamma={g}") for g in gammas)
    return [*rfs, *FILTERS, GREEDY]


def _lowest_rfs(means: list[dict]) -> list[dict]:
    """RFS at its lowest over gamma, separately for both measures, in the place of all gammas."""
    others, rfs = [], defaultdict(list)
    for mean in means:
        if mean["selector"].startswith("RFS"):
            rfs[mean["dataset"], mean["k"]].append(mean)
        else:
            others.append({**mean, "method": mean["selector"]})
    lowest = [
        {**same[0], "method": RFS, **{name: min(mean[name] for mean in same) for name in MEASURES}}
        for same in rfs.values()
    ]
    order = [NMAPG.label, RFS, TOP_K.label, *(spec.label for spec in FILTERS), OURS]
    return sorted(others + lowest, key=lambda mean: order.index(mean["method"]))


def _summary(rows: list[dict]) -> list[dict]:
    """Means over the data sets and K."""
    means = [
        {"method": found.pop("method"), **{f"mean_{name}": found[name] for name in found}}
        for found in mean_rows(rows, "method", MEASURES)
    ]
    return with_set_counts(means, rows)
