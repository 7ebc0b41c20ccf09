"""What a page is made of, how it was made, and the page as HTML with everything inside it."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..._files import replacing
from ..._imports import require
from ..._text import BIDI, visible
from ..._version import __version__
from ...scoring.outcomes import software
from .charts import specification
from .elements import Chart, Explorer, Facts, Listing, Profiles, Section, Table
from .encodings import PALETTES, vega_script
from .packing import Packing, still, to_text
from .wording import alt_text, file_name


def check_packages() -> None:
    """Refuse where the packages that reports need are not installed.

    See Also
    --------
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.app.report.page import check_packages
    >>> check_packages()
    """
    require("jinja2", extra="report", purpose="write a report")
    require("vl_convert", extra="report", purpose="draw the charts of a report")


def provenance_section(
    parameters: Mapping[str, object] | None,
    *,
    command: str = "",
    code: str = "",
    seed: int | None = None,
    versions: Mapping[str, str] | None = None,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
) -> Section:
    """The section that ends every report.

    Parameters
    ----------
    parameters : dict or None
        Of the method.
    command, code : str
        What makes the same report, on a command line or in Python.
    seed : int, default=None
        Of the folds.
    versions : dict, default=None
        Software behind the results; that of this process if not given.
    text : sequence of str
        Sentences on the procedure.
    tables : sequence of Table
        What was compared.

    Returns
    -------
    section : Section
    """
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts: dict[str, object] = {"made": now, **(software() if versions is None else versions)}
    if seed is not None:
        facts["seed"] = seed
    lines = {"Command line": command, "In Python": code}
    blocks: list = [*tables, *(Listing(title, text) for title, text in lines.items() if text)]
    if parameters:
        blocks.append(Facts("Parameters", {k: repr(v) for k, v in parameters.items()}))
    return Section("How it was made", text, [*blocks, Facts("Software", facts)])


@dataclass(frozen=True)
class Report:
    """A whole report.

    Parameters
    ----------
    title : str
        Heading of the page.
    headline : str
        The answer, in one plain sentence.
    sections : sequence of Section
        Details, from top to bottom; they are folded, except where there is no picture the first.
    figures : dict of str to str
        A few more numbers, by what they are; one row of them.
    warnings : sequence of str
        What a reader must know before trusting it.
    profiles : Profiles or None
        More about the features that its tables name.
    picture : Chart or None
        The one picture to see first.

    See Also
    --------
    sparsieve.app.report.elements.Section : A part of the page.
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.app.report import Report
    >>> from sparsieve.app.report.elements import Section
    >>> report = Report("Weather", "It rains.", [Section("Why", ["Clouds."])])
    >>> report.headline
    'It rains.'
    """

    title: str
    headline: str
    sections: Sequence[Section]
    figures: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    profiles: Profiles | None = None
    picture: Chart | None = None

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else."""
        return render(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an existing file is replaced only by a complete one.

        Parameters
        ----------
        path : str or path
        """
        page = self.to_html()
        with replacing(Path(path)) as scratch:
            scratch.write_text(page, encoding="utf-8")

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own."""
        return wrap_in_frame(self)


# Where a name may be broken; numbers stay whole. The same is in columns.js.
_BREAKS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_/:|;\\])(?=\S)|(?<=[.,-])(?=[^\s\d])")
_BIDI = re.compile(f"[{BIDI}]")
# One script in parts, in the order in which they need each other.
_SCRIPTS = ("columns", "files", "charts", "tables", "profiles", "explorer", "page")


def render(report: Report) -> str:
    """The page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    page : str
    """
    page = _Page(report)
    picture = None if report.picture is None else page.block(report.picture, "0-1")
    sections = [
        {
            "title": section.title,
            "anchor": f"section-{number}",
            "text": section.text,
            "is_open": section.is_open or (number == 1 and report.picture is None),
            "blocks": [
                page.block(block, f"{number}-{i}") for i, block in enumerate(section.blocks, 1)
            ],
        }
        for number, section in enumerate(report.sections, 1)
    ]
    return _template().render(
        report=report,
        sections=sections,
        picture=picture,
        profile=page.profile,
        data={name: _script_safe(found) for name, found in page.data.items()},
        style=_file("report.css"),
        script="\n".join(_file(f"{name}.js") for name in _SCRIPTS),
        library=vega_script() if page.data["charts"] else "",
        version=__version__,
    )


