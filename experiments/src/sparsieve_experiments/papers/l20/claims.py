"""What Sun and Yu claim."""

from __future__ import annotations

from collections.abc import Mapping

from ...studies.exhibits import Exhibit
from ..claims import Judged, Rows
from ..numbers import grouped
from .sensitivity import REMOVES
from .work import BASELINE

FAST, SLOW = ("RFS", "RPMFS", "AHIHT"), ("RLSR", "ESFS", "HIHT")
SENSITIVE_LAM = 0.01  # up to it, the paper says, lambda changes nothing
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
    """Rows of small lambdas whose W is zero nowhere; lambda takes the place of the method."""
    removing = {row["lambda"] for row in exhibit.rows if not row["n_rows"]}
    return [
        {**row, "method": row["line"]}
        for row in exhibit.rows
        if row["lambda"] <= SENSITIVE_LAM and row["lambda"] not in removing
    ]


def whole_fits(exhibit: Exhibit) -> Rows:
    """Pairs of small lambdas of which no fit was cut."""
    cut = {(row["dataset"], row["lambda"]) for row in exhibit.rows if row["cut_fits"]}
    return [
        row
        for row in exhibit.rows
        if row["lambda"] < SMALL_LAM and (row["dataset"], row["lambda"]) not in cut
    ]


def fast_and_slow(exhibit: Exhibit) -> Rows:
    """The slowest of the methods that the paper calls fast, and the fastest of the others."""
    rows: list[dict] = []
    for (dataset,), group in grouped(map(dict, exhibit.rows), "dataset").items():
        seconds = {row["method"]: row["seconds"] for row in group}
        for methods, word, choose in ((FAST, "slowest", max), (SLOW, "fastest", min)):
            found = [seconds[name] for name in methods if name in seconds]
            if len(found) == len(methods):
                name = f"{word} of {', '.join(methods)}"
                rows.append({"dataset": dataset, "method": name, "seconds": choose(found)})
    return rows


def rows_of_l21(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether the largest strength leaves more than a tenth of the rows."""
    largest = max(row["gamma"] for row in exhibit.rows)
    last = [row for row in exhibit.rows if row["gamma"] == largest]
    most = max(row["n_rows"] for row in last)
    dense = [row["n_rows"] > 0.1 * row["n_features"] for row in last]
    return all(
        dense
    ), f"at most {most} rows at a strength of {largest:,.0f}, on {len(last)} data sets"


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
    said = []
    for first, (same, fits) in counts.items():
        where = f"where it {first}" if first == REMOVES else f"at {first}"
        said.append(f"{same} of {fits} {where}")
    telling = [pair for first, pair in counts.items() if first != REMOVES]
    found = bool(telling) and all(same == fits for same, fits in telling)
    return found, f"fits with the same features as from zero, by the first price: {', '.join(said)}"


def headline(claims: Mapping[str, Judged]) -> str:
    """What came out in a sentence."""
    test, inside = (
        claims[f"l20-FS is the most accurate, {how}"] for how in ("chosen on test", "nested choice")
    )
    faster = claims["AHIHT is faster than HIHT"]
    return (
        f"l20-FS is {test.counted.split(' (')[0]} of Table II when chosen on the test samples (the "
        f"paper: 14 of 16), and {inside.counted.split(' (')[0]} when chosen inside the training "
        f"samples; AHIHT is faster than HIHT on {faster.ahead} of {faster.data_sets} data sets."
    )
