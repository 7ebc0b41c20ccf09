"""What Sun and Yu claim."""

from __future__ import annotations

from ...studies.exhibits import Exhibit
from ..claims import Rows
from ..numbers import grouped
from .plan import BASELINE
from .sensitivity import REMOVES

SMALL_LAM = 0.1  # below, the paper says, HIHT is sparser and AHIHT more accurate


def summary(exhibit: Exhibit) -> Rows:
    """The exhibit in short."""
    return exhibit.summary


def selectors(exhibit: Exhibit) -> Rows:
    """All methods but the baseline, by their printed names."""
    return [
        {**row, "method": row["method"].removesuffix(" (best on test)")}
        for row in exhibit.rows
        if row["method"] != BASELINE
    ]


def by_lambda(exhibit: Exhibit) -> Rows:
    """Rows of small lambdas with a W that is not zero; lambda takes the place of the method."""
    return [
        {**row, "method": row["line"]}
        for row in exhibit.rows
        if row["lambda"] < 0.01 and row["n_rows"]
    ]


def whole_fits(exhibit: Exhibit) -> Rows:
    """Pairs of small lambdas of which no fit was cut."""
    cut = {(row["dataset"], row["lambda"]) for row in exhibit.rows if row["cut_fits"]}
    return [
        row
        for row in exhibit.rows
        if row["lambda"] < SMALL_LAM and (row["dataset"], row["lambda"]) not in cut
    ]


def monotone(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether no step raises the objective."""
    rises, steps = (sum(row[name] for row in exhibit.summary) for name in ("rises", "iterations"))
    sets = len(exhibit.summary)
    return rises == 0, f"{rises} rises in {steps:,} steps on {sets} data sets"


def same_starts(exhibit: Exhibit) -> tuple[bool, str]:
    """By first price; where that removes the start, nothing is shown."""
    counts = {}
    for (first,), group in grouped(exhibit.summary, "first_price").items():
        same, fits = (
            sum(row[name] for row in group) for name in ("same_rows_as_from_zero", "fits_with_rows")
        )
        counts[first] = same, fits
    said = "; ".join(f"{first} {same} of {fits}" for first, (same, fits) in counts.items())
    telling = [pair for first, pair in counts.items() if first != REMOVES]
    found = bool(telling) and all(same == fits for same, fits in telling)
    return found, f"same features as from zero, by first price: {said}"
