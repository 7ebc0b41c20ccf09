"""The figures of a selection by name, and figures as files: the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._checks import check_choice, did_you_mean
from ..._files import replacing
from ..._imports import require
from ...meta import SelectorCV
from ...preprocessing.covariates import preparation
from ...selection.covariates import is_in_memory
from ...selection.selected_data import SelectedData, raw_values
from ..report.claims_section import claims_chart
from ..report.selection_charts import convergence_chart
from ..report.survival import held_out_survival, survival_chart
from ..report.wording import file_name as file_name
from . import AccuracyCurveDisplay, RankingDisplay, kinds
from .base import plain
from .drawing import n_rows
from .kinds import ChartDisplay, NothingToDraw, OverviewDisplay, Source

if TYPE_CHECKING:
    from ...selection.result import SelectedFeatures


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
    millimetres = _figure_width(width)
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


def _figure_width(width: str | float) -> float:
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


OVERVIEW = "overview"
FIGURES = ("curve", "ranking", "survival", *kinds.KINDS, "claims", "convergence")


def make_source(selected: SelectedFeatures) -> Source:
    """What the charts are made of."""
    if selected.y is None or not is_in_memory(selected.X):
        raise NothingToDraw("this figure needs y, and X in memory")
    parts = selected.method, selected.prepared_X, selected.y, selected.names
    kept = SelectedData.from_selector(*parts, selected.covariates.places)
    search = selected.selector if isinstance(selected.selector, SelectorCV) else None
    how = {"groups": selected.groups, "null": selected.null, "search": search}
    how["scoring"] = selected.scoring
    return Source(selected.method, kept, prepare=selected.prepare, given=selected.X, **how)


def described(selected: SelectedFeatures, kind: str, options: dict[str, Any]) -> Any:
    """The display of one kind, not drawn yet; its options are taken out of ``options``."""
    if kind == "curve":
        if isinstance(selected.selector, SelectorCV):
            return AccuracyCurveDisplay._of_search(selected.selector)
        return AccuracyCurveDisplay._of_source(selected._source)
    if kind == "ranking":
        chosen = {name: options.pop(name) for name in ("n_features",) if name in options}
        how = {"feature_names": selected.names, "null": selected.null, **chosen}
        if selected.covariates.places:
            how["beside"] = selected._source.kept.covariate_units
        return RankingDisplay._of_selector(selected.selector, **how)
    if kind == "claims":
        chart = claims_chart(selected.claims(), selected._source.kept.X)
        if chart is None:
            raise NothingToDraw("no feature varies, so there is nothing to claim")
        return ChartDisplay(chart)
    if kind == "convergence":
        chart = convergence_chart(selected.method)
        if chart is None:
            name = type(selected.method).__name__
            raise NothingToDraw(f"{name} has no iterations to draw")
        return ChartDisplay(chart)
    if kind == "survival":
        return _survival(selected)
    return kinds.make_display(selected._source, kind, options)


def _survival(selected: SelectedFeatures) -> ChartDisplay:
    """Kaplan-Meier curves of held-out samples."""
    if selected.task != "survival":
        raise NothingToDraw("the target holds no survival times")
    source = selected._source
    found = held_out_survival(
        source.kept,
        source.kept.X if source.prepare is None else raw_values(source.given),
        prepare=preparation(source.prepare),
        groups=source.groups,
        n_shuffles=None if selected.null is None else selected.null.n_repeats,
        time_name=selected.inputs.time_name,
    )
    if found is None:
        raise NothingToDraw("there are too few events to hold some out")
    return ChartDisplay(survival_chart(found))


def draw(selected: SelectedFeatures, kind: str | None, ax: Any, options: dict[str, Any]) -> Any:
    """Draw one figure, or the overview."""
    if kind is None:
        kind = OVERVIEW if ax is None and not options else "ranking"
    if kind == OVERVIEW:
        if ax is not None or options:
            raise ValueError(
                "the overview draws several charts on a figure of its own; name one to draw it on "
                'your axes or with your options, such as plot("ranking", ax=ax)'
            )
        return _overview(selected).plot()
    if kind not in FIGURES:
        hint = did_you_mean(str(kind), FIGURES)
        listed = ", ".join(repr(name) for name in (OVERVIEW, *FIGURES))
        raise ValueError(f"there is no figure {kind!r}{hint} Figures are {listed}.")
    if kind == "null" and selected.null is None:
        return kinds.make_display(selected._source.with_null(), kind, options).plot(
            ax=ax, **options
        )
    return described(selected, kind, options).plot(ax=ax, **options)


def _overview(selected: SelectedFeatures) -> OverviewDisplay:
    """Curve, ranking and heat map; without a curve, where it would take long, values instead."""
    quick = isinstance(selected.selector, SelectorCV) or selected.check is not None
    wanted = [*(["curve"] if quick else []), "ranking", "heatmap", *([] if quick else ["values"])]
    found = dict(_possible(selected, wanted))
    if not found:
        raise NothingToDraw("no feature was selected, so there is nothing to draw")
    return OverviewDisplay(found)


def _possible(selected: SelectedFeatures, kinds: Any) -> Iterator[tuple[str, Any]]:
    for kind in kinds:
        try:
            yield kind, described(selected, kind, {})
        except NothingToDraw:
            continue


def every_figure(selected: SelectedFeatures) -> Iterator[tuple[str, Any]]:
    """All figures that this selection has something for, not drawn yet.

    Claims are tests of their own, and drawn here only of a selection that was made by them.
    """
    made_by_claims = bool(selected.verdict)
    return _possible(selected, [one for one in FIGURES if one != "claims" or made_by_claims])


def save_figures(
    selected: SelectedFeatures,
    folder: str | os.PathLike[str],
    *,
    width: str | float,
    formats: Sequence[str],
) -> list[Path]:
    """Write every figure that a selection has, as its ``save_figures`` says."""
    return save_displays(every_figure(selected), folder, width=width, formats=formats)
