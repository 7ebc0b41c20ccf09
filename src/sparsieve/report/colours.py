"""One colour for every class or method, the same in every chart of a page and in every figure."""

from __future__ import annotations

from collections.abc import Sequence

from ..selectors.ranked import KEPT_BY_REQUEST, LEFT_OUT_BY_REQUEST, UNRANKED

SELECTED, LEFT_OUT = "selected", "left out"
# Any two of a palette can be told apart by people with any kind of colour vision
# (tests/report/test_colours.py measures it). The same place has a similar hue in both.
PALETTES = {
    "light": (
        *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e0a800", "#56b4e9", "#5b2a86", "#4d4d4d"),
        *("#772806", "#c3cd7c", "#a24efb", "#171dae", "#a1d2af", "#502319", "#769c54", "#7f553c"),
    ),
    "dark": (
        *("#5d88c1", "#e25c25", "#1bfc90", "#c58ba2", "#f6de2a", "#9ed9fe", "#9a7bfe", "#ddecdd"),
        *("#c96c62", "#faab43", "#bbbe9c", "#9dacf9", "#b6a659", "#b2fd72", "#f913b3", "#deadcf"),
    ),
}
PALETTE_SIZE = len(PALETTES["light"])
# Maps on white; the middle differs from white, or its cells would look missing.
DIVERGING = ("#1f6fb4", "#f4f4f4", "#c8511b")
SEQUENTIAL = ("#eef4fb", "#0b4f8a")
RAMP = ("#a8cbe6", "#4a7fb5", "#0a2f5c")
LEVEL = "#d05a2f"  # a line to compare with

# Series whose colour carries a meaning; both read well on light and dark.
MEANT = {
    SELECTED: "#2f8fd0",
    LEFT_OUT: "#9aa4ae",
    KEPT_BY_REQUEST: "#2f8fd0",
    LEFT_OUT_BY_REQUEST: "#9aa4ae",
    UNRANKED: "#c9ced3",
}


def has_meaning(names: Sequence[str]) -> bool:
    """Whether all series have a colour of their own, whatever their order."""
    return set(names) <= set(MEANT)


def series_colours(names: Sequence[str]) -> dict[str, str]:
    """The colour of every series on white, in the order of the names.

    From the 17th on colours repeat; charts of dots give these another shape.

    Examples
    --------
    >>> from sparsieve.report.colours import series_colours
    >>> series_colours(["benign", "malignant"])
    {'benign': '#0072b2', 'malignant': '#d55e00'}
    """
    if has_meaning(names):
        return {name: MEANT[name] for name in names}
    light = PALETTES["light"]
    return {name: light[i % PALETTE_SIZE] for i, name in enumerate(names)}
