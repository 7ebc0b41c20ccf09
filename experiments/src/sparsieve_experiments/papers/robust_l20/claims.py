"""What An, Dong and Qin claim."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...studies.exhibits import Exhibit
from ..claims import HELD, Judged, NotComparable, Rows
from ..numbers import grouped
from .accuracy import NMAPG, TOP_K
from .scoring import OURS
from .solutions import FIRST, SECOND

PLACE = ("dataset", "method")
FEWEST_KS = 10  # values of K that a curve needs to be called steady


def published(exhibit: Exhibit) -> Rows:
    """All methods but ours."""
    return [row for row in exhibit.rows if row["method"] != OURS]


def many_features(exhibit: Exhibit) -> Rows:
    """The rows with more than 20 features."""
    return [row for row in published(exhibit) if row["k"] > 20]


def falls(exhibit: Exhibit) -> Rows:
    """Mean fall of the accuracy from one K to the next, where there are enough K.

    That of nmAPG is the mean of its two rho.
    """
    both = {method.label for method in NMAPG}
    curves = grouped(map(dict, published(exhibit)), *PLACE)
    most = max(map(len, curves.values()))
    if most < FEWEST_KS:
        raise NotComparable(f"{most} values of K cannot show it; --full has 50")
    found = []
    for (dataset, method), curve in curves.items():
        if len(curve) >= FEWEST_KS:
            ordered = sorted(curve, key=lambda row: row["k"])
            values = [row["accuracy_percent"] for row in ordered]
            name = "nmAPG" if method in both else method
            place = dict(zip((*PLACE, "splits"), (dataset, name, curve[0]["splits"]), strict=True))
            found.append({**place, "fall": np.mean(np.maximum(-np.diff(values), 0.0))})
    return [
        {**group[0], "fall": float(np.mean([row["fall"] for row in group]))}
        for group in grouped(found, *PLACE).values()
    ]


def iterations(exhibit: Exhibit) -> Rows:
    """Iterations until the objective is where Algorithm 1 ends."""
    rows = []
    for (dataset,), group in grouped(exhibit.rows, "dataset").items():
        runs = {method: found for (method,), found in grouped(group, "method").items()}
        goal = runs[FIRST][-1]["objective"] if FIRST in runs else None
        for method in (FIRST, SECOND):
            reached = [
                row["iteration"]
                for row in runs.get(method, [])
                if goal is not None and row["objective"] <= goal
            ]
            found = {"dataset": dataset, "method": method}
            rows.append({**found, "iterations": reached[0] if reached else None})
    return rows


def _off(rows: Rows) -> dict[float, float]:
    """Mean distance of the number of rows from K, by tolerance."""
    return {
        tolerance: float(np.mean([abs(row["rows_above"] - row["k"]) for row in group]))
        for (tolerance,), group in grouped(map(dict, rows), "tolerance").items()
    }


def level_is_k(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether some rho and tolerance give nearly K rows, at most a tenth of the mean K off."""
    nearly = 0.1 * float(np.mean([row["k"] for row in exhibit.rows]))
    best = {}
    for method in NMAPG:
        off = _off([row for row in exhibit.rows if row["method"] == method.label])
        best[method.label.removeprefix("nmAPG, ")] = min(off.values(), default=np.inf)
    said = ", ".join(f"{value:.1f} ({name})" for name, value in best.items())
    return min(best.values()) <= nearly, f"rows too many or too few on average: {said}"


def level_of_top_k(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether TopK is off K by more than a row at every tolerance."""
    off = _off([row for row in exhibit.rows if row["method"] == TOP_K.label])
    if not off:
        return False, "TopK was not run"
    best = min(off, key=lambda tolerance: off[tolerance])
    said = f"rows too many or too few: {off[0.0]:.0f} above 0, {off[best]:.1f} above {best:g}"
    return all(value > 1.0 for value in off.values()), said


def exact_penalty(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether no set of rows asks for a larger rho than the theorem does."""
    shares = [row["rho_needed"] / row["rho_max"] for row in exhibit.rows]
    sets = sum(row["sets"] for row in exhibit.rows)
    said = f"rho_max is {1 / max(shares):.2g} to {1 / min(shares):.2g} times what is needed"
    return max(shares) <= 1.0, f"{said}, {sets} sets of rows in {len(shares)} random problems"


def headline(claims: Mapping[str, Judged]) -> str:
    """What came out in a sentence."""
    steady = claims["The curve of nmAPG is steadier than that of TopK, linear SVM"]
    more = [claim for says, claim in claims.items() if "beats TopK for K > 20" in says]
    held = sum(claim.verdict == HELD for claim in more)
    lean = claims["nmAPG selects the least redundant features (absolute correlations)"]
    return (
        f"nmAPG is steadier than TopK on {steady.ahead} of {steady.data_sets} data sets and "
        f"selects the least redundant features on {lean.won} of {lean.data_sets}; that it is more "
        f"accurate than TopK for K > 20 can be told in {held} of {len(more)} comparisons at a "
        "fixed rho."
    )
