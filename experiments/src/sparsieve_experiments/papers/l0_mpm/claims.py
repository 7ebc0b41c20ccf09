"""What Yang and Ju claim."""

from __future__ import annotations

from collections.abc import Mapping

from ...studies.exhibits import Exhibit
from ..claims import Judged, Rows


def at_levels(exhibit: Exhibit) -> Rows:
    """Rows at the shares of the best level; machines without a level stand beside each of them."""
    levels = ("0.8 of the best level", "0.95 of the best level")
    found = []
    for row in exhibit.rows:
        method, _, level = row["method"].partition(", ")
        for at in [level] if level in levels else levels if not level else []:
            found.append({**row, "method": method, "level": at})
    return found


def ranked(exhibit: Exhibit) -> Rows:
    """The rows of data sets."""
    return [row for row in exhibit.rows if row["dataset"] != "Average"]


def linear_rate(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether every run ends by its own rule and its objective never rises."""
    ended = sum(row["converged"] for row in exhibit.summary)
    rises = sum(row["rises"] for row in exhibit.summary)
    counts = [row["iterations"] for row in exhibit.summary]
    said = f"{ended} of {len(counts)} runs end by their rule, after {min(counts)} to {max(counts)}"
    return ended == len(counts) and not rises, f"{said} iterations; {rises} rises"


def headline(claims: Mapping[str, Judged]) -> str:
    """What came out in a sentence."""
    fewer = claims["L0-MPM keeps fewer features than L1-MPM"]
    better = claims["L0-MPM beats L1-MPM in MCC, 0.95 of best"]
    return (
        f"L0-MPM keeps fewer features than L1-MPM on {fewer.won} of {fewer.data_sets} data sets, "
        f"but predicts better than it on {better.won} of {better.data_sets} (the paper: 6 of 8)."
    )
