"""The figures of a selection by name: what ``selected.plot(name)`` draws."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._checks import did_you_mean
from ...meta import SelectorCV
from ...preprocessing.prepare import preparation
from ...selection.checks import is_in_memory
from ...selection.selected_data import SelectedData, unprepared
from ..report.claims_section import claims_chart
from ..report.selection_charts import convergence_chart
from ..report.survival import held_out_survival, survival_chart
from . import AccuracyCurveDisplay, RankingDisplay, kinds
from .chart_display import ChartDisplay, NothingToDraw, Source
from .kinds import OverviewDisplay
from .saving import save_displays

if TYPE_CHECKING:
    from ...selection.result import SelectedFeatures

OVERVIEW = "overview"
FIGURES = ("curve", "ranking", "survival", *kinds.KINDS, "claims", "convergence")


def source_of(selected: SelectedFeatures) -> Source:
    """What the charts are made of."""
    if selected.y is None or not is_in_memory(selected.X):
        raise NothingToDraw("this figure needs y, and X in memory")
    parts = selected.method, selected.prepared_X, selected.y, selected.names
    kept = SelectedData.of(*parts, selected.covariates.places)
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
            how["beside"] = selected._source.kept.units_beside
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
    return kinds.described(selected._source, kind, options)


def _survival(selected: SelectedFeatures) -> ChartDisplay:
    """Kaplan-Meier curves of held-out samples."""
    if selected.task != "survival":
        raise NothingToDraw("the target holds no survival times")
    source = selected._source
    found = held_out_survival(
        source.kept,
        source.kept.X if source.prepare is None else unprepared(source.given),
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
        return kinds.described(selected._source.shuffled(), kind, options).plot(ax=ax, **options)
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
