"""Figures as files for a paper: SVG and PDF, the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..._checks import check_choice
from ..._files import replacing
from ..._imports import require
from ..report.wording import file_name as file_name
from .base import plain
from .drawing import n_rows

WIDTHS = {"single": 85.0, "double": 180.0}  # mm: one column of a journal, or both
CAPTIONS = "captions.md"
_MM = 1 / 25.4
# Text stays text, so that journals and screen readers can read it; the salt makes names of parts
# the same in every run.
_SETTINGS = {
    "font.size": 7.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "sparsieve",
    "pdf.fonttype": 42,
}
_NO_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {},
}


def save_displays(
    displays: Iterable[tuple[str, Any]],
    folder: str | os.PathLike[str],
    *,
    width: str | float = "single",
    formats: Sequence[str] = ("svg", "pdf"),
) -> list[Path]:
    """Draw displays on figures of their own and write them.

    Parameters
    ----------
    displays : iterable of (str, display)
        Names of the files, without suffix, and what to draw: anything with ``chart`` and
        ``plot(ax=)``.
    folder : str or path-like
        Where to; it is made where it does not exist. Files of the same names are replaced.
    width : {"single", "double"} or float, default="single"
        Of the figures: 85 mm, 180 mm, or so many millimetres.
    formats : sequence of {"svg", "pdf", "png"}, default=("svg", "pdf")
        What to write of each.

    Returns
    -------
    paths : list of Path
        What was written; the last is captions.md with the title, caption and alternative text of
        every figure.
    """
    millimetres = _width_of(width)
    formats = (formats,) if isinstance(formats, str) else tuple(formats)
    for name in formats:
        check_choice("formats", name, _NO_DATE)
    matplotlib = require("matplotlib", extra="report", purpose="draw figures")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written, captions = [], ["# Captions", ""]
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_SETTINGS}):
        for name, display in displays:
            figure = _figure(display, millimetres)
            for suffix in formats:
                path = place / f"{name}.{suffix}"
                with replacing(path) as scratch:
                    about = {"Title": plain(display.chart.title), **_NO_DATE[suffix]}
                    figure.savefig(scratch, format=suffix, dpi=300, metadata=about)
                written.append(path)
            said = (display.chart.title + ".", display.caption)
            captions += [f"## {name}", "", " ".join(filter(None, said)), ""]
            captions += [f"Alternative text: {display.alt_text}", ""]
    with replacing(place / CAPTIONS) as scratch:
        scratch.write_text("\n".join(captions), encoding="utf-8")
    return [*written, place / CAPTIONS]


def _width_of(width: str | float) -> float:
    if isinstance(width, str):
        check_choice("width", width, tuple(WIDTHS))
        return WIDTHS[width]
    if isinstance(width, bool) or not 30 <= width <= 1000:
        raise ValueError(f"width must be 30 to 1000 millimetres, or a name, got {width!r}")
    return float(width)


def _figure(display: Any, width: float) -> Any:
    """A figure that no window shows, as high as what it draws needs."""
    figures = require("matplotlib.figure", extra="report", purpose="draw figures")
    rows = n_rows(display.chart)
    # In mm: axis, its label and the legend, and a line of text for each row.
    height = 26.0 + 3.6 * rows if rows else 0.7 * min(width, 120.0)
    if getattr(display, "is_square", False):
        height = max(height, 0.75 * min(width, 120.0))
    height = min(max(height, 45.0), 230.0)
    figure = figures.Figure(figsize=(width * _MM, height * _MM), layout="constrained")
    display.plot(ax=figure.add_subplot())
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once for all formats
    return figure
