"""Parts that charts share: axes, colours, bands, what a pointer shows."""

from __future__ import annotations

from typing import Any

from .colours import MEANT, PALETTE_SIZE, has_meaning
from .elements import Chart

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
MAX_BANDS = 2  # beyond it a band shows when its line is pointed at, cut off where it would squeeze
# Of a name beside an axis; tooltips have the whole name.
SHORTENED = (
    "length(datum.label) > 28 ? slice(datum.label, 0, 15) + '…' + "
    "slice(datum.label, -12) : datum.label"
)

LEGEND = {
    "name": "picked",
    "select": {"type": "point", "fields": ["series"]},
    "bind": "legend",
}
# The line nearest to the pointer.
POINTED = {
    "name": "pointed",
    "select": {
        "type": "point",
        "fields": ["series"],
        "nearest": True,
        "on": "pointerover",
        "clear": "pointerout",
    },
}


# Below the chart, for names that would be cut beside it.
_WHOLE = {"orient": "bottom", "direction": "vertical", "columns": 1, "labelLimit": 0}


def quantity(chart: Chart, name: str, *, log: Any = False, zero: bool = True) -> dict[str, Any]:
    """An axis of numbers."""
    scale: dict[str, Any] = {"type": "log", "nice": name != "x"} if log else {"zero": zero}
    channel = {
        "field": name,
        "type": "quantitative",
        "title": chart.columns[name].title,
        "scale": scale,
    }
    axis: dict[str, Any] = {"labelOverlap": True, "labelSeparation": 10}
    values = set(chart.columns[name].values)
    if log or len(values) == 1:  # of an axis without length Vega would show whole numbers
        axis["format"] = "~g"
    elif all(isinstance(value, (int, type(None))) for value in values):
        axis |= {"format": "~d", "tickMinStep": 1}
    channel["axis"] = axis
    return channel


def around(name: str) -> list[dict[str, Any]]:
    """Both ends of the interval around a field."""
    return [
        {"calculate": f"datum.{name} - datum.error", "as": "low"},
        {"calculate": f"datum.{name} + datum.error", "as": "high"},
    ]


def band(chart: Chart) -> list[dict[str, Any]]:
    """Both ends of the band around every line.

    None goes beyond the most that a score can be (option ``most``). Many wide bands would squeeze
    the lines into a part of the chart, so they end a quarter of the lines' range above the highest
    and below the lowest.
    """
    ends = around("y")
    if "most" in chart.options:
        ends.append({"calculate": f"min(datum.high, {chart.options['most']:g})", "as": "high"})
    if "series" not in chart.columns or len(set(chart.columns["series"].values)) <= MAX_BANDS:
        return ends
    edge = "((datum.highest - datum.lowest) / 4 || datum.error)"
    limits = [
        {"op": "min", "field": "y", "as": "lowest"},
        {"op": "max", "field": "y", "as": "highest"},
    ]
    return [
        {"joinaggregate": limits},
        *ends,
        {"calculate": f"max(datum.low, datum.lowest - {edge})", "as": "low"},
        {"calculate": f"min(datum.high, datum.highest + {edge})", "as": "high"},
    ]


def names(chart: Chart, name: str) -> dict[str, Any]:
    """An axis of names, in the order of the data."""
    return {
        "field": name,
        "type": "nominal",
        "sort": None,
        "title": chart.columns[name].title or None,
        "axis": {"labelLimit": 220, "labelExpr": SHORTENED},
    }


def colour(chart: Chart) -> dict[str, Any]:
    """A colour for every series."""
    if "series" not in chart.columns:
        return {}
    column = chart.columns["series"]
    return {
        "color": {
            "field": "series",
            "type": "nominal",
            "scale": category(series_names(chart)),
            "legend": {
                "title": column.title or None,
                "symbolLimit": 60,
                "symbolOpacity": 1,
                **(_WHOLE if chart.options.get("whole_legend") else {}),
            },
        }
    }


def series_names(chart: Chart) -> list[str]:
    """The series in the order of their colours: as given, or as they come.

    Classes have one order in all charts of a page, whichever sample comes first.
    """
    given = chart.options.get("series_names")
    return list(given or dict.fromkeys(chart.columns["series"].values))


def category(series: list[str]) -> dict[str, Any]:
    """The same colours whatever is shown; the page has a palette for light and one for dark."""
    if has_meaning(series):
        return {"domain": series, "range": [MEANT[name] for name in series]}
    return {"domain": series, "range": "category"}


def shapes(chart: Chart) -> dict[str, Any]:
    """Another shape for dots whose colour comes a second time."""
    if "series" not in chart.columns or len(names := series_names(chart)) <= PALETTE_SIZE:
        return {}
    kinds = [SHAPES[i // PALETTE_SIZE % len(SHAPES)] for i in range(len(names))]
    scale = {"domain": names, "range": kinds}
    return {"shape": {"field": "series", "type": "nominal", "scale": scale, "legend": None}}


def faded(chart: Chart, shown: float = 1.0) -> dict[str, Any]:
    """Others step back when a name in the legend is picked."""
    if "series" not in chart.columns:
        return {}
    faint = shown / 8
    return {"opacity": {"condition": {"param": "picked", "value": shown}, "value": faint}}


def band_shown(chart: Chart) -> dict[str, Any]:
    """A few bands show from the start; of many, those of what is pointed at or picked."""
    if "series" not in chart.columns:
        return {}
    if not bands_on_demand(chart):
        return faded(chart, shown=0.15)
    wanted = [{"param": name, "empty": False, "value": 0.25} for name in ("pointed", "picked")]
    return {"opacity": {"condition": wanted, "value": 0}}


def bands_on_demand(chart: Chart) -> bool:
    """Whether there are too many bands to see all at once."""
    series = chart.columns.get("series")
    return "error" in chart.columns and series is not None and len(set(series.values)) > MAX_BANDS


def tooltip(chart: Chart, fields: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What a pointer shows of a mark; all fields if none are named."""
    return [
        {
            "field": name,
            "type": "quantitative" if column.is_numeric else "nominal",
            "title": column.title or name,
            **({"format": f".{column.digits}~g"} if column.is_numeric else {}),
        }
        for name, column in chart.columns.items()
        if not fields or name in fields
    ]
