"""How a chart is drawn: Vega-Lite specifications without their data.

Fields have fixed names (x, y, series, ...) so that no name from the data is ever read as an
expression; what a reader sees comes from the titles of the columns.

==================== ==========================================================================
kind                 fields
==================== ==========================================================================
lines                x, y; series, error (half a band). Options: log_x, log_y, marks (dots),
                     across (a series that is a dashed line, to compare with)
points               x, y; series
bars                 x (length), y (name); series (colour), error. Options: log_x, grouped, line
                     (a level to compare with)
heatmap              x, y (names), value. Options: diverging (zero in the middle), span
dots                 x, y (names), series ("selected" or "left out"): who is in which set
critical-difference  part, x, x2, y, y2, text; see :func:`sparsieve.report.ranks.diagram_rows`
==================== ==========================================================================
"""

from __future__ import annotations

from typing import Any

from .data import Chart

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_HEIGHT = 320
_STEP = 18
_MOST_BANDS = 4
_PALETTE_SIZE = 8  # colours that stay apart for everybody; more series get a longer palette


def specification(chart: Chart) -> dict:
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
    >>> from sparsieve.report.charts import specification
    >>> from sparsieve.report.data import Chart, Column
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


def _lines(chart: Chart) -> dict:
    fields = chart.columns
    x = _quantity(chart, "x", log=chart.options.get("log_x"), zero=False)
    y = _quantity(chart, "y", log=chart.options.get("log_y"), zero=False)
    layers: list[dict] = []
    shared = {"x": x, **_colour(chart)}
    if "error" in fields:
        layers.append(
            {
                "transform": _around("y"),
                "mark": {"type": "area", "opacity": 0.15},
                "encoding": {
                    **shared,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    **_band_shown(chart),
                },
            }
        )
    dots = {"filled": True, "size": 22} if chart.options.get("marks", True) else False
    layers.append(
        {
            "mark": {"type": "line", "point": dots, "interpolate": "linear", "strokeWidth": 2},
            "encoding": {
                **shared,
                "y": y,
                **_dashed(chart),
                **_faded(chart),
                "tooltip": _tooltip(chart),
            },
        }
    )
    if "series" in fields:  # the parameter belongs to one layer, all layers see it
        layers[0]["params"] = [_LEGEND]
    return {"height": _HEIGHT, "layer": layers}


def _dashed(chart: Chart) -> dict:
    across = chart.options.get("across")
    if across is None or across not in chart.columns["series"].values:
        return {}
    is_it = {"field": "series", "equal": across}
    return {"strokeDash": {"condition": {"test": is_it, "value": [6, 4]}, "value": [1, 0]}}


def _points(chart: Chart) -> dict:
    spec: dict[str, Any] = {
        "height": _HEIGHT,
        "mark": {"type": "point", "filled": True, "size": 70},
        "encoding": {
            "x": _quantity(chart, "x", log=chart.options.get("log_x"), zero=False),
            "y": _quantity(chart, "y", log=chart.options.get("log_y"), zero=False),
            **_colour(chart),
            **_faded(chart),
            "tooltip": _tooltip(chart),
        },
    }
    if "series" in chart.columns:
        spec["params"] = [_LEGEND]
    return spec


def _bars(chart: Chart) -> dict:
    log = chart.options.get("log_x")
    y = _names(chart, "y")
    # Bars have no length on a logarithmic axis, so dots stand for them there.
    mark = {"type": "point", "filled": True, "size": 80} if log else {"type": "bar"}
    encoding = {
        "x": _quantity(chart, "x", log=log, zero=not log),
        "y": y,
        **_colour(chart),
        "tooltip": _tooltip(chart),
    }
    if "series" in chart.columns and chart.options.get("grouped") and not log:
        encoding["yOffset"] = {"field": "series", "type": "nominal", "sort": None}
        step = _STEP * max(1, len(set(chart.columns["series"].values))) // 2
    else:
        step = _STEP
    layers: list[dict] = [{"mark": mark, "encoding": encoding}]
    if "error" in chart.columns:
        layers.append(
            {
                "transform": _around("x"),
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {
                    "x": {**encoding["x"], "field": "low"},
                    "x2": {"field": "high"},
                    "y": y,
                },
            }
        )
    if chart.options.get("line") is not None:
        level = {"datum": chart.options["line"], "type": "quantitative"}
        dashed = {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5, "color": "#d05a2f"}
        layers.append({"mark": dashed, "encoding": {"x": level}})
    return {"height": {"step": step}, "layer": layers}


def _heatmap(chart: Chart) -> dict:
    column = chart.columns["value"]
    colour: dict[str, Any] = {"field": "value", "type": "quantitative", "title": column.title}
    if chart.options.get("diverging"):
        known = [abs(value) for value in column.values if value is not None]
        span = chart.options.get("span") or max(known, default=1.0) or 1.0
        colour["scale"] = {"domain": [-span, span], "range": "diverging", "clamp": True}
        colour["scale"]["interpolate"] = "lab"  # straight through the middle colour
    else:
        colour["scale"] = {"range": "heatmap"}
    return {
        "height": {"step": _STEP},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**_names(chart, "x"), "axis": _labels_across(chart)},
            "y": _names(chart, "y"),
            "color": colour,
            "tooltip": _tooltip(chart),
        },
    }


