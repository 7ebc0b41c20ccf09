"""What all displays share: axes, names, legends, clear refusals, and what has room."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._imports import require
from ..._text import shortened
from ..report.charts import MAX_LABELS
from ..report.elements import Chart
from ..report.encodings import LEVEL, PALETTE_SIZE, PALETTES, series_names

LONGEST_NAME = 40
ROW_HEIGHT = 0.24  # inches, so that the names of a long list do not touch
LEFT_OUT = "lightgrey"  # what is shown for comparison only
_STYLES = ("-", "--", ":", "-.")
_TICKS = [digit * 10**power for power in range(8) for digit in (1, 2, 5)]


class Display:
    """Base of all displays: a subclass holds plain data and draws them in ``plot``."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, n_rows: int = 0, width: float | None = None) -> Any:
        """The axes to draw on: those given, or those of a new figure, high enough for its rows."""
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="report", purpose="draw")
            # Constrained layout leaves space for feature names, however long.
            ax = pyplot.subplots(layout="constrained")[1]
            usual, height = ax.figure.get_size_inches()
            if n_rows:  # no thick bars where there are few
                height = max(min(height, 0.45 * n_rows + 1.5), ROW_HEIGHT * n_rows + 1)
            ax.figure.set_size_inches(width or usual, height)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


# -- names ---------------------------------------------------------------------------------------


def plain(name: Any) -> str:
    r"""A name from the data as Matplotlib must be given it to show it unchanged.

    Dollars would be read as mathematics, and line breaks would move the neighbours.

    Examples
    --------
    >>> from sparsieve.app.plotting.base import plain
    >>> print(plain("price in $, $x_1$"))
    price in \$, \$x_1\$
    """
    text = " ".join(str(name).split())
    if len(text) > LONGEST_NAME:
        text = text[: LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")


def wrap_text(text: str, n_characters: int) -> str:
    """A title or a label on as many lines as it needs, shown as it is."""
    return "\n".join(wrap(str(text), n_characters)).replace("$", r"\$")


def in_legend(name: Any) -> str:
    """``plain``, for a legend: there Matplotlib leaves out names that begin with an underscore."""
    text = plain(name)
    return f" {text}" if text.startswith("_") else text


def name_features(
    estimator: Any, given: Sequence[Any] | np.ndarray | None, features: Any
) -> list[str]:
    """Names of some features: as given, as in the training data, or x0, x1, ..."""
    n_features = estimator.n_features_in_
    if given is None:
        given = getattr(estimator, "feature_names_in_", None)
    elif len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, but {type(estimator).__name__} was fitted on "
            f"{n_features} features; give one name for each"
        )
    return [f"x{j}" if given is None else str(given[j]) for j in features]


# -- refusals ------------------------------------------------------------------------------------


def require_selector(estimator: Any, display: Any) -> None:
    """Refuse what cannot be drawn because it is not a fitted selector."""
    if isinstance(estimator, Pipeline):
        raise TypeError(
            f"{display.__name__} draws a selector, got a Pipeline; pass the selector in it, for "
            f"example pipeline[{estimator.steps[0][0]!r}]"
        )
    check_is_fitted(
        estimator, msg=f"this %(name)s is not fitted yet; call fit before {display.__name__}"
    )


def fitted_attribute(estimator: Any, name: str, display: type, hint: str) -> Any:
    """An attribute to draw, or a sentence that says why it cannot be drawn."""
    require_selector(estimator, display)
    value = getattr(estimator, name, None)
    if value is None or (isinstance(value, list) and not value):
        if hasattr(getattr(estimator, "selector_", None), name):
            hint = "draw its selector_ instead"
        raise ValueError(f"{type(estimator).__name__} has no {name} to draw; {hint}")
    return value


# -- axes ----------------------------------------------------------------------------------------


def count_axis(ax: Any, label: str) -> None:
    """A logarithmic x axis of numbers of features, with ticks at 1, 2, 5, 10, ..."""
    low, high = ax.dataLim.intervalx
    ax.set(xscale="log", xlabel=label)
    shown = [k for k in _TICKS if low <= k <= high]
    if len(shown) < 2:
        shown = np.unique(np.round([low, high])).astype(int).tolist()
    ax.set_xticks(shown, [f"{k:,}" for k in shown])
    ax.set_xticks([], minor=True)


def log_axis(ax: Any) -> None:
    """A logarithmic x axis with few plain numbers on it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def line_style(place: int) -> str:
    """Solid for the first round through the colours, then dashed, ..."""
    return _STYLES[place // PALETTE_SIZE % len(_STYLES)]


def line_colour(place: int) -> str:
    """The colour of a line, as in reports."""
    return PALETTES["light"][place % PALETTE_SIZE]


def grey_lines(ax: Any, x: np.ndarray, values: np.ndarray) -> Any:
    """Thin lines, one for every row of the values, behind those that are named."""
    from matplotlib.collections import LineCollection

    lines = [np.column_stack([x, line]) for line in values]
    return ax.add_collection(LineCollection(lines, color=LEFT_OUT, linewidth=0.7))


def draw_legend(ax: Any, **settings: Any) -> None:
    """A legend to the right of the axes, where it hides nothing."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", **settings)


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
    meaning = "" if is_narrow(ax) else wrap_text(chart.options.get("meaning", ""), LINE)
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
        draw_legend(ax, handles=handles, labels=labels, title=plain(title) or None)
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
    bar.set_label(wrap_text(title, max(room, 12)))
    bar.outline.set_visible(False)
    return bar


def colour_map(colours: tuple[str, ...]) -> Any:
    """From the first colour to the last; missing cells are white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("sparsieve", colours).with_extremes(bad="white")