def wrap_in_frame(report: Report, height: int = 720) -> str:
    """The page in a frame, so that its style does not touch a notebook's."""
    from markupsafe import escape

    return (
        f'<iframe srcdoc="{escape(render(report))}" title="{escape(visible(report.title))}" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


class _Page:
    """What the template needs of every block, and the data that the scripts need."""

    def __init__(self, report: Report) -> None:
        self.packing = Packing(report.profiles)
        self.data: dict[str, Any] = {"charts": [], "tables": [], "explorers": []}
        self.data["palettes"] = PALETTES
        self.profile: dict | None = None
        self.data["profiles"] = None
        if report.profiles is not None:
            # Its figure stands in the page once; a reader who asks for a feature fills it.
            self.profile = self._chart(report.profiles.chart, "profile-chart")
            self.data["profiles"] = self.packing.profiles(report.profiles)

    def block(self, block: Any, key: str) -> dict:
        if isinstance(block, Chart):
            return self._chart(block, f"chart-{key}")
        if isinstance(block, Table):
            return self._table(block, f"table-{key}")
        if isinstance(block, Explorer):
            return self._explorer(block, f"explorer-{key}")
        kind = type(block).__name__.lower()
        if isinstance(block, Facts | Listing):
            return {"kind": kind, "key": f"{kind}-{key}", "block": block}
        raise TypeError(f"a report has no blocks of type {type(block).__name__}")

    def _chart(self, chart: Chart, key: str) -> dict:
        self.data["charts"].append(
            {
                "id": key,
                "file": file_name(chart.title, "chart"),
                "spec": specification(chart),
                "fields": list(chart.columns),
                "titles": [column.title or name for name, column in chart.columns.items()],
                "columns": [
                    self.packing.pack_chart_column(column) for column in chart.columns.values()
                ],
            }
        )
        return {
            "kind": "chart",
            "key": key,
            "block": chart,
            "alt": alt_text(still(chart, follows_slider=True)),
            "controls": _controls(chart),
            "min_width": _min_width(chart),
        }

    def _table(self, table: Table, key: str) -> dict:
        columns = [self.packing.pack_table_column(column) for column in table.columns]
        self.data["tables"].append(
            {
                "id": key,
                "file": file_name(table.title, "chart"),
                "shown": table.shown,
                "columns": columns,
            }
        )
        cells = [self.packing.cells(column, table.shown) for column in table.columns]
        return {
            "kind": "table",
            "key": key,
            "block": table,
            "numeric": [column.is_numeric for column in table.columns],
            "rows": [list(row) for row in zip(*cells, strict=True)],
        }

    def _explorer(self, explorer: Explorer, key: str) -> dict:
        steps = [
            {
                "k": step.k,
                "names": self.packing.names(step.names, step.features),
                "text": list(step.text),
                **({} if step.ranks is None else {"ranks": list(step.ranks)}),
            }
            for step in explorer.steps
        ]
        charts = [self._chart(chart, f"{key}-{i}") for i, chart in enumerate(explorer.charts, 1)]
        keys = [chart["key"] for chart in charts]
        found = {"id": key, "steps": steps, "charts": keys, "unit": explorer.unit}
        self.data["explorers"].append(found)
        last = explorer.steps[-1]
        return {
            "kind": "explorer",
            "key": key,
            "block": explorer,
            "charts": charts,
            "last": last,
            "features": self.packing.feature_cells(last.names, last.features),
            "ranks": list(last.numbers),
        }


def _min_width(chart: Chart) -> int:
    """Pixels below which names or the numbers in the cells of a map would run into each other."""
    if chart.kind == "critical-difference":
        return 520
    names = max((len(str(name)) for name in chart.columns["y"].values), default=0)
    if chart.kind == "dots":
        return 26 * len(set(chart.columns["x"].values)) + min(7 * names, 260)
    if chart.kind != "heatmap" or not chart.options.get("labels"):
        return 0
    return 38 * len(set(chart.columns["x"].values)) + min(7 * names, 180)


def _controls(chart: Chart) -> list[dict]:
    return [
        {
            "field": name,
            "title": chart.columns[name].title,
            "options": [to_text(value) for value in dict.fromkeys(chart.columns[name].values)],
            "initial": to_text(chart.options.get("initial", {}).get(name)),
        }
        for name in chart.controls
    ]


def breakable(text: str) -> Any:
    """Text that may be broken at humps, underscores and the like, escaped for a page.

    Examples
    --------
    >>> from sparsieve.app.report.page import breakable
    >>> print(breakable("RidgeForward_a.b <c>"))
    Ridge<wbr>Forward_<wbr>a.<wbr>b &lt;c&gt;
    """
    from markupsafe import Markup, escape

    parts = re.split(_BREAKS, _visible(str(text)))
    return Markup("<wbr>").join(escape(part) for part in parts)


def width_class(text: str) -> str:
    """How a cell of a table may be broken, by its length; the same is in tables.js."""
    return "brief" if len(text) <= 22 else "short" if len(text) <= 45 else "long"


def _visible(value: Any) -> Any:
    """Text without characters that act on what is around them; what is markup already stays."""
    return value if not isinstance(value, str) or hasattr(value, "__html__") else visible(value)


def _script_safe(value: Any) -> str:
    """JSON that cannot end the script element it stands in, whatever text it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = _BIDI.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)  # spelled out in JavaScript
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _template() -> Any:
    jinja = require("jinja2", extra="report", purpose="write a report")
    environment = jinja.Environment(
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters["breakable"] = breakable
    environment.filters["width_class"] = width_class
    return environment.from_string(_file("report.html"))


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
