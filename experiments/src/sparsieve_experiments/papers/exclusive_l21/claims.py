"""What Ming and Ding claim."""

from __future__ import annotations

from collections.abc import Mapping

from ...studies.exhibits import Exhibit
from ..base import printed_name
from ..claims import Judged, Rows
from ..numbers import rounded, share

ROUNDING = 1e-9
IMAGES_AND_SPEECH = ("MNIST", "Yale", "YaleB", "PIE", "ISOLET")


def images_and_speech(exhibit: Exhibit) -> Rows:
    """The rows of images and of speech."""
    return [row for row in exhibit.rows if printed_name(row["dataset"]) in IMAGES_AND_SPEECH]


def genes_and_text(exhibit: Exhibit) -> Rows:
    """The other rows."""
    return [row for row in exhibit.rows if printed_name(row["dataset"]) not in IMAGES_AND_SPEECH]


def twelve(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether all have the printed number of nonzeros."""
    counts = {row["method"]: row["nonzeros"] for row in exhibit.rows}
    wanted = {row["published_nonzeros"] for row in exhibit.rows}
    return set(counts.values()) == wanted, ", ".join(f"{m}: {n}" for m, n in counts.items())


def iterations(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether the method stops by its own rule within 150 iterations."""
    counts = [row["iterations"] for row in exhibit.summary]
    stopped = all(row["stopped_by_its_rule"] for row in exhibit.summary)
    worst = rounded(max(row["relative_excess"] for row in exhibit.summary), 2)
    said = f"{min(counts)} to {max(counts)} iterations; excess up to {worst:,g} times the optimum"
    return stopped and max(counts) <= 150, said


def two_cases(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether the printed minima are those of the explicit solution and of a search."""
    # the paper prints four decimals
    same = [row["largest_difference"] <= 1e-4 for row in exhibit.rows]
    return all(same), f"{share(same)} as printed, and found by a search on grids as well"


def explicit_minimum(exhibit: Exhibit) -> tuple[bool, str]:
    """Whether no set of nonzero coefficients is better than the explicit solution."""
    worst = max(row["largest_excess"] for row in exhibit.rows)
    problems = sum(row["problems"] for row in exhibit.rows)
    said = f"at most {max(worst, 0.0):.1g} above the best of all sets of coefficients"
    return worst <= ROUNDING, f"{said} on {problems} random problems"


def headline(claims: Mapping[str, Judged]) -> str:
    """What came out in a sentence."""
    best = claims["exclusive l2,1 (beta = alpha) is the most accurate"]
    at_least = best.data_sets - best.ahead  # type: ignore[operator]
    return (
        f"Exclusive l2,1 is the most accurate method on {best.won or 'none'} of {best.data_sets} "
        f"data sets, not on all: {best.rival} is as good or better on {at_least}."
    )
