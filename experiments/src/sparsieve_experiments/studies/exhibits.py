"""What a reproduction shows: plain rows, and which of their columns make a chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sparsieve.app.report.elements import Chart, Column

KINDS = ("lines", "bars", "points")


def place_of_row(row: Mapping[str, Any]) -> tuple[str, str]:
    """Data set and method of a row, empty where it names none: one code makes all rows of a place.

    Examples
    --------
    >>> from sparsieve_experiments.studies.exhibits import place_of_row
    >>> place_of_row({"dataset": "Colon", "k": 5, "accuracy": 90.0})
    ('Colon', '')
    """
    return str(row.get("dataset") or ""), str(row.get("method") or "")


@dataclass(frozen=True)
class Drawing:
    """Which columns of an exhibit's rows make a :class:`~sparsieve.app.report.Chart`.

    Parameters
    ----------
    x, y : str
    kind : {"lines", "bars", "points"}, default="lines"
    colour : str
        Column that tells lines, bars or points apart.
    panel : str
        Column with one picture per value; a report shows one at a time.
    band : str
        Column with the half width of a band around y, such as a standard error.
    log_x, log_y : bool
        Logarithmic axes; the x of bars are names, which have none.
    x_title, y_title : str
        What to write at the axes; the names of the columns if not given.

    Examples
    --------
    >>> from sparsieve_experiments.studies.exhibits import Drawing
    >>> Drawing("k", "accuracy", colour="method", panel="dataset").kind
    'lines'
    """

    x: str
    y: str
    kind: str = "lines"
    colour: str = ""
    panel: str = ""
    band: str = ""
    log_x: bool = False
    log_y: bool = False
    x_title: str = ""
    y_title: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns that it needs."""
        return [name for name in (self.x, self.y, self.colour, self.panel, self.band) if name]

    def chart(self, name: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
        """The chart of those rows that have an x and a y.

        Bars are horizontal, so that their names, which are x here, stand at the side.

        Examples
        --------
        >>> from sparsieve_experiments.studies.exhibits import Drawing
        >>> rows = [{"k": 1, "accuracy": 0.5, "sd": 0.1}, {"k": 2, "accuracy": None, "sd": None}]
        >>> Drawing("k", "accuracy", band="sd").chart("Figure 1", rows).columns["error"].values
        [0.1]
        """
        known = [row for row in rows if None not in (row.get(self.x), row.get(self.y))]

        def column(field: str, title: str = "") -> Column:
            return Column(title or field.replace("_", " "), [row.get(field) for row in known])

        columns = {}
        if self.panel:
            columns["panel"] = column(self.panel)
        if self.colour:
            columns["series"] = _as_text(column(self.colour))
        x, y = column(self.x, self.x_title), column(self.y, self.y_title)
        is_bars = self.kind == "bars"
        columns |= {"y": replace(_as_text(x), title=""), "x": y} if is_bars else {"x": x, "y": y}
        if self.band:
            half = column(self.band)
            columns["error"] = replace(half, values=[value or 0.0 for value in half.values])
        lines = Counter((row.get(self.panel), row.get(self.colour)) for row in known)
        return Chart(
            f"{name}: {y.title}",
            self.kind,
            columns,
            controls=("panel",) if self.panel else (),
            options={
                "log_x": self.log_y if is_bars else self.log_x,
                "log_y": self.log_y and not is_bars,
                "grouped": bool(self.colour),
                "marks": max(lines.values(), default=0) <= 60,
            },
        )


def _as_text(column: Column) -> Column:
    return replace(column, values=[str(value) for value in column.values])


@dataclass(frozen=True)
class Exhibit:
    """A table or figure: what was found, beside what was published where numbers were printed.

    Parameters
    ----------
    name : str
        As the paper calls it: "Table II", "Figure 4".
    title : str
        What it shows, in one line.
    rows : list of dict
        Plain values, the same keys in every row; None where there is no value. Columns that hold
        numbers printed in the paper are called ``published`` or begin with ``published_``.
    drawings : sequence of Drawing
        Pictures of these rows.
    note : str
        How it was computed and how that differs from the paper, in plain sentences. A choice made
        on test samples is called so here.
    summary : list of dict
        A few rows that say it shorter, for a terminal; the rows themselves if not given.
    codes : dict of tuple to str
        Digests of the code that made the rows, by what :func:`place_of_row` says of these.

    Examples
    --------
    >>> from sparsieve_experiments.studies.exhibits import Drawing, Exhibit
    >>> rows = [{"k": 1, "accuracy": 0.5}, {"k": 2, "accuracy": 0.7}]
    >>> Exhibit("Figure 1", "Accuracy", rows, [Drawing("k", "accuracy")]).columns
    ['k', 'accuracy']
    """

    name: str
    title: str
    rows: Sequence[dict]
    drawings: Sequence[Drawing] = ()
    note: str = ""
    summary: Sequence[dict] = ()
    codes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self):
        for drawing in self.drawings:
            if drawing.kind not in KINDS:
                raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {drawing.kind!r}")
            if drawing.kind == "bars" and drawing.log_x:
                raise ValueError(f"{self.name}: bars have names, not numbers, as x; set log_y")
            missing = [name for name in drawing.columns if self.rows and name not in self.columns]
            if missing:
                raise ValueError(f"{self.name} has no column {missing[0]!r} to draw")

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    @property
    def charts(self) -> list[Chart]:
        """The rows, drawn."""
        return [drawing.chart(self.name, self.rows) for drawing in self.drawings]
