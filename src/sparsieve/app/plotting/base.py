"""What all displays share: their axes, names that are shown as they are, clear refusals."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._optional import require
from ..report.encodings import PALETTE_SIZE, PALETTES

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


def wrapped(text: str, n_characters: int) -> str:
    """A title or a label on as many lines as it needs, shown as it is."""
    return "\n".join(wrap(str(text), n_characters)).replace("$", r"\$")


def in_legend(name: Any) -> str:
    """``plain``, for a legend: there Matplotlib leaves out names that begin with an underscore."""
    text = plain(name)
    return f" {text}" if text.startswith("_") else text


def names_of(estimator: Any, given: Sequence[Any] | np.ndarray | None, features: Any) -> list[str]:
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


def check_fitted(estimator: Any, display: Any) -> None:
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
    check_fitted(estimator, display)
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


def beside(ax: Any, **settings: Any) -> None:
    """A legend to the right of the axes, where it hides nothing."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", **settings)
