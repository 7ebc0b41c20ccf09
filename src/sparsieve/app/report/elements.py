"""What a report shows: plain tables, charts and sentences, without any idea of how."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_CHART_DIGITS = {"value": 3, "error": 2}  # significant digits; 4 of all other fields


@dataclass(frozen=True)
class Column:
    """A column of a table or a chart.

    Parameters
    ----------
    title : str
        Its heading.
    values : sequence
        Numbers, text, booleans or None.
    digits : int, default=4
        Significant digits shown; files get two more.
    features : sequence of int, default=None
        Where the values are names of features: their columns in X, so that a reader can ask for
        more about them (see :class:`Profiles`).

    See Also
    --------
    sparsieve.app.report.elements.Table : A table.
    sparsieve.app.report.elements.Chart : A picture.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Column
    >>> Column("mm", [0.0, 3.5]).values
    [0.0, 3.5]
    """

    title: str
    values: Sequence[Any]
    digits: int = 4
    features: Sequence[int] | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether all values that there are are numbers."""
        known = [value for value in self.values if value is not None]
        return bool(known) and all(
            isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
        )


@dataclass(frozen=True)
class Table:
    """A table that can be sorted, searched and downloaded.

    Parameters
    ----------
    title : str
        Its heading.
    columns : sequence of Column
        All of one length.
    note : str
        What to see in it.
    shown : int, default=25
        Rows to see before asking for all.
    dense : bool, default=False
        Small type, so that a table of sentences fits a screen.

    See Also
    --------
    sparsieve.app.report.elements.Column : A column of either.
    sparsieve.app.report.elements.Section : A part of the page.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Column, Table
    >>> table = Table("Days", [Column("day", [1, 2]), Column("mm", [0.0, 3.5])])
    >>> [column.title for column in table.columns]
    ['day', 'mm']
    """

    title: str
    columns: Sequence[Column]
    note: str = ""
    shown: int = 25
    dense: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values) if self.columns else 0


@dataclass(frozen=True)
class Chart:
    """Numbers and the kind of picture they want.

    Parameters
    ----------
    title : str
        Its heading.
    kind : {"lines", "bars", "points", "heatmap", "dots", "distribution", "critical-difference"}
        See :mod:`sparsieve.app.report.charts` for the fields of each.
    columns : dict of str to Column
        By field: x, y, series, ...
    controls : sequence of str
        Fields of which one value is shown at a time; the reader chooses.
    note : str
        What to see in it.
    options : dict
        Of the kind; ``initial`` gives the first choice of some controls, ``shape`` how
        much of the page it takes among others ("wide").

    See Also
    --------
    sparsieve.app.report.elements.Column : A column of either.
    sparsieve.app.report.elements.Section : A part of the page.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Chart, Column
    >>> chart = Chart("Rain", "bars", {"x": Column("day", [1, 2]), "y": Column("mm", [0.0, 3.5])})
    >>> chart.kind
    'bars'
    """

    title: str
    kind: str
    columns: Mapping[str, Column]
    controls: Sequence[str] = ()
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """Names and their values, such as the parameters of a method.

    Parameters
    ----------
    title : str
        Heading.
    values : dict of str to object
        By name.

    See Also
    --------
    sparsieve.app.report.elements.Section : A part of the page.
    sparsieve.app.report.elements.Listing : Lines to copy.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Facts
    >>> Facts("Parameters", {"ridge": 1.0}).values["ridge"]
    1.0
    """

    title: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Listing:
    """Lines to copy: a command or a few lines of Python.

    Parameters
    ----------
    title : str
        Heading.
    text : str
        The lines.

    See Also
    --------
    sparsieve.app.report.elements.Section : A part of the page.
    sparsieve.app.report.elements.Facts : Names and values.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Listing
    >>> Listing("Again", "sparsieve select data.csv --target y").text.split()[1]
    'select'
    """

    title: str
    text: str


@dataclass(frozen=True)
class Step:
    """What a slider shows at one number of features.

    Parameters
    ----------
    k : int
        Number of features.
    names : sequence of str
        Of the features, best first.
    features : sequence of int
        Their columns in X.
    text : sequence of str
        Sentences on them.
    ranks : sequence of int or None
        What each is numbered with, where several columns are of one feature group; None counts
        them.

    See Also
    --------
    sparsieve.app.report.elements.Explorer : A slider and charts that follow it.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Step
    >>> Step(2, ["a", "b"], [0, 1], ["Both are needed."]).names
    ['a', 'b']
    """

    k: int
    names: Sequence[str]
    features: Sequence[int]
    text: Sequence[str] = ()
    ranks: Sequence[int] | None = None

    @property
    def numbers(self) -> Sequence[int]:
        """What each feature is numbered with."""
        return range(1, len(self.names) + 1) if self.ranks is None else self.ranks


@dataclass(frozen=True)
class Explorer:
    """A slider over the number of features and the charts that follow it.

    Parameters
    ----------
    title : str
        Its heading.
    steps : sequence of Step
        In increasing order; the last is shown first. A single one needs no slider.
    charts : sequence of Chart
        Rows whose column "k" is the number of features of a step are shown at that step.
    note : str
        What to see in it.
    unit : str
        What the slider counts.

    See Also
    --------
    sparsieve.app.report.elements.Step : One position of the slider.
    sparsieve.app.report.elements.Chart : A picture.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Explorer, Step
    >>> steps = [Step(1, ["a"], [0], []), Step(2, ["a", "b"], [0, 1], [])]
    >>> explorer = Explorer("Which?", steps, [])
    >>> [step.k for step in explorer.steps]
    [1, 2]
    """

    title: str
    steps: Sequence[Step]
    charts: Sequence[Chart] = ()
    note: str = ""
    unit: str = "feature"


