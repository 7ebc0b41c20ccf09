"""Numbers, names and charts in words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ..._text import listed_names, plural
from .elements import Chart


def capitalise(text: str) -> str:
    """The text with a capital first letter, the others as they are.

    Examples
    --------
    >>> from sparsieve.app.report.wording import capitalise
    >>> capitalise("mean of R²")
    'Mean of R²'
    """
    return text[:1].upper() + text[1:]


def end_sentence(sentence: str) -> str:
    """The sentence with a full stop, unless it is a question.

    Examples
    --------
    >>> from sparsieve.app.report.wording import end_sentence
    >>> end_sentence("Two samples are alike"), end_sentence("Are they copies?")
    ('Two samples are alike.', 'Are they copies?')
    """
    return sentence if sentence.endswith("?") else f"{sentence}."


def percent(share: float) -> str:
    """``96.4 %``, and ``100 %`` where the decimal would be a zero.

    Examples
    --------
    >>> from sparsieve.app.report.wording import percent
    >>> percent(0.9642), percent(1.0)
    ('96.4 %', '100 %')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def duration(seconds: float) -> str:
    """A time with the digits that it deserves.

    Examples
    --------
    >>> from sparsieve.app.report.wording import duration
    >>> duration(0.0021), duration(1.234), duration(45.6), duration(3700), duration(9e4)
    ('< 0.1 s', '1.2 s', '46 s', '62 min', '25 h')
    """
    if seconds < 0.1:
        return "< 0.1 s"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"


def file_name(title: str, empty: str = "figure") -> str:
    """A title as the name of a file; ``empty`` where no letter of it can stay.

    Examples
    --------
    >>> from sparsieve.app.report.wording import file_name
    >>> file_name("Features in common, of 5")
    'features-in-common-of-5'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or empty


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
    >>> from sparsieve.app.report.wording import alt_text
    >>> from sparsieve.app.report.elements import make_chart
    >>> rows = [("age", 0.9), ("dose", 0.25)]
    >>> alt_text(make_chart("Scores", "bars", rows, {"y": "", "x": "score"}))
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
    text = f"bar chart of {plural(len(names), 'row')} by {chart.columns['x'].title or 'value'}."
    named = listed_names([f"{name} {value:.3g}" for name, value in top])
    return f"{text} Largest: {named}." if top else text


def _points(chart: Chart) -> str:
    x, y = chart.columns["x"], chart.columns["y"]
    by = chart.columns.get("series")
    coloured = f", coloured by {by.title or 'group'}: {_among(chart, by.values)}" if by else ""
    return f"{plural(len(y.values), 'dot')}, {y.title} against {x.title}{coloured}."


def _heatmap(chart: Chart) -> str:
    n_rows, n_columns = (len(set(chart.columns[field].values)) for field in ("y", "x"))
    values = [v for v in chart.columns["value"].values if v is not None and math.isfinite(v)]
    text = (
        f"heat map of {plural(n_rows - ('strip' in chart.columns), 'row')} and "
        f"{plural(n_columns, 'column')}"
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
    return f"matrix of dots with {plural(n_rows, 'set')} and {plural(n_columns, 'method')}."


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
