"""How charts of a page are drawn: axes and colours, and the programs that draw them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..._files import replacing
from ..._imports import require
from ...selectors.ranked import KEPT_BY_REQUEST, LEFT_OUT_BY_REQUEST, UNRANKED
from .elements import Chart

SELECTED, LEFT_OUT = "selected", "left out"
# Any two of a palette can be told apart by people with any kind of colour vision
# (tests/app/report/test_colours.py measures it). The same place has a similar hue in both.
PALETTES = {
    "light": (
        *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e0a800", "#56b4e9", "#5b2a86", "#4d4d4d"),
        *("#772806", "#c3cd7c", "#a24efb", "#171dae", "#a1d2af", "#502319", "#769c54", "#7f553c"),
    ),
    "dark": (
        *("#5d88c1", "#e25c25", "#1bfc90", "#c58ba2", "#f6de2a", "#9ed9fe", "#9a7bfe", "#ddecdd"),
        *("#c96c62", "#faab43", "#bbbe9c", "#9dacf9", "#b6a659", "#b2fd72", "#f913b3", "#deadcf"),
    ),
}
PALETTE_SIZE = len(PALETTES["light"])
# Maps on white; the middle differs from white, or its cells would look missing.
DIVERGING = ("#1f6fb4", "#f4f4f4", "#c8511b")
SEQUENTIAL = ("#eef4fb", "#0b4f8a")
RAMP = ("#a8cbe6", "#4a7fb5", "#0a2f5c")
LEVEL = "#d05a2f"  # a line to compare with

# Series whose colour carries a meaning; both read well on light and dark.
MEANT = {
    SELECTED: "#2f8fd0",
    LEFT_OUT: "#9aa4ae",
    KEPT_BY_REQUEST: "#2f8fd0",
    LEFT_OUT_BY_REQUEST: "#9aa4ae",
    UNRANKED: "#c9ced3",
}


def has_meaning(names: Sequence[str]) -> bool:
    """Whether all series have a colour of their own, whatever their order."""
    return set(names) <= set(MEANT)


def series_colours(names: Sequence[str]) -> dict[str, str]:
    """The colour of every series on white, in the order of the names.

    From the 17th on colours repeat; charts of dots give these another shape.

    Examples
    --------
    >>> from sparsieve.app.report.encodings import series_colours
    >>> series_colours(["benign", "malignant"])
    {'benign': '#0072b2', 'malignant': '#d55e00'}
    """
    if has_meaning(names):
        return {name: MEANT[name] for name in names}
    light = PALETTES["light"]
    return {name: light[i % PALETTE_SIZE] for i, name in enumerate(names)}


VEGA_LITE = "v6.1"
# Of the script that each version of the converter makes. Whoever can write to the cache could
# have every report run a script of theirs: no other is taken from it, and of other versions none.
_DIGESTS = {
    "1.8.0": "b11ae2116b4e9d1f5b2737febbc1ba91ea8ba36c110f5d14cefabaf401effa4d",
    "1.9.0": "258b89504d5f67d16fe97d83d215483f73b9dfd25fbb8e20a340b8266d9fb1db",
}
_MAX_BYTES = 1 << 24
# Of a cache that cannot be read or written, whatever the reason, which only costs time: no home,
# no permission, no space (DataError is a ValueError), or bytes that are no text.
_NO_CACHE = (OSError, RuntimeError, ValueError)


@cache
def vega_script() -> str:
    """The script; putting it together takes seconds, so it is done once per version."""
    converter = require("vl_convert", extra="report", purpose="draw the charts of a report")
    due = _DIGESTS.get(converter.__version__)
    with contextlib.suppress(*_NO_CACHE):
        path = _cache_path(converter.__version__)
        if path.is_file() and path.stat().st_size < _MAX_BYTES:  # no pipe, no endless device
            script = path.read_text(encoding="utf-8")
            if _digest(script) == due:
                return script
    script = converter.javascript_bundle(vl_version=VEGA_LITE).replace("</script", "<\\/script")
    with contextlib.suppress(*_NO_CACHE):
        path = _cache_path(converter.__version__)
        if _digest(script) == due and (path.is_file() or not path.exists()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as scratch:
                scratch.write_text(script, encoding="utf-8")
    return script


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def _cache_path(version: str) -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparsieve"
    return folder / f"vega-{version}-{VEGA_LITE}.js"


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


def interval_ends(name: str) -> list[dict[str, Any]]:
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
    ends = interval_ends("y")
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


def fade_others(chart: Chart, shown: float = 1.0) -> dict[str, Any]:
    """Others step back when a name in the legend is picked."""
    if "series" not in chart.columns:
        return {}
    faint = shown / 8
    return {"opacity": {"condition": {"param": "picked", "value": shown}, "value": faint}}


def band_visibility(chart: Chart) -> dict[str, Any]:
    """A few bands show from the start; of many, those of what is pointed at or picked."""
    if "series" not in chart.columns:
        return {}
    if not bands_on_demand(chart):
        return fade_others(chart, shown=0.15)
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
