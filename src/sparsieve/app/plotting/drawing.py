"""Charts of a report drawn by Matplotlib; their kinds and fields are those of ``report.charts``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...selectors.ranked import KEPT_BY_REQUEST, UNRANKED
from ..report.elements import Chart
from ..report.encodings import (
    DIVERGING,
    MAX_BANDS,
    MEANT,
    PALETTE_SIZE,
    RAMP,
    SELECTED,
    SEQUENTIAL,
    series_colours,
    series_names,
)
from .base import (
    LINE,
    by_series,
    class_legend,
    colour_bar,
    colour_map,
    count_axis,
    group_size,
    in_legend,
    is_narrow,
    label_scores,
    legend,
    level,
    log_axis,
    n_characters,
    name_columns,
    name_rows,
    numbers,
    plain,
    wrap_text,
)

MARKERS = ("o", "s", "^", "D", "P")
_INK = "#57606a"

Artists = dict[str, Any]


def draw(chart: Chart, ax: Any, **style: Any) -> Artists:
    """Draw a chart on axes.

    Parameters
    ----------
    chart : Chart
        Without controls; see :func:`sparsieve.app.report.packing.still`.
    ax : matplotlib axes
        Where to draw.
    **style : dict
        For the marks, as in Matplotlib's function that draws them.

    Returns
    -------
    artists : dict of str to matplotlib artists
        What was drawn, by what it is.
    """
    if not is_narrow(ax):
        room = ax.get_position().width * ax.figure.get_figwidth()
        ax.set_title(wrap_text(chart.title, max(LINE, n_characters(room, "axes.titlesize"))))
    return _KINDS[chart.kind](chart, ax, style)


def n_rows(chart: Chart) -> int:
    """Lines of text that a chart needs beside it; 0 where its height does not depend on them."""
    if chart.kind in ("lines", "points"):
        return 0
    if chart.kind == "critical-difference":
        return int(2 - 1.5 * min(y for y in chart.columns["y"].values if y is not None))
    rows = len(set(chart.columns["y"].values))
    if chart.kind == "distribution":
        inside = len(series_names(chart)) if "series" in chart.columns else 1
        return rows * max(2, inside)
    return rows * (group_size(chart) + 1) // 2 if chart.kind == "bars" else rows


def wished_width(chart: Chart) -> float:
    """Inches: more where names are long or columns many."""
    if chart.kind in ("lines", "points"):
        return 6.4
    longest = min(40, max(len(str(name)) for name in chart.columns["y"].values))
    across = len(set(chart.columns["x"].values)) if chart.kind in ("heatmap", "dots") else 0
    return 6.4 + 0.08 * max(0, longest - 16) + 0.06 * min(max(0, across - 10), 40)


# -- numbers over numbers ------------------------------------------------------------------------


def _lines(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    groups = by_series(chart)
    colours = series_colours(list(groups))
    made: Artists = {"lines": [], "bands": [], "marks": [], "ticks": []}
    dots = "." if chart.options.get("marks", True) else ""
    for name, rows in groups.items():
        across = name and name == chart.options.get("across")
        look = {"marker": dots, "linestyle": "--" if across else "-", "color": colours[name]}
        look["drawstyle"] = "steps-post" if chart.options.get("steps") else "default"
        (line,) = ax.plot(rows["x"], rows["y"], **{**look, "label": in_legend(name), **style})
        made["lines"].append(line)
        if "censored" in chart.columns:
            ticks = {"marker": "|", "linestyle": "", "color": line.get_color(), "ms": 6}
            at = rows["censored"]
            made["ticks"] += ax.plot(rows["x"][at], rows["y"][at], label="_", **ticks)
        if "error" in rows and not across and len(groups) <= MAX_BANDS:
            most = chart.options.get("most", np.inf)
            span = rows["y"] - rows["error"], np.minimum(rows["y"] + rows["error"], most)
            faint = {"alpha": 0.15, "lw": 0, "color": line.get_color()}
            made["bands"].append(ax.fill_between(rows["x"], *span, **faint))
    marker = chart.options.get("marker")
    if marker is not None:
        label = f"{chart.options.get('marker_name', 'selected')}: {marker:g}"
        made["marks"].append(ax.axvline(marker, color="grey", ls=":", lw=1.2, label=label))
    ax.set(xlabel=plain(chart.columns["x"].title), ylabel=plain(chart.columns["y"].title))
    if chart.options.get("log_x"):
        count_axis(ax, chart.columns["x"].title)
    elif all(isinstance(value, int) for value in chart.columns["x"].values):
        ax.xaxis.get_major_locator().set_params(integer=True)
    if chart.options.get("log_y"):
        ax.set_yscale("log")
    if chart.options.get("from_zero"):
        ax.set_ylim(bottom=0)
    if "series" in chart.columns or marker is not None:
        handles = [*(made["lines"] if "series" in chart.columns else []), *made["marks"]]
        place = None if chart.options.get("whole_legend") else "best"
        if "test" in chart.options:  # a line of the legend without a mark
            handles += ax.plot([], [], linestyle="", label=chart.options["test"])
        legend(ax, handles, [handle.get_label() for handle in handles], place=place)
    return made


def _points(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    made: Artists = {"points": []}
    size = 0.4 * chart.options.get("size", 70) * (0.5 if is_narrow(ax) else 1.0)
    if "value" in chart.columns:
        shade = {"c": numbers(chart, "value"), "cmap": colour_map(RAMP), "s": size, **style}
        dots = ax.scatter(numbers(chart, "x"), numbers(chart, "y"), **shade)
        made["points"].append(dots)
        made["bar"] = colour_bar(ax, dots, chart.columns["value"].title)
    else:
        groups = by_series(chart)
        colours = series_colours(list(groups))
        for i, (name, rows) in enumerate(groups.items()):
            marker = MARKERS[i // PALETTE_SIZE % len(MARKERS)]
            look = {"color": colours[name], "marker": marker, "s": size, "alpha": 0.85, "lw": 0}
            dots = ax.scatter(rows["x"], rows["y"], **{**look, "label": in_legend(name), **style})
            made["points"].append(dots)
        if "series" in chart.columns:
            title = chart.columns["series"].title
            legend(ax, made["points"], [d.get_label() for d in made["points"]], title)
    if "diagonal" in chart.options:
        low, high = chart.options["diagonal"]
        (made["diagonal"],) = ax.plot([low, high], [low, high], ls="--", color=_INK, lw=1)
    ax.set(xlabel=plain(chart.columns["x"].title), ylabel=plain(chart.columns["y"].title))
    for axis in "xy":
        if chart.options.get(f"log_{axis}"):
            ax.set(**{f"{axis}scale": "log"})
    return made


# -- names and numbers ---------------------------------------------------------------------------


def _bars(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    names = list(dict.fromkeys(chart.columns["y"].values))
    values, n_grouped = numbers(chart, "x"), group_size(chart)
    kinds = list(chart.columns["series"].values) if "series" in chart.columns else []
    order = series_names(chart) if kinds else []
    colours = series_colours(order or [""])
    height = 0.8 / n_grouped
    places = np.array([names.index(name) for name in chart.columns["y"].values], dtype=float)
    if n_grouped > 1:
        places += [(order.index(kind) - (n_grouped - 1) / 2) * height for kind in kinds]
    finite = np.isfinite(values)
    longest = max(np.abs(values[finite]).max(initial=0.0), np.finfo(float).tiny)
    widths = np.where(finite, values, 1.05 * longest if finite.any() else 1.0)
    colour = [colours[kind] for kind in kinds] or colours[""]
    made: Artists = {"line": None}
    groups: dict[str, Any] = {}
    if chart.options.get("log_x"):  # bars have no length there
        made["bars"] = ax.scatter(widths, places, **{"color": colour, "s": 24, **style})
        log_axis(ax)
    else:
        look = {"color": colour, "height": height, **style}
        made["bars"] = ax.barh(places, widths, **look)
        for i, kind in enumerate(kinds):
            if kind == KEPT_BY_REQUEST:
                ax.annotate(kind, (0, places[i]), (4, 0), textcoords="offset points", va="center")
                continue
            if kind == UNRANKED:
                made["bars"][i].set(hatch="///", edgecolor="white", linewidth=0)
            groups.setdefault(kind, made["bars"][i])
    if "error" in chart.columns:
        spread = {"xerr": numbers(chart, "error"), "fmt": "none", "ecolor": "black", "lw": 1.2}
        made["errors"] = ax.errorbar(widths, places, **spread)
    shown = {in_legend(kind): groups[kind] for kind in order if kind in groups}
    made["line"] = level(chart, ax)
    if made["line"] is not None and "line_name" in chart.options:
        shown[chart.options["line_name"]] = made["line"]
    if len(shown) > 1:
        legend(ax, list(shown.values()), list(shown), place=_place_legend(places, widths))
    name_rows(ax, chart, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    label_scores(ax, chart)
    return made


def _place_legend(places: np.ndarray, widths: np.ndarray) -> str | None:
    """Where a legend hides no bar: below the short ones, or outside of the axes."""
    low = places > 0.6 * places.max(initial=0.0)
    return "lower right" if np.all(widths[low] <= 0.4 * widths.max(initial=0.0)) else None


def _distribution(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    """Every value as a dot over the box of its group."""
    rows = list(dict.fromkeys(chart.columns["y"].values))
    has_series = "series" in chart.columns
    groups = chart.columns["series" if has_series else "y"].values
    order = list(chart.options.get("series_names") or dict.fromkeys(groups))
    rows = [name for name in order if name in rows] if not has_series else rows
    colours = series_colours(order)
    values, places = (
        numbers(chart, "x"),
        np.array([rows.index(n) for n in chart.columns["y"].values]),
    )
    step = 0.8 / len(order) if has_series else 0.6
    made: Artists = {"dots": [], "boxes": [], "line": None}
    for i, name in enumerate(order):
        mine = np.array([group == name for group in groups]) & np.isfinite(values)
        shift = (i - (len(order) - 1) / 2) * step if has_series else 0.0
        for row in np.unique(places[mine]):
            some = values[mine & (places == row)]
            middle = row + shift
            low, first, median, third, high = np.quantile(some, [0, 0.25, 0.5, 0.75, 1])
            ax.plot([low, high], [middle, middle], color=colours[name], lw=0.8, alpha=0.7)
            box = {"height": 0.7 * step, "color": colours[name], "alpha": 0.35, "lw": 0}
            made["boxes"] += list(ax.barh([middle], [third - first], left=[first], **box))
            half = 0.35 * step
            ax.plot([median] * 2, [middle - half, middle + half], color=colours[name], lw=1.6)
            # the golden ratio: dots lie evenly, and the same way every time
            spread = (np.arange(len(some)) * 0.6180339887 % 1 - 0.5) * 0.6 * step
            look = {"color": colours[name], "s": 3 if is_narrow(ax) else 9, "lw": 0, "alpha": 0.7}
            made["dots"].append(ax.scatter(some, middle + spread, **{**look, **style}))
    made["line"] = level(chart, ax)
    name_rows(ax, chart, rows)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    label_scores(ax, chart)
    if has_series:
        class_legend(ax, colours, chart.columns["series"].title)
    return made


def _heatmap(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    strip = chart.options.get("strip")
    across = list(dict.fromkeys(chart.columns["x"].values))
    rows = [name for name in dict.fromkeys(chart.columns["y"].values) if name != strip]
    at = {name: i for i, name in enumerate(across)}
    down = {name: i for i, name in enumerate(rows)}
    cells = np.full((len(rows), len(across)), np.nan)
    places = list(zip(chart.columns["y"].values, chart.columns["x"].values, strict=True))
    for (y, x), value in zip(places, numbers(chart, "value"), strict=True):
        if y != strip:
            cells[down[y], at[x]] = value
    edges = np.arange(len(across) + 1) - 0.5
    known = np.abs(cells[np.isfinite(cells)])
    if chart.options.get("diverging"):
        span = chart.options.get("span") or known.max(initial=0.0) or 1.0
        shade = {"cmap": colour_map(DIVERGING), "vmin": -span, "vmax": span}
    else:
        low, high = chart.options.get("domain", (None, None))
        shade = {"cmap": colour_map(SEQUENTIAL), "vmin": low, "vmax": high}
    as_image = {"rasterized": cells.size > 3000}  # or files grow large
    mesh = ax.pcolormesh(
        edges, np.arange(len(rows) + 1) - 0.5, cells, **{**shade, **as_image, **style}
    )
    made: Artists = {"cells": mesh, "strip": None}
    top = -0.5
    if strip:
        marks = {
            x: m
            for (y, x), m in zip(places, chart.columns["strip"].values, strict=True)
            if y == strip
        }
        height = min(1.0, 0.2 + 0.08 * len(rows))
        made["strip"] = _strip(chart, ax, [marks[x] for x in across], edges, height)
        top = -0.7 - height
    ax.set_ylim(len(rows) - 0.5, top)
    name_rows(ax, chart, rows)
    name_columns(ax, chart, across)
    if chart.options.get("labels"):
        field, middle = chart.options["labels"], sum(chart.options["domain"]) / 2
        for (y, x), text in zip(places, chart.columns[field].values, strict=True):
            ink = "white" if cells[down[y], at[x]] > middle else "black"
            ax.text(at[x], down[y], f"{text:g}", ha="center", va="center", color=ink)
    made["bar"] = colour_bar(ax, mesh, chart.columns["value"].title)
    return made


def _strip(chart: Chart, ax: Any, marks: list[Any], edges: np.ndarray, height: float) -> Any:
    """A row above the map that says what every column of it is."""
    from matplotlib.colors import ListedColormap

    names = list(chart.options["strip_names"])
    place = {"edgecolors": "none", "rasterized": len(marks) > 300}
    if not names:  # numbers
        return ax.pcolormesh(edges, [-0.6 - height, -0.6], [marks], cmap=colour_map(RAMP), **place)
    colours = series_colours(names)
    codes = [[names.index(mark) for mark in marks]]
    listed = ListedColormap(list(colours.values()))
    class_legend(ax, colours, chart.columns["strip"].title)
    limits = {"vmin": -0.5, "vmax": len(names) - 0.5}
    return ax.pcolormesh(edges, [-0.6 - height, -0.6], codes, cmap=listed, **limits, **place)


def _dots(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    """A matrix of sets: a dot where a method is in one, a line that joins them."""
    across = list(dict.fromkeys(chart.columns["x"].values))
    rows = list(dict.fromkeys(chart.columns["y"].values))
    x = np.array([across.index(name) for name in chart.columns["x"].values])
    y = np.array([rows.index(name) for name in chart.columns["y"].values])
    inside = np.array([kind == SELECTED for kind in chart.columns["series"].values])
    made: Artists = {"dots": []}
    for row in np.unique(y[inside]):
        ends = x[inside & (y == row)]
        ax.plot([ends.min(), ends.max()], [row, row], color=MEANT[SELECTED], lw=1.5)
    for some, alpha in ((inside, 1.0), (~inside, 0.2)):
        look = {"color": MEANT[SELECTED] if alpha == 1 else _INK, "alpha": alpha, "s": 30, "lw": 0}
        made["dots"].append(ax.scatter(x[some], y[some], **{**look, "zorder": 3, **style}))
    ax.set(xlim=(-0.6, len(across) - 0.4), ylim=(len(rows) - 0.5, -0.5))
    name_rows(ax, chart, rows)
    name_columns(ax, chart, across)
    return made


def _critical_difference(chart: Chart, ax: Any, style: dict[str, Any]) -> Artists:
    columns = {name: column.values for name, column in chart.columns.items()}
    made: Artists = {"lines": [], "texts": []}
    for part, x, x2, y, y2, text in zip(
        *(columns[name] for name in ("part", "x", "x2", "y", "y2", "text")), strict=True
    ):
        if part in ("left", "right"):
            said = {"ha": part, "va": "bottom", "fontsize": "small"}
            made["texts"].append(ax.text(x, y, plain(text), **said))
            continue
        width = 4.0 if part == "alike" else 0.8
        ends = ([x, x], [y, y2]) if part == "stem" else ([x, x2], [y, y])
        look = {"color": _INK if part == "alike" else "black", "lw": width}
        made["lines"] += ax.plot(*ends, **{**look, **style})
    low, high = chart.options["ranks"]
    lowest = min(y for y in columns["y"] if y is not None)
    ax.set(ylim=(lowest - 0.5, 0), yticks=[], xticks=range(low, high + 1))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xlabel(plain(chart.columns["x"].title))
    for side in ("left", "right", "bottom"):
        ax.spines[side].set_visible(False)
    return made


_KINDS: dict[str, Callable[[Chart, Any, dict[str, Any]], Artists]] = {
    "lines": _lines,
    "points": _points,
    "bars": _bars,
    "heatmap": _heatmap,
    "distribution": _distribution,
    "dots": _dots,
    "critical-difference": _critical_difference,
}