def _dots(chart: Chart) -> dict:
    """A matrix of sets: a dot where somebody is in one, a line that joins them."""
    place = {
        "x": {**_names(chart, "x"), "axis": _labels_across(chart)},
        "y": {**_names(chart, "y"), "axis": {"labelLimit": 260}},
    }
    joined = {
        "transform": [{"filter": {"field": "series", "equal": "selected"}}],
        "mark": {"type": "line", "strokeWidth": 2, "color": _MEANT["selected"]},
        "encoding": {**place, "detail": {"field": "y", "type": "nominal"}},
    }
    dots = {
        "mark": {"type": "circle", "size": 90, "opacity": 1},
        "encoding": {
            **place,
            **_colour(chart),
            "opacity": {
                "condition": {"test": {"field": "series", "equal": "selected"}, "value": 1},
                "value": 0.25,
            },
            "tooltip": _tooltip(chart),
        },
    }
    return {"height": {"step": _STEP}, "layer": [joined, dots]}


def _labels_across(chart: Chart) -> dict:
    """Names below a heat map: slanted where they would run into each other."""
    names = {str(value) for value in chart.columns["x"].values}
    fits = sum(len(name) + 2 for name in names) < 60
    return {"labelAngle": 0 if fits else -45, "labelLimit": 110}


def _critical_difference(chart: Chart) -> dict:
    """Classical diagram: a rank axis, every method's stem, bars over what cannot be told apart."""
    columns = chart.columns
    known = [value for value in columns["x"].values if value is not None]
    lowest = min(value for value in columns["y"].values if value is not None)
    low, high = chart.options["ranks"]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": columns["x"].title,
        "scale": {"domain": [min([low, *known]), max([high, *known])], "nice": False},
        "axis": {"orient": "top", "grid": False, "values": list(range(low, high + 1))},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [lowest - 0.5, 0], "nice": False},
    }
    shared = {"x": x, "y": y}

    def part(name: Any, mark: Any, **channels: Any) -> dict[str, Any]:
        return {
            "transform": [{"filter": {"field": "part", "equal": name}}],
            "mark": mark,
            "encoding": {**shared, **channels},
        }

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
    "dots": _dots,
    "critical-difference": _critical_difference,
}

# Series whose colour carries a meaning; both read well on light and dark.
_MEANT = {
    "selected": "#2f8fd0",
    "left out": "#9aa4ae",
    "kept by request": "#2f8fd0",
    "left out by request": "#9aa4ae",
    "unranked gain": "#c9ced3",
}

_LEGEND = {
    "name": "picked",
    "select": {"type": "point", "fields": ["series"]},
    "bind": "legend",
}


def _quantity(chart: Chart, name: str, *, log: Any = False, zero: bool = True) -> dict:
    scale: dict[str, Any] = {"type": "log", "nice": name != "x"} if log else {"zero": zero}
    channel = {
        "field": name,
        "type": "quantitative",
        "title": chart.columns[name].title,
        "scale": scale,
    }
    axis: dict[str, Any] = {"labelOverlap": True}
    if log:
        axis["format"] = "~g"
    elif all(isinstance(value, (int, type(None))) for value in chart.columns[name].values):
        axis |= {"format": "~d", "tickMinStep": 1}
    channel["axis"] = axis
    return channel


def _around(name: str) -> list[dict]:
    """Both ends of the interval around a field."""
    return [
        {"calculate": f"datum.{name} - datum.error", "as": "low"},
        {"calculate": f"datum.{name} + datum.error", "as": "high"},
    ]


def _names(chart: Chart, name: str) -> dict:
    return {
        "field": name,
        "type": "nominal",
        "sort": None,
        "title": chart.columns[name].title or None,
        "axis": {"labelLimit": 180},
    }


def _colour(chart: Chart) -> dict:
    if "series" not in chart.columns:
        return {}
    column = chart.columns["series"]
    names = list(dict.fromkeys(column.values))
    palette = "category" if len(names) <= _PALETTE_SIZE else {"scheme": "tableau20"}
    scale: dict[str, Any] = {"domain": names}  # the same colours whatever is shown
    if set(names) <= set(_MEANT):
        scale["range"] = [_MEANT[name] for name in names]
    else:
        scale |= {"range": palette} if isinstance(palette, str) else palette
    return {
        "color": {
            "field": "series",
            "type": "nominal",
            "scale": scale,
            "legend": {
                "title": column.title or None,
                "symbolLimit": 60,
                "labelLimit": 220,
                "symbolOpacity": 1,
            },
        }
    }


def _faded(chart: Chart, shown: float = 1.0) -> dict:
    """Others step back when a name in the legend is picked."""
    if "series" not in chart.columns:
        return {}
    faint = shown / 8
    return {"opacity": {"condition": {"param": "picked", "value": shown}, "value": faint}}


def _band_shown(chart: Chart) -> dict:
    """Many bands hide each other: then only those of picked series are drawn."""
    if "series" not in chart.columns:
        return {}
    if len(set(chart.columns["series"].values)) <= _MOST_BANDS:
        return _faded(chart, shown=0.15)
    condition = {"param": "picked", "empty": False, "value": 0.2}
    return {"opacity": {"condition": condition, "value": 0}}


def _tooltip(chart: Chart) -> list[dict]:
    return [
        {
            "field": name,
            "type": "quantitative" if column.is_numeric else "nominal",
            "title": column.title or name,
            **({"format": f".{column.digits}~g"} if column.is_numeric else {}),
        }
        for name, column in chart.columns.items()
    ]
