"""Parts that charts share: axes, colours, bands, what a pointer shows."""

from __future__ import annotations

from typing import Any

from .elements import Chart

MAX_BANDS = 2  # beyond it a band shows when its line is pointed at, cut off where it would squeeze
_PALETTE_SIZE = 8  # colours that stay apart for everybody; more series get a longer palette

# Series whose colour carries a meaning; both read well on light and dark.
MEANT = {
    "selected": "#2f8fd0",
    "left out": "#9aa4ae",
    "kept by request": "#2f8fd0",
    "left out by request": "#9aa4ae",
    "unranked gain": "#c9ced3",
}

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


def quantity(chart: Chart, name: str, *, log: Any = False, zero: bool = True) -> dict:
    """An axis of numbers."""
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


def around(name: str) -> list[dict]:
    """Both ends of the interval around a field."""
    return [
        {"calculate": f"datum.{name} - datum.error", "as": "low"},
        {"calculate": f"datum.{name} + datum.error", "as": "high"},
    ]


def band(chart: Chart) -> list[dict]:
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


def names(chart: Chart, name: str) -> dict:
    """An axis of names, in the order of the data."""
    return {
        "field": name,
        "type": "nominal",
        "sort": None,
        "title": chart.columns[name].title or None,
        "axis": {"labelLimit": 180},
    }


def colour(chart: Chart) -> dict:
    """A colour for every series."""
    if "series" not in chart.columns:
        return {}
    column = chart.columns["series"]
    return {
        "color": {
            "field": "series",
            "type": "nominal",
            "scale": category(list(dict.fromkeys(column.values))),
            "legend": {
                "title": column.title or None,
                "symbolLimit": 60,
                "symbolOpacity": 1,
            },
        }
    }


def category(series: list[str]) -> dict:
    """The same colours whatever is shown."""
    scale: dict[str, Any] = {"domain": series}
    if set(series) <= set(MEANT):
        return scale | {"range": [MEANT[name] for name in series]}
    return scale | (
        {"range": "category"} if len(series) <= _PALETTE_SIZE else {"scheme": "tableau20"}
    )


def faded(chart: Chart, shown: float = 1.0) -> dict:
    """Others step back when a name in the legend is picked."""
    if "series" not in chart.columns:
        return {}
    faint = shown / 8
    return {"opacity": {"condition": {"param": "picked", "value": shown}, "value": faint}}


def band_shown(chart: Chart) -> dict:
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


def tooltip(chart: Chart, fields: tuple[str, ...] = ()) -> list[dict]:
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
