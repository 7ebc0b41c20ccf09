"""Every kind of chart must be a specification that Vega-Lite understands without a warning."""

import json

import pytest

from sparsieve.report import Chart, Column
from sparsieve.report.charts import specification
from sparsieve.report.ranks import diagram_rows

vl_convert = pytest.importorskip("vl_convert")

NAMES = ["a", "a", "b", "b"]
QUANTITIES = {"x": Column("k", [1, 2, 1, 2]), "y": Column("score", [0.1, 0.4, 0.3, None])}
BAND = {"error": Column("error", [0.1, 0.1, 0.2, 0.0])}
SERIES = {"series": Column("method", NAMES)}
_ranks = diagram_rows(["a", "b", "c"], [1.2, 1.8, 3.0], 1.0)

CHARTS = {
    "lines": Chart("c", "lines", {**QUANTITIES, **SERIES, **BAND}),
    "lines alone": Chart("c", "lines", QUANTITIES, options={"log_x": True, "log_y": True}),
    "points": Chart("c", "points", {**QUANTITIES, **SERIES}),
    "bars": Chart("c", "bars", {"x": QUANTITIES["y"], "y": Column("", NAMES), **BAND}),
    "grouped bars": Chart(
        "c",
        "bars",
        {"x": QUANTITIES["y"], "y": Column("", NAMES), **SERIES},
        options={"grouped": True},
    ),
    "logarithmic bars": Chart(
        "c", "bars", {"x": QUANTITIES["y"], "y": Column("", NAMES)}, options={"log_x": True}
    ),
    "heatmap": Chart(
        "c",
        "heatmap",
        {"x": Column("", NAMES), "y": Column("", ["c", "d"] * 2), "value": QUANTITIES["y"]},
        options={"diverging": True},
    ),
    "dots": Chart(
        "c",
        "dots",
        {
            "x": Column("", NAMES),
            "y": Column("", ["c", "d"] * 2),
            "series": Column("", ["selected", "left out"] * 2),
        },
    ),
    "critical-difference": Chart(
        "c",
        "critical-difference",
        {key: Column(key, [row[key] for row in _ranks]) for key in _ranks[0]},
        options={"ranks": (1, 3)},
    ),
}


def with_data(chart):
    """The specification as the page completes it."""
    spec = specification(chart)
    n = len(next(iter(chart.columns.values())).values)
    rows = [{name: c.values[i] for name, c in chart.columns.items()} for i in range(n)]
    spec |= {"data": {"values": rows}, "width": 400}
    if isinstance(spec["height"], dict):
        spec["height"] = spec["height"]["step"] * len(set(chart.columns["y"].values))
    return spec


@pytest.mark.parametrize("name", CHARTS)
def test_vega_lite_draws_it(name, capfd):
    svg = vl_convert.vegalite_to_svg(json.dumps(with_data(CHARTS[name])), vl_version="v6.1")
    assert svg.startswith("<svg")
    assert "<path" in svg or "<line" in svg
    assert "WARN" not in capfd.readouterr().err


def test_every_kind_is_tried():
    from sparsieve.report.charts import _KINDS

    assert {chart.kind for chart in CHARTS.values()} == set(_KINDS)


def test_names_with_the_same_series_keep_their_colours_whatever_is_shown():
    colour = specification(CHARTS["lines"])["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == ["a", "b"]


def test_many_bands_are_drawn_only_when_picked():
    names = [f"method {i}" for i in range(9)]
    columns = {
        "x": Column("k", [1] * 9),
        "y": Column("score", [0.5] * 9),
        "error": Column("error", [0.1] * 9),
        "series": Column("method", names),
    }
    opacity = specification(Chart("c", "lines", columns))["layer"][0]["encoding"]["opacity"]
    assert opacity["value"] == 0
    assert opacity["condition"]["empty"] is False
