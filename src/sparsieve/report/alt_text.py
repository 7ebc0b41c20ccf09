"""A chart in one or two sentences, for readers who cannot see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .elements import Chart
from .wording import counted, listed_names

_NAMED = 3


def alt_text(chart: Chart) -> str:
    """What kind of chart it is, of what, and the numbers that stand out.

    Parameters
    ----------
    chart : Chart
        What a page or a figure draws.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sparsieve.report.alt_text import alt_text
    >>> from sparsieve.report.elements import chart_of
    >>> rows = [("age", 0.9), ("dose", 0.25)]
    >>> alt_text(chart_of("Scores", "bars", rows, {"y": "", "x": "score"}))
    'Scores: bar chart of 2 rows by score. Largest: age 0.9 and dose 0.25.'
    """
    return f"{chart.title}: {_KINDS[chart.kind](chart)}"


def _lines(chart: Chart) -> str:
    x, y = chart.columns["x"], chart.columns["y"]
    text = f"line chart of {y.title or 'values'} over {x.title or 'positions'}."
    series = chart.columns["series"].values if "series" in chart.columns else [""] * len(x.values)
    said = []
    for name in list(dict.fromkeys(series))[:_NAMED]:
        points = [(a, b) for a, b, s in zip(x.values, y.values, series, strict=True) if s == name]
        points = [point for point in points if None not in point]
        if points:
            (first, low), (last, high) = min(points), max(points)
            said.append(
                f"{name or 'The line'} goes from {low:.3g} at {first:g} to {high:.3g} at {last:g}"
            )
    return " ".join([text, *(f"{sentence}." for sentence in said)])


def _bars(chart: Chart) -> str:
    names, values = chart.columns["y"].values, chart.columns["x"].values
    known = [pair for pair in zip(names, values, strict=True) if pair[1] is not None]
    top = sorted(known, key=lambda pair: -abs(pair[1]))[:_NAMED]
    text = f"bar chart of {counted(len(names), 'row')} by {chart.columns['x'].title or 'value'}."
    named = listed_names([f"{name} {value:.3g}" for name, value in top])
    return f"{text} Largest: {named}." if top else text


def _points(chart: Chart) -> str:
    x, y = chart.columns["x"], chart.columns["y"]
    by = chart.columns.get("series")
    coloured = f", coloured by {by.title or 'group'}: {_among(chart, by.values)}" if by else ""
    return f"{counted(len(y.values), 'dot')}, {y.title} against {x.title}{coloured}."


def _heatmap(chart: Chart) -> str:
    n_rows, n_columns = (len(set(chart.columns[field].values)) for field in ("y", "x"))
    values = [v for v in chart.columns["value"].values if v is not None and math.isfinite(v)]
    text = (
        f"heat map of {counted(n_rows - ('strip' in chart.columns), 'row')} and "
        f"{counted(n_columns, 'column')}"
    )
    spread = f", {chart.columns['value'].title} from {min(values):.3g} to {max(values):.3g}"
    return f"{text}{spread if values else ''}."


def _distribution(chart: Chart) -> str:
    values = [value for value in chart.columns["x"].values if value is not None]
    by = chart.columns.get("series", chart.columns["y"])
    among = f" for {_among(chart, by.values)}"
    if not values:
        return f"box plots with every value{among}."
    name = chart.columns["x"].title
    return f"box plots of {name}{among}, from {min(values):.3g} to {max(values):.3g}."


def _dots(chart: Chart) -> str:
    n_rows, n_columns = (len(set(chart.columns[field].values)) for field in ("y", "x"))
    return f"matrix of dots with {counted(n_rows, 'set')} and {counted(n_columns, 'method')}."


def _critical_difference(chart: Chart) -> str:
    names = [text for text in chart.columns["text"].values if text]
    return f"average ranks on a line, the best first: {listed_names(names)}."


def _among(chart: Chart, values: Sequence[Any]) -> str:
    names = list(chart.options.get("series_names") or dict.fromkeys(map(str, values)))
    return listed_names(names[:8], more=len(names) - 8)


_KINDS = {
    "lines": _lines,
    "points": _points,
    "bars": _bars,
    "heatmap": _heatmap,
    "distribution": _distribution,
    "dots": _dots,
    "critical-difference": _critical_difference,
}
