"""A report as one HTML page with everything inside it."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib import resources
from typing import Any

from .._optional import require
from .._version import __version__
from .charts import specification
from .data import Chart, Column, Contents, Facts, Listing, Table
from .vega import vega_script


def render(report: Contents) -> str:
    """The page.

    Parameters
    ----------
    report : Contents

    Returns
    -------
    page : str
    """
    charts: list[dict] = []
    sections = [
        {
            "title": section.title,
            "label": section.label or section.title,
            "anchor": f"section-{number}",
            "text": section.text,
            "blocks": [
                _block(block, f"{number}-{i}", charts) for i, block in enumerate(section.blocks, 1)
            ],
        }
        for number, section in enumerate(report.sections, 1)
    ]
    return _template().render(
        report=report,
        sections=sections,
        charts=_script_safe(charts),
        style=_file("report.css"),
        script=_file("report.js"),
        library=vega_script() if charts else "",
        version=__version__,
    )


def framed(report: Contents, height: int = 720) -> str:
    """The page in a frame, so that its style does not touch a notebook's."""
    from markupsafe import escape

    return (
        f'<iframe srcdoc="{escape(render(report))}" title="{escape(report.title)}" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def _block(block: Any, key: str, charts: list[dict]) -> dict:
    if isinstance(block, Chart):
        charts.append(_chart(block, f"chart-{key}"))
        return {
            "kind": "chart",
            "key": f"chart-{key}",
            "block": block,
            "controls": _controls(block),
        }
    if isinstance(block, Table):
        return {
            "kind": "table",
            "key": f"table-{key}",
            "block": block,
            "numeric": [column.is_numeric for column in block.columns],
            "rows": _rows(block),
        }
    if isinstance(block, Facts):
        return {"kind": "facts", "block": block}
    if isinstance(block, Listing):
        return {"kind": "listing", "key": f"listing-{key}", "block": block}
    raise TypeError(f"a report has no blocks of type {type(block).__name__}")


def _chart(chart: Chart, key: str) -> dict:
    return {
        "id": key,
        "file": _file_name(chart.title),
        "spec": specification(chart),
        "fields": list(chart.columns),
        "titles": [column.title or name for name, column in chart.columns.items()],
        "columns": [_packed(column) for column in chart.columns.values()],
        "controls": list(chart.controls),
    }


def _packed(column: Column) -> dict:
    """Text as positions in a list of its distinct values: many rows repeat few names."""
    values = [_plain(value) for value in column.values]
    if column.is_numeric:
        return {"values": [_rounded(value, column.digits + 2) for value in values]}
    names = list(dict.fromkeys(values))
    place = {name: position for position, name in enumerate(names)}
    return {"names": names, "values": [place[value] for value in values]}


def _rounded(value: Any, digits: int) -> Any:
    """More digits than any picture shows, half the bytes."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _controls(chart: Chart) -> list[dict]:
    return [
        {
            "field": name,
            "title": chart.columns[name].title,
            "options": [shown(value) for value in dict.fromkeys(chart.columns[name].values)],
            "initial": shown(chart.options.get("initial", {}).get(name)),
        }
        for name in chart.controls
    ]


def _rows(table: Table) -> list[list[dict]]:
    cells = [[_cell(value, column.digits) for value in column.values] for column in table.columns]
    return [list(row) for row in zip(*cells, strict=True)]


def shown(value: Any, digits: int = 4) -> str:
    """A value as a reader wants it.

    Examples
    --------
    >>> from sparsieve.report.html import shown
    >>> shown(0.123456), shown(None), shown(True), shown(22283), shown(1e-9)
    ('0.1235', '', 'yes', '22,283', '1e-09')
    """
    value = _plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return str(value)


def _cell(value: Any, digits: int) -> dict:
    """What a cell shows, and for sorting and files the full number where that is another."""
    text, value = shown(value, digits), _plain(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {"text": text, "value": value if is_number and str(value) != text else None}


def _plain(value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _script_safe(value: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever text it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _file_name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "chart"


@cache
def _template() -> Any:
    jinja = require("jinja2", extra="report", purpose="write a report")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("report.html"))


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
