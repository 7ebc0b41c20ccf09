"""Charts as a page first shows them: without its slider and its menus."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .elements import Chart, Column, Explorer

if TYPE_CHECKING:
    from .page import Report

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
    >>> from sparsieve.report.elements import chart_of
    >>> from sparsieve.report.stills import still
    >>> titles = {"score": "score", "x": "k", "y": "mean"}
    >>> rows = [("accuracy", 1, 0.5), ("mcc", 1, 0.2)]
    >>> still(chart_of("Scores", "lines", rows, titles, controls=("score",))).columns["y"].values
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


def charts_of(report: Report) -> list[Chart]:
    """All charts of a report, as they are first shown, from top to bottom."""
    found: list[Chart] = [] if report.picture is None else [still(report.picture)]
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Chart):
                found.append(still(block))
            elif isinstance(block, Explorer):
                found += [still(chart, follows_slider=True) for chart in block.charts]
    return found
