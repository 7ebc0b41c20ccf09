"""What Xue and Song claim."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ...studies.exhibits import Exhibit
from ..claims import Judged, Rows
from ..numbers import grouped, share


def at_most_features(exhibit: Exhibit) -> Rows:
    """The rows with the most features."""
    last = max(row["k"] for row in exhibit.rows)
    return [row for row in exhibit.rows if row["k"] == last]


def by_theta(exhibit: Exhibit) -> Rows:
    """Theta in the place of the method."""
    return [{**row, "method": f"theta = {row['theta']:g}"} for row in exhibit.rows]


def _runs(exhibit: Exhibit) -> list[list[float]]:
    groups = grouped(exhibit.rows, "dataset").values()
    return [[row["objective"] for row in group] for group in groups]


def within_ten(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether the objective is near its last value within ten rounds."""
    settled = [
        next(i for i, value in enumerate(run, start=1) if value - run[-1] <= 0.01 * run[-1])
        for run in _runs(exhibit)
    ]
    held = [count <= 10 for count in settled]
    said = f"within 1 % of the last objective after at most {max(settled)} rounds"
    return all(held), f"{said}, after at most 10 on {share(held)} sets"


def never_rises(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether the objective never rises."""
    rises = sum(b > a * (1 + 1e-5) for run in _runs(exhibit) for a, b in pairwise(run))
    rounds = sum(len(run) - 1 for run in _runs(exhibit))
    return rises == 0, f"{rises} rises in {rounds} rounds, shifted objective"


def printed_algorithms(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether no run of the printed algorithms falls without bound."""
    fallen, runs = (sum(row[n] for row in exhibit.rows) for n in ("falls_without_bound", "splits"))
    return fallen == 0, f"the objective falls without bound in {fallen} of {runs} runs"


def enough_descent(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether every step for the weights has a minimum, without which nothing is lowered by it."""
    without, runs = (
        sum(row[n] for row in exhibit.rows) for n in ("weight_steps_without_minimum", "splits")
    )
    return without == 0, f"a step for the weights has no minimum in {without} of {runs} runs"


def headline(claims: Mapping[str, Judged]) -> str:
    """What came out in a sentence."""
    best = claims["l0-MKL is the most accurate, nested choice"]
    fewer = claims["l0-MKL keeps fewer features than MIK-FS"]
    printed = claims["The printed algorithms converge to a stationary point"]
    few = ", all on one split" if best.splits == "1" else ""
    return (
        f"l0-MKL is {best.counted.split(' (')[0]} in accuracy (the paper: 9 of 11) and keeps fewer "
        f"features than MIK-FS on {fewer.won} of {fewer.data_sets}{few}; as printed, "
        f"{printed.measured}."
    )
