"""Parts of drawn charts: names beside axes, legends, colour bars, and what has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._text import shortened
from ..report.charts import MAX_LABELS
from ..report.elements import Chart
from ..report.encodings import LEVEL, series_names
from .base import beside, in_legend, plain, wrapped

LINE = 44  # characters of a line that fits half of a figure
MAX_INSIDE_LEGEND = 4  # what a legend inside the axes can name


def is_narrow(ax: Any) -> bool:
    """Whether axes are those of a figure for one column of a paper."""
    return bool(ax.figure.get_figwidth() < 4.5)  # inches


def is_square(chart: Chart) -> bool:
    """Whether a chart is a matrix of things against themselves, such as correlations."""
    same = {*chart.columns["x"].values} == {*chart.columns["y"].values}
    return chart.kind == "heatmap" and same


def numbers(chart: Chart, field: str) -> np.ndarray:
    """A column as numbers; what is missing is NaN."""
    values = chart.columns[field].values
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def by_series(chart: Chart) -> dict[str, dict[str, np.ndarray]]:
    """The numbers of every series that has any, in the order of the series."""
    fields = [field for field in ("x", "y", "error") if field in chart.columns]
    known = {field: numbers(chart, field) for field in fields}
    if "censored" in chart.columns:
        known["censored"] = np.array([one == "yes" for one in chart.columns["censored"].values])
    if "series" not in chart.columns:
        return {"": known}
    series = np.array(chart.columns["series"].values, dtype=object)
    groups = {
        name: {f: v[series == name] for f, v in known.items()} for name in series_names(chart)
    }
    return {name: rows for name, rows in groups.items() if len(rows["x"])}


def group_size(chart: Chart) -> int:
    """How many bars stand at one name."""
    if not chart.options.get("grouped") or "series" not in chart.columns:
        return 1
    return len(series_names(chart))


def short_names(ax: Any, names: list[Any]) -> list[str]:
    """Names that leave room for what they name; no two become the same."""
    most = 24 if is_narrow(ax) else 40
    return [plain(name) for name in shortened([" ".join(str(n).split()) for n in names], most)]


def name_rows(ax: Any, chart: Chart, names: list[Any]) -> None:
    """Names beside the rows."""
    ax.set_yticks(range(len(names)), short_names(ax, names))
    ax.set_ylabel(plain(chart.columns["y"].title))


def name_columns(ax: Any, chart: Chart, names: list[Any]) -> None:
    """Names below the columns, as many as have room."""
    title = chart.columns["x"].title
    if len(names) > MAX_LABELS:
        ax.set_xticks([])
        ax.set_xlabel(plain(chart.options.get("x_label", title)))
        return
    short = short_names(ax, names)
    width = 0.5 * ax.figure.get_figwidth()  # of the axes, about
    side_by_side = max(map(len, short)) + 2 <= n_characters(width, "xtick.labelsize") / len(short)
    # Slanted names need a line of text each: 0.6 of its height is the width of a character.
    every = -(-len(short) // max(1, int(0.45 * n_characters(width, "xtick.labelsize"))))
    if every > 1 and is_square(chart):
        ax.set_xticks([])
        ax.set_xlabel("in the order of the rows")
        return
    if side_by_side:
        ax.set_xticks(range(len(names)), short)
    else:
        slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(range(0, len(names), every), short[::every], **slanted)
    ax.set_xlabel(plain(f"{title} (every {every}th is named)" if every > 1 else title))


def label_scores(ax: Any, chart: Chart) -> None:
    """What the axis of scores shows, and where there is room what a score says."""
    meaning = "" if is_narrow(ax) else wrapped(chart.options.get("meaning", ""), LINE)
    ax.set_xlabel("\n".join(filter(None, [plain(chart.columns["x"].title), meaning])))


def level(chart: Chart, ax: Any) -> Any:
    """A line to compare with, or None."""
    level = chart.options.get("line")
    if level is None or not np.isfinite(level):
        return None
    return ax.axvline(level, color=LEVEL, linestyle="--", lw=1.2)


def class_legend(ax: Any, colours: dict[str, str], title: str) -> None:
    """A patch of colour for every class."""
    from matplotlib.patches import Patch

    handles = [Patch(color=colour) for colour in colours.values()]
    legend(ax, handles, [in_legend(name) for name in colours], title, place=None)


def legend(
    ax: Any, handles: list[Any], labels: list[str], title: str = "", place: str | None = "best"
) -> None:
    """Inside where there is room, beside the axes, or above them in a narrow figure."""
    if is_narrow(ax) or place is None:
        width = sum(len(label) + 5 for label in labels)
        share = 0.8 * n_characters(ax.figure.get_figwidth(), "legend.fontsize") / width
        n_columns = max(1, min(len(labels), int(len(labels) * share)))
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "frameon": False}
        spacing = {"columnspacing": 1.0, "handlelength": 1.0, "fontsize": "small", "borderpad": 0.2}
        ax.legend(handles, labels, ncols=n_columns, **above, **spacing)
        if ax.get_title():  # the legend takes its place
            ax.set_title(ax.get_title(), pad=4 + 14 * -(-len(labels) // n_columns))
    elif len(labels) > MAX_INSIDE_LEGEND:
        beside(ax, handles=handles, labels=labels, title=plain(title) or None)
    else:
        ax.legend(handles, labels, loc=place, title=plain(title) or None)


def n_characters(inches: float, size: str) -> int:
    """About how many characters of a size of Matplotlib's settings a line has room for."""
    import matplotlib
    from matplotlib.font_manager import FontProperties

    known: Any = matplotlib.rcParams
    points = FontProperties(size=known[size]).get_size_in_points()
    return int(inches * 72 / (0.6 * points))


def colour_bar(ax: Any, shaded: Any, title: str) -> Any:
    """The scale of a map."""
    bar = ax.figure.colorbar(shaded, ax=ax, shrink=0.9, pad=0.02, aspect=25)
    room = n_characters(0.55 * ax.figure.get_figheight(), "axes.labelsize")
    bar.set_label(wrapped(title, max(room, 12)))
    bar.outline.set_visible(False)
    return bar


def colour_map(colours: tuple[str, ...]) -> Any:
    """From the first colour to the last; missing cells are white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("sparsieve", colours).with_extremes(bad="white")
