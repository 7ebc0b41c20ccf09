"""What Ming and Ding claim."""

from __future__ import annotations

from ...studies.exhibits import Exhibit
from ..base import printed_name
from ..claims import Rows
from ..numbers import rounded

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
