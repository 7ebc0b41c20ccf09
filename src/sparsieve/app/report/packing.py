"""Numbers and charts as they travel inside a page."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .elements import Chart, Column, Explorer, Profiles

if TYPE_CHECKING:
    from .page import Report

_MIN_PACKED_ROWS = 20  # rows below which every value is written out


class Packing:
    """Packs the columns of one page.

    Names of features stand in the page once, with their profiles; a column of features holds
    their places there.

    ======================= ================================================================
    form                    values
    ======================= ================================================================
    values                  as they are
    first, count            whole numbers in a row
    names, values           text, as places in a list of its distinct values
    names, runs             anything that repeats: place, how often, place, how often, ...
    features                places among the names of the profiles
    ======================= ================================================================
    """

    def __init__(self, profiles: Profiles | None) -> None:
        known = [] if profiles is None else profiles.features
        self._place = {feature: place for place, feature in enumerate(known)}

    def pack_chart_column(self, column: Column) -> dict[str, Any]:
        """A column of a chart: more digits than any picture shows, half the bytes."""
        if column.is_numeric:
            return _numbers(column.values, column.digits + 2)
        return _text([plain(value) for value in column.values])

    def pack_table_column(self, column: Column) -> dict[str, Any]:
        """A column of a table, with how it is shown."""
        how: dict[str, Any] = {"title": column.title}
        if column.is_numeric:
            digits = column.digits + 2  # more than are shown
            return how | {"digits": column.digits} | _numbers(column.values, digits)
        if column.features is not None:
            return how | self.names(column.values, column.features)
        return how | _text([to_text(value) for value in column.values])

    def names(self, names: Sequence[str], features: Sequence[int]) -> dict[str, Any]:
        """Names of features."""
        if any(feature not in self._place for feature in features):
            return _text([str(name) for name in names])
        return {"features": _numbers([self._place[feature] for feature in features], 0)}

    def cells(self, column: Column, most: int) -> list[dict[str, Any]]:
        """The first cells of a column of a table."""
        values = column.values[:most]
        if column.features is not None:
            return self.feature_cells(values, column.features[:most])
        return [{"text": to_text(value, column.digits), "feature": None} for value in values]

    def feature_cells(self, names: Sequence[str], features: Sequence[int]) -> list[dict[str, Any]]:
        """Names of features with their places among the profiles."""
        return [
            {"text": str(name), "feature": self._place.get(feature)}
            for name, feature in zip(names, features, strict=True)
        ]

    def profiles(self, found: Profiles) -> dict[str, Any]:
        """All profiles."""
        return {
            "names": list(found.names),
            "ranks": [
                {"method": method, **_numbers(ranks, 0)} for method, ranks in found.ranks.items()
            ],
            "levels": base64.b64encode(b"".join(found.levels)).decode("ascii"),
            "ranges": [[round_digits(end, 6) for end in ends] for ends in found.ranges],
            "substitutes": [
                [self._place[feature], self._place[other], round_digits(correlation, 3)]
                for feature, others in (found.substitutes or {}).items()
                for other, correlation in others
                if feature in self._place
            ],
        }


def to_text(value: Any, digits: int = 4) -> str:
    """A value as a reader wants it.

    Examples
    --------
    >>> from sparsieve.app.report.packing import to_text
    >>> to_text(0.123456), to_text(None), to_text(True), to_text(22283), to_text(1e-9)
    ('0.1235', '', 'yes', '22,283', '1e-09')
    """
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return str(value)


def round_digits(value: Any, digits: int) -> Any:
    """A number with so many significant digits."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def plain(value: Any) -> Any:
    """A value that JSON can hold; None for numbers that are none."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _numbers(values: Sequence[Any], digits: int) -> dict[str, Any]:
    found = [round_digits(plain(value), digits) for value in values]
    if len(found) >= _MIN_PACKED_ROWS and isinstance(found[0], int):
        first = found[0]
        if found == list(range(first, first + len(found))):
            return {"first": first, "count": len(found)}
    return _encode_repeats(found) or {"values": found}


def _text(values: list[Any]) -> dict[str, Any]:
    names = list(dict.fromkeys(values))
    place = {name: position for position, name in enumerate(names)}
    return _encode_repeats(values) or {"names": names, "values": [place[value] for value in values]}


def _encode_repeats(values: list[Any]) -> dict[str, Any] | None:
    """Values that mostly repeat the one before them; None where they do not."""
    if len(values) < _MIN_PACKED_ROWS:
        return None
    runs = [(value, len(list(group))) for value, group in groupby(values)]
    if 2 * len(runs) >= len(values):
        return None
    names = list(dict.fromkeys(value for value, _ in runs))
    place = {name: position for position, name in enumerate(names)}
    return {"names": names, "runs": [number for value, n in runs for number in (place[value], n)]}


_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_TO_READERS = ("Click ", "Point ", "Hover ", "Move ")  # what a page can do, and a file cannot
STEP = "k"  # the column by which a chart follows the slider


def still(chart: Chart, *, follows_slider: bool = False) -> Chart:
    """Only the rows that are shown first.

    Parameters
    ----------
    chart : Chart
    follows_slider : bool, default=False
        Whether its column "k" is the place of a slider; the last place is shown first.

    Returns
    -------
    chart : Chart

    Examples
    --------
    >>> from sparsieve.app.report.elements import make_chart
    >>> from sparsieve.app.report.packing import still
    >>> titles = {"score": "score", "x": "k", "y": "mean"}
    >>> rows = [("accuracy", 1, 0.5), ("mcc", 1, 0.2)]
    >>> still(make_chart("Scores", "lines", rows, titles, controls=("score",))).columns["y"].values
    [0.5]
    """
    wanted = {
        field: chart.options.get("initial", {}).get(field, chart.columns[field].values[0])
        for field in chart.controls
    }
    if follows_slider and STEP in chart.columns:
        wanted[STEP] = chart.columns[STEP].values[-1]
    note = " ".join(s for s in _SENTENCE.split(chart.note) if not s.startswith(_TO_READERS))
    if not wanted:
        return replace(chart, note=note)
    n_rows = len(next(iter(chart.columns.values())).values)
    places = [
        i
        for i in range(n_rows)
        if all(chart.columns[field].values[i] == value for field, value in wanted.items())
    ]
    columns = {
        field: Column(column.title, [column.values[i] for i in places], column.digits)
        for field, column in chart.columns.items()
        if not (field == STEP and field in wanted)
    }
    if chart.kind == "lines" and len(chart.controls) == 1:  # the axis says what was chosen
        (field,) = chart.controls
        columns["y"] = replace(columns["y"], title=str(wanted[field]))
    return replace(chart, columns=columns, controls=(), note=note)


def collect_charts(report: Report) -> list[Chart]:
    """All charts of a report, as they are first shown, from top to bottom."""
    found: list[Chart] = [] if report.picture is None else [still(report.picture)]
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Chart):
                found.append(still(block))
            elif isinstance(block, Explorer):
                found += [still(chart, follows_slider=True) for chart in block.charts]
    return found
