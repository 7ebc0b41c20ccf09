"""The section on stability selection: what runs kept how often, and how much by mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..selectors.units import unit_names, unit_of
from .colours import LEFT_OUT, SELECTED
from .elements import Column, Section, Table, chart_of
from .exploration import MAX_DRAWN

_ASSUMED = {
    "worst_case": "nothing",
    "unimodal": "shares of runs have a single peak (unimodal)",
    "r_concave": "shares of runs fall off as usual (r-concave)",
}


def bounds_section(selector: Any, names: np.ndarray) -> Section | None:
    """Selection probabilities and error bounds; None for other selectors."""
    bounds = getattr(selector, "error_bounds_", None)
    if bounds is None:
        return None
    shares, names = selector._probabilities, unit_names(selector, names)
    unit = unit_of(selector)
    order = np.argsort(-shares, kind="stable")
    order = order[shares[order] > 0][:MAX_DRAWN]
    stable = shares[order] >= selector.threshold_ - 1e-9
    kinds = np.where(stable, SELECTED, LEFT_OUT).tolist()
    probabilities = chart_of(
        f"How often the runs on halves kept a {unit}",
        "bars",
        zip([str(names[j]) for j in order], shares[order].tolist(), kinds, strict=True),
        {"y": "", "x": "share of the runs", "series": ""},
        "The dashed line is the threshold.",
        digits={"x": 3},
        line=selector.threshold_,
    )
    table = Table(
        f"Expected number of {unit}s kept by mistake, at most",
        [
            Column("assumed", [_ASSUMED[name] for name in bounds]),
            Column("bound", [float(bound) for bound in bounds.values()], digits=3),
        ],
        f"A {unit} is kept by mistake if it reaches the threshold although a single run keeps it "
        f"no more often than a random choice of the same number of {unit}s would.",
    )
    return Section(f"Stability of single {unit}s", [selector.summary()], [probabilities, table])
