"""How a chart is drawn: Vega-Lite specifications without their data.

Fields have fixed names (x, y, series, ...) so that no name from the data is ever read as an
expression; what a reader sees comes from the titles of the columns.

==================== ==========================================================================
kind                 fields
==================== ==========================================================================
lines                x, y; series, error (half a band), censored (yes or no: a tick). Options:
                     log_x, log_y, marks (dots), steps (y stays until the next x), from_zero (of y),
                     across (a series that is a dashed line, to compare with), marker (an upright
                     line, which a slider moves unless marker_name says what it is), most (what no
                     band goes beyond), whole_legend (below the chart, for long names)
points               x, y; series or value (colour). Options: size, diagonal (both ends of a line
                     on which x is y)
bars                 x (length), y (name); series (colour), error. Options: log_x, grouped, line
                     (a level to compare with)
heatmap              x, y (names), value; strip (a class or number for every x, drawn in the row
                     of y that the option strip names). Options: diverging (zero in the middle),
                     span, domain, labels (a field written into the cells), strip_names
distribution         x (number), y (name of a class, which has its colour), jitter (from 0 to 1,
                     added by the page)
dots                 x, y (names), series ("selected" or "left out"): who is in which set
critical-difference  part, x, x2, y, y2, text; see ``comparison_sections.diagram_rows``
==================== ==========================================================================

The option series_names gives the order of series, and so their colours; x_label says what is along
an axis that is too crowded for names.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .elements import Chart
from .encodings import (
    LEGEND,
    LEVEL,
    MEANT,
    POINTED,
    SHORTENED,
    band,
    band_visibility,
    bands_on_demand,
    category,
    colour,
    fade_others,
    interval_ends,
    names,
    quantity,
    shapes,
    tooltip,
)

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_HEIGHT = 320  # pixels of charts with two axes of numbers
_STEP = 18  # pixels of one name at the side
_LABEL = 140  # pixels of the longest name below one
MAX_LABELS = 60  # names below a heat map
MARKER, PLACE = "marker", "place"  # signals: the first is set by a slider


def specification(chart: Chart) -> dict[str, Any]:
    """The Vega-Lite specification of a chart; the page adds the data.

    A height that is a step is the page's to resolve: so much for every name that is shown.

    Parameters
    ----------
    chart : Chart

    Returns
    -------
    specification : dict

    Examples
    --------
    >>> from sparsieve.app.report.charts import specification
    >>> from sparsieve.app.report.elements import Chart, Column
    >>> chart = Chart("Accuracy", "lines", {"x": Column("k", [1]), "y": Column("accuracy", [1.0])})
    >>> specification(chart)["layer"][-1]["mark"]["type"]
    'line'
    """
    made = _KINDS[chart.kind](chart)
    return {
        "$schema": SCHEMA,
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        **made,
    }


def _layer(mark: Any, encoding: dict[str, Any], *transforms: Any, **more: Any) -> dict[str, Any]:
    """Marks of one kind, after some of the rows were chosen or computed."""
    chosen = {"transform": list(transforms)} if transforms else {}
    return {**chosen, "mark": mark, "encoding": encoding, **more}


def _lines(chart: Chart) -> dict[str, Any]:
    fields = chart.columns
    x = quantity(chart, "x", log=chart.options.get("log_x"), zero=False)
    from_zero = bool(chart.options.get("from_zero"))
    y = quantity(chart, "y", log=chart.options.get("log_y"), zero=from_zero)
    layers: list[dict[str, Any]] = []
    shared = {"x": x, **colour(chart)}
    pointed = {"y": y, **fade_others(chart), "tooltip": tooltip(chart)}
    if "error" in fields:
        ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}, **band_visibility(chart)}
        area = {"type": "area", "opacity": 0.15}
        layers.append(_layer(area, {**shared, **ends}, *band(chart)))
    dots = {"filled": True, "size": 22} if chart.options.get("marks", True) else False
    way = "step-after" if chart.options.get("steps") else "linear"
    line = {"type": "line", "point": dots, "interpolate": way, "strokeWidth": 2}
    layers.append(_layer(line, {**shared, **_dash_encoding(chart), **pointed}))
    if "censored" in fields:
        tick = {"type": "tick", "orient": "vertical", "size": 9, "thickness": 1.5}
        layers.append(_layer(tick, {**shared, **pointed}, {"filter": "datum.censored == 'yes'"}))
    if bands_on_demand(chart):
        points = {"type": "point", "opacity": 0, "size": 60}
        near = {"x": x, "y": y, "detail": {"field": "series"}, "tooltip": tooltip(chart)}
        layers.append(_layer(points, near, params=[POINTED]))
    if "series" in fields:  # the parameter belongs to one layer, all layers see it
        layers[0]["params"] = [LEGEND]
    if chart.options.get("marker") is None:
        return {"height": _HEIGHT, "layer": layers}
    signal = PLACE if "marker_name" in chart.options else MARKER
    upright = {"type": "rule", "strokeWidth": 1.5, "strokeDash": [3, 3]}
    at_signal = {"calculate": signal, "as": "x"}
    layers.append(_layer(upright, {"x": x}, at_signal, data={"values": [{}]}))
    params = [{"name": signal, "value": chart.options["marker"]}]
    return {"height": _HEIGHT, "layer": layers, "params": params}


def _dash_encoding(chart: Chart) -> dict[str, Any]:
    across = chart.options.get("across")
    if across is None or across not in chart.columns["series"].values:
        return {}
    is_it = {"field": "series", "equal": across}
    return {"strokeDash": {"condition": {"test": is_it, "value": [6, 4]}, "value": [1, 0]}}


def _points(chart: Chart) -> dict[str, Any]:
    mark = {"type": "point", "filled": True, "opacity": 0.85}
    encoding = {
        "x": quantity(chart, "x", log=chart.options.get("log_x"), zero=False),
        "y": quantity(chart, "y", log=chart.options.get("log_y"), zero=False),
        **colour(chart),
        **shapes(chart),
        **fade_others(chart),
        "tooltip": tooltip(chart),
    }
    if "value" in chart.columns:
        encoding["color"] = {**_shade(chart, "value"), "scale": {"range": "ramp"}}
    params = {"params": [LEGEND]} if "series" in chart.columns else {}
    dots = _layer({**mark, "size": chart.options.get("size", 70)}, encoding, **params)
    if "diagonal" not in chart.options:
        return {"height": _HEIGHT, **dots}
    low, high = ({"datum": end} for end in chart.options["diagonal"])
    start = {**low, "type": "quantitative"}
    ends = {"x": start, "x2": high, "y": start, "y2": high}
    line = _layer({"type": "rule", "strokeDash": [6, 4], "opacity": 0.6}, ends)
    return {"height": _HEIGHT, "layer": [dots, line]}


def _shade(chart: Chart, name: str) -> dict[str, Any]:
    """A column as the colour of marks."""
    column = chart.columns[name]
    kind = "quantitative" if column.is_numeric or name == "value" else "nominal"
    return {"field": name, "type": kind, "title": column.title}


def _distribution(chart: Chart) -> dict[str, Any]:
    """Every value as a dot over the box of its class; the page adds the boxes."""
    x: dict[str, Any] = {"field": "x", "type": "quantitative", "scale": {"zero": False}}
    x["title"] = chart.columns["x"].title
    classes = list(chart.options.get("series_names") or dict.fromkeys(chart.columns["y"].values))
    shade = {"field": "y", "type": "nominal", "scale": category(classes), "legend": None}
    y = {**names(chart, "y"), "scale": {"domain": classes}}
    part = partial(_part, {"x": x, "y": y, "color": shade})
    end = {"field": "x2"}
    dot = {"type": "point", "filled": True, "size": 16, "opacity": 0.75}
    offset = {"field": "jitter", "type": "quantitative", "scale": {"domain": [0, 1]}}
    number = {"field": "x", "type": "quantitative", "title": x["title"], "format": ".4~g"}
    pointed = [number, {"field": "y", "type": "nominal", "title": "class"}]
    return {
        "usermeta": {"boxes": True},
        "height": {"step": 44},
        "layer": [
            part("range", {"type": "rule", "opacity": 0.7}, x2=end),
            part("box", {"type": "bar", "height": 22, "opacity": 0.35}, x2=end),
            part("median", {"type": "tick", "size": 22, "thickness": 2}),
            part("dot", dot, yOffset=offset, tooltip=pointed),
        ],
    }


def _part(
    place: dict[str, Any], name: str, mark: dict[str, Any], **channels: Any
) -> dict[str, Any]:
    """A layer for the rows that belong to one part of a drawing."""
    return _layer(mark, {**place, **channels}, {"filter": {"field": "part", "equal": name}})


def _bars(chart: Chart) -> dict[str, Any]:
    log = chart.options.get("log_x")
    # Nothing is stacked; to stack, Vega would take names for properties of an object.
    x, y = {**quantity(chart, "x", log=log, zero=not log), "stack": None}, names(chart, "y")
    # Bars have no length on a logarithmic axis, so dots stand for them there.
    mark = {"type": "point", "filled": True, "size": 80} if log else {"type": "bar"}
    encoding = {"x": x, "y": y, **colour(chart), "tooltip": tooltip(chart)}
    step = _STEP
    if "series" in chart.columns and chart.options.get("grouped") and not log:
        encoding["yOffset"] = {"field": "series", "type": "nominal", "sort": None}
        step = _STEP * max(1, len(set(chart.columns["series"].values))) // 2
    layers = [_layer(mark, encoding)]
    if "error" in chart.columns:
        ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
        layers.append(_layer({"type": "rule", "strokeWidth": 1.5}, ends, *interval_ends("x")))
    if chart.options.get("line") is not None:
        level = {"datum": chart.options["line"], "type": "quantitative"}
        dashed = {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": LEVEL}
        layers.append(_layer(dashed, {"x": level}))
    return {"height": {"step": step}, "layer": layers}


def _heatmap(chart: Chart) -> dict[str, Any]:
    shade = _shade(chart, "value")
    if chart.options.get("diverging"):
        known = [abs(value) for value in chart.columns["value"].values if value is not None]
        span = chart.options.get("span") or max(known, default=1.0) or 1.0
        shade["scale"] = {"domain": [-span, span], "range": "diverging", "clamp": True}
        shade["scale"]["interpolate"] = "lab"  # straight through the middle colour
    else:
        shade["scale"] = {"range": "heatmap"}
        if "domain" in chart.options:
            shade["scale"]["domain"] = list(chart.options["domain"])
    place = {"x": {**names(chart, "x"), "axis": _labels_across(chart)}, "y": names(chart, "y")}
    if chart.options.get("strip"):
        return _with_strip(chart, shade, place)
    cells = _layer({"type": "rect"}, {**place, "color": shade, "tooltip": tooltip(chart)})
    if chart.options.get("labels"):
        return _with_labels(chart, cells, place)
    n_rows = len(set(chart.columns["y"].values))
    return {"height": {"step": max(_STEP, 110 // n_rows)}, **cells}  # pixels that its legend needs


def _with_labels(chart: Chart, cells: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """Numbers in the cells of a map, in the ink that its colour asks for."""
    middle = sum(chart.options["domain"]) / 2
    kind = "quantitative" if chart.columns[chart.options["labels"]].is_numeric else "nominal"
    written = {**place, "text": {"field": chart.options["labels"], "type": kind}}
    inks = (("<=", "on-weak"), (">", "on-strong"))
    texts = [
        _layer(
            {"type": "text", "style": ink}, written, {"filter": f"datum.value {side} {middle:g}"}
        )
        for side, ink in inks
    ]
    n_rows = len(set(chart.columns["y"].values))
    step = min(4 * _STEP, max(_STEP, _HEIGHT // n_rows))
    return {"height": {"step": step}, "layer": [cells, *texts]}


def _with_strip(chart: Chart, value: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """A row above the map that says what every column of it is."""
    is_it = {"field": "y", "equal": chart.options["strip"]}
    shade, is_numeric = _shade(chart, "strip"), chart.columns["strip"].is_numeric
    shade["scale"] = {"range": "ramp"} if is_numeric else category(chart.options["strip_names"])
    # Two legends do not fit beside a low map.
    shade["legend"], value["legend"] = {"orient": "bottom", "columns": 5}, {"orient": "bottom"}
    rows = (
        (shade, ("x",), {"filter": is_it}),
        (value, ("y", "x", "value"), {"filter": {"not": is_it}}),
    )
    layers = [
        _layer({"type": "rect"}, {**place, "color": c, "tooltip": tooltip(chart, fields)}, only)
        for c, fields, only in rows
    ]
    apart = {"color": "independent"}
    return {
        "height": {"step": _STEP},
        "layer": layers,
        "resolve": {"scale": apart, "legend": apart},
    }


def _dots(chart: Chart) -> dict[str, Any]:
    """A matrix of sets: a dot where somebody is in one, a line that joins them."""
    place = {
        "x": {**names(chart, "x"), "axis": _labels_across(chart)},
        "y": {**names(chart, "y"), "axis": {"labelLimit": 260}},
    }
    is_in = {"field": "series", "equal": "selected"}
    line = {"type": "line", "strokeWidth": 2, "color": MEANT["selected"]}
    row = {"field": "y", "type": "nominal"}
    strength = {"condition": {"test": is_in, "value": 1}, "value": 0.25}
    dots = {**place, **colour(chart), "opacity": strength, "tooltip": tooltip(chart)}
    joined = _layer(line, {**place, "detail": row}, {"filter": is_in})
    return {
        "height": {"step": _STEP},
        "layer": [joined, _layer({"type": "circle", "size": 90, "opacity": 1}, dots)],
    }


def _labels_across(chart: Chart) -> dict[str, Any]:
    """Names below a heat map: slanted where they would run into each other."""
    names = {str(value) for value in chart.columns["x"].values}
    if len(names) > MAX_LABELS:
        shown = chart.options.get("x_label")
        return {"labels": False, "ticks": False, **({"title": shown} if shown else {})}
    # Fewer names in a narrow window.
    shown = {"labelLimit": _LABEL, "labelOverlap": "greedy", "labelExpr": SHORTENED}
    if sum(len(name) + 2 for name in names) < 60:
        return {"labelAngle": 0, "labelSeparation": 2, **shown}
    # The boxes of slanted labels overlap: what counts is a line of text between their starts.
    box = 0.7 * min(_LABEL, 6 * max(map(len, names)))
    return {"labelAngle": -45, "labelSeparation": min(0, round(11 - box)), **shown}


def _critical_difference(chart: Chart) -> dict[str, Any]:
    """Classical diagram: a rank axis, every method's stem, bars over what cannot be told apart."""
    columns = chart.columns
    known = [value for value in columns["x"].values if value is not None]
    lowest = min(value for value in columns["y"].values if value is not None)
    low, high = chart.options["ranks"]

    def across(name: str, ends: list[float], **axis: Any) -> dict[str, Any]:
        scale = {"domain": ends, "nice": False}
        return {"field": name, "type": "quantitative", "scale": scale, **axis}

    ticks = {"orient": "top", "grid": False, "values": list(range(low, high + 1))}
    ranks = [min([low, *known]), max([high, *known])]
    x = across("x", ranks, title=columns["x"].title, axis=ticks)
    y = across("y", [lowest - 0.5, 0], axis=None)
    part = partial(_part, {"x": x, "y": y})
    text = {"field": "text", "type": "nominal"}
    thin = {"type": "rule", "strokeWidth": 1}
    return {
        "height": int(26 * -lowest + 40),
        "layer": [
            part("stem", thin, y2={"field": "y2"}),
            part("arm", thin, x2={"field": "x2"}),
            part("alike", {"type": "rule", "strokeWidth": 5, "opacity": 0.7}, x2={"field": "x2"}),
            part("left", {"type": "text", "align": "left", "dy": -7}, text=text),
            part("right", {"type": "text", "align": "right", "dy": -7}, text=text),
        ],
    }


_KINDS = {
    "lines": _lines,
    "points": _points,
    "bars": _bars,
    "heatmap": _heatmap,
    "distribution": _distribution,
    "dots": _dots,
    "critical-difference": _critical_difference,
}