Block = Table | Chart | Facts | Listing | Explorer


@dataclass(frozen=True)
class Profiles:
    """What a reader finds who asks for one feature.

    Parameters
    ----------
    features : sequence of int
        Columns of X, in the order of the arrays below.
    names : sequence of str
        Their names, no two alike.
    ranks : dict of str to sequence of (int or None)
        Their ranks by method; None where a method does not rank them.
    chart : Chart
        How the values of a feature are drawn: its columns hold what is the same for all features
        (the class or the targets of every sample shown) and nothing under "x".
    levels : sequence of bytes
        For the first features a byte for every row of the chart: 0 to 254 from the feature's
        smallest value to its largest, 255 where it is missing.
    ranges : sequence of (float, float)
        These smallest and largest values.
    substitutes : dict of int to sequence of (int, float), or None
        By column: the columns that could stand in, with correlations; None where nobody looked.
    note : str
        On the samples shown and on the methods.
    threshold : float
        Smallest absolute correlation of a substitute.

    See Also
    --------
    sparsieve.app.report.Report : The page.
    sparsieve.app.report.elements.Chart : A picture.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Chart, Column, Profiles
    >>> chart = Chart("Values", "points", {"y": Column("target", [1.0, 2.0])})
    >>> profiles = Profiles(
    ...     [0], ["a"], {"fisher": [1]}, chart, [bytes([0, 254])], [(0.5, 1.5)], substitutes=None
    ... )
    >>> profiles.ranks["fisher"]
    [1]
    """

    features: Sequence[int]
    names: Sequence[str]
    ranks: Mapping[str, Sequence[int | None]]
    chart: Chart
    levels: Sequence[bytes]
    ranges: Sequence[tuple[float, float]]
    substitutes: Mapping[int, Sequence[tuple[int, float]]] | None
    note: str = ""
    threshold: float = 0.9


@dataclass(frozen=True)
class Section:
    """A heading, a few sentences and what belongs to them.

    Parameters
    ----------
    title : str
        Heading.
    text : sequence of str
        Paragraphs.
    blocks : sequence of Chart, Table, Facts, Listing or Explorer
        What belongs to them.
    is_open : bool, default=False
        Whether it is unfolded from the start.

    See Also
    --------
    sparsieve.app.report.Report : The page.
    sparsieve.app.report.elements.Chart : A picture.
    sparsieve.app.report.elements.Table : A table.

    Examples
    --------
    >>> from sparsieve.app.report.elements import Facts, Section
    >>> section = Section("Method", ["Ridge."], [Facts("Parameters", {"ridge": 1.0})])
    >>> len(section.blocks)
    1
    """

    title: str
    text: Sequence[str] = ()
    blocks: Sequence[Block] = ()
    is_open: bool = False


def make_chart(
    title: str,
    kind: str,
    rows: Iterable[Sequence[Any]],
    titles: Mapping[str, str],
    note: str = "",
    *,
    digits: Mapping[str, int] | None = None,
    controls: Sequence[str] = (),
    **options: Any,
) -> Chart:
    """A chart of rows; ``titles`` names the fields in the order of their places in a row.

    Examples
    --------
    >>> from sparsieve.app.report.elements import make_chart
    >>> rows = [("a", "b", 0.5)]
    >>> chart = make_chart("Means", "heatmap", rows, {"y": "", "x": "class", "value": "mean"})
    >>> chart.columns["value"].values
    [0.5]
    """
    shown = _CHART_DIGITS | dict(digits or {})
    rows = list(rows)
    columns = {
        field: Column(heading, [row[place] for row in rows], digits=shown.get(field, 4))
        for place, (field, heading) in enumerate(titles.items())
    }
    return Chart(title, kind, columns, controls, note, options)


def grid(
    values: Any, names: Sequence[str], across: Sequence[str], *place: Any
) -> list[tuple[Any, ...]]:
    """The rows of a heat map: for every cell of a matrix its place, both names and its number.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.app.report.elements import grid
    >>> grid(np.array([[0.5, np.nan]]), ["feature"], ["cat", "dog"], 3)
    [(3, 'feature', 'cat', 0.5), (3, 'feature', 'dog', None)]
    """
    return [
        (*place, name, other, value.item() if math.isfinite(value) else None)
        for name, row in zip(names, values, strict=True)
        for other, value in zip(across, row, strict=True)
    ]


def correlations_chart(
    title: str, values: Any, names: Sequence[str], note: str = "", value: str = "correlation"
) -> Chart:
    """A map of the correlations of some things with each other, from -1 to 1."""
    titles = {"y": "", "x": "", "value": value}
    rows = grid(values, names, names)
    return make_chart(title, "heatmap", rows, titles, note, diverging=True, span=1.0)


def make_table(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    note: str = "",
    names: Mapping[str, str] | None = None,
    shown: int = 25,
    digits: Mapping[str, int] | None = None,
) -> Table:
    """A table of rows that are dicts; ``names`` and ``digits`` say how some keys are shown.

    Examples
    --------
    >>> from sparsieve.app.report.elements import make_table
    >>> [column.title for column in make_table("t", [{"a": 1, "b": 2}], names={"a": "A"}).columns]
    ['A', 'b']
    """
    names, digits = names or {}, digits or {}
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = [
        Column(names.get(key, key), [row.get(key) for row in rows], digits=digits.get(key, 4))
        for key in keys
    ]
    return Table(title, columns, note, shown)
