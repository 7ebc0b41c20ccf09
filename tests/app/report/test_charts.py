"""Every kind of chart must be a specification that Vega-Lite understands without a warning."""

import json
import re
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from sparsieve.app.report import charts, comparison_report, selector_report
from sparsieve.app.report.charts import specification
from sparsieve.app.report.comparison_sections import diagram_rows
from sparsieve.app.report.elements import Chart, Column, Explorer

vl_convert = pytest.importorskip("vl_convert")

NAMES = ["a", "a", "b", "b"]
QUANTITIES = {"x": Column("k", [1, 2, 1, 2]), "y": Column("score", [0.1, 0.4, 0.3, None])}
BAND = {"error": Column("error", [0.1, 0.1, 0.2, 0.0])}
SERIES = {"series": Column("method", NAMES)}
CENSORED = {"censored": Column("censored here", ["yes", "no", "no", "yes"])}
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
    "map with labels": Chart(
        "c",
        "heatmap",
        {
            "x": Column("", NAMES),
            "y": Column("", ["c", "d"] * 2),
            "value": QUANTITIES["y"],
            "count": Column("samples", [1, 2, 3, 4]),
        },
        options={"labels": "count", "domain": (0.0, 1.0)},
    ),
    "map with a strip": Chart(
        "c",
        "heatmap",
        {
            "x": Column("", ["a", "b"] * 2),
            "y": Column("", ["class", "class", "c", "c"]),
            "value": Column("z", [None, None, -1.0, 1.0]),
            "strip": Column("class", ["__proto__", "constructor", None, None]),
        },
        options={
            "diverging": True,
            "strip": "class",
            "strip_names": ["__proto__", "constructor"],
        },
    ),
    "graded points": Chart(
        "c",
        "points",
        {**QUANTITIES, "value": Column("target", [1.0, 2.0, 3.0, 4.0])},
        options={"diagonal": (0.0, 1.0)},
    ),
    "lines with a marker": Chart("c", "lines", QUANTITIES, options={"marker": 2}),
    "lines with every option": Chart(
        "c",
        "lines",
        {**QUANTITIES, **SERIES, **BAND, **CENSORED},
        options={
            "marks": False,
            "steps": True,
            "from_zero": True,
            "across": "a",
            "marker": 2,
            "marker_name": "chosen",
            "most": 1,
            "series_names": ["b", "a"],
            "whole_legend": True,
        },
    ),
    "small points on logarithmic axes": Chart(
        "c", "points", {**QUANTITIES, **SERIES}, options={"size": 9, "log_x": True, "log_y": True}
    ),
    "bars and a level": Chart(
        "c", "bars", {"x": QUANTITIES["y"], "y": Column("", NAMES), **SERIES}, options={"line": 0.2}
    ),
    "map over many names": Chart(
        "c",
        "heatmap",
        {
            "x": Column("", [f"sample {i}" for i in range(70)]),
            "y": Column("", ["target", "c"] * 35),
            "value": Column("z", [None, 0.5] * 35),
            "strip": Column("target", [1.5, None] * 35),
        },
        options={"diverging": True, "span": 2.0, "strip": "target", "x_label": "samples"},
    ),
    "distribution": Chart(
        "c",
        "distribution",
        {
            "part": Column("", ["range", "box", "median", "dot"]),
            "x": Column("value", [0.0, 1.0, 2.0, 2.5]),
            "x2": Column("", [4.0, 3.0, None, None]),
            "y": Column("", ["constructor"] * 4),
            "jitter": Column("", [None, None, None, 0.5]),
        },
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


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.long("draws every chart")
def test_vega_lite_draws_it(name, capfd):
    svg = vl_convert.vegalite_to_svg(json.dumps(with_data(CHARTS[name])), vl_version="v6.1")
    assert svg.startswith("<svg")
    assert "<path" in svg or "<line" in svg
    assert "WARN" not in capfd.readouterr().err


def test_every_kind_is_tried():
    from sparsieve.app.report.charts import _KINDS

    assert {chart.kind for chart in CHARTS.values()} == set(_KINDS)


def test_every_option_is_tried():
    # "labels" and the like; ``initial`` and ``shape`` are the page's, no part of a specification.
    folder = Path(charts.__file__).parent
    sources = "".join((folder / name).read_text("utf-8") for name in ("charts.py", "encodings.py"))
    known = set(re.findall(r'chart\.options(?:\.get\(|\[)"(\w+)"', sources))
    known |= set(re.findall(r'"(\w+)" (?:not )?in chart\.options', sources))
    assert known == {name for chart in CHARTS.values() for name in chart.options}


@cache
def schema():
    """Vega-Lite's own, which altair carries, as something that can check."""
    altair = pytest.importorskip("altair")
    validators = pytest.importorskip("jsonschema.validators")
    version = re.search(r"/v(\d+)\.json", charts.SCHEMA)[1]
    folder = resources.files(altair) / "vegalite" / f"v{version}" / "schema"
    read = json.loads((folder / "vega-lite-schema.json").read_text("utf-8"))
    return validators.validator_for(read)(read)


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.long("the first one reads the schema")
def test_the_schema_of_vega_lite_allows_it(name):
    schema().validate(with_data(CHARTS[name]))


def test_the_schema_refuses_what_is_misspelt():
    spec = with_data(CHARTS["points"])
    spec["encoding"]["y"]["titel"] = "score"
    assert not schema().is_valid(spec)


@pytest.mark.slow
def test_the_schema_allows_every_chart_of_real_reports(nasty_selector, nasty_wine, store):
    from sparsieve import LikelihoodForwardSelector, RidgeForwardSelector, compare
    from sparsieve.datasets.synthetic.targets import make_survival
    from sparsieve_experiments.report import study_report

    X, y = nasty_wine
    made = make_survival(n_samples=60, n_features=8, n_relevant=2, random_state=0)
    cox = LikelihoodForwardSelector(2).fit(made.X, made.y)
    numbers = RidgeForwardSelector(2, task="regression").fit(X.iloc[:, 1:], X.iloc[:, 0])
    reports = [
        selector_report(nasty_selector, X, y),
        selector_report(numbers, X.iloc[:, 1:], X.iloc[:, 0]),
        selector_report(cox, made.X, made.y),
        comparison_report(compare(X, y, ["fisher", "l21"], ks=[1, 3], cv=3, n_repeats=1)),
        study_report(store),
    ]
    drawn = [chart for report in reports for chart in charts_of(report)]
    assert {chart.kind for chart in drawn} == set(charts._KINDS)
    for chart in drawn:
        schema().validate({**specification(chart), "data": {"values": []}})


def charts_of(report):
    """The charts of a report, wherever they stand in it."""
    profile = [] if report.profiles is None else [report.profiles.chart]
    blocks = [block for section in report.sections for block in section.blocks]
    for block in [report.picture, *profile, *blocks]:
        found = block.charts if isinstance(block, Explorer) else [block]
        yield from (one for one in found if isinstance(one, Chart))


def test_a_low_map_has_room_for_its_legend_and_a_crowded_one_for_its_names():
    low = CHARTS["heatmap"]
    assert 2 * specification(low)["height"]["step"] >= 100
    many = [f"sample number {i}" for i in range(50)]
    crowded = replace(
        low,
        columns={
            "x": Column("", many),
            "y": Column("", many),
            "value": Column("z", [0.5] * 50),
        },
    )
    drawn = specification(crowded)
    assert drawn["height"]["step"] < 20
    assert drawn["encoding"]["x"]["axis"]["labelOverlap"] == "greedy"


def test_no_band_goes_beyond_what_a_score_can_be():
    chart = Chart(
        "c",
        "lines",
        {**QUANTITIES, "error": Column("error", [9.0] * 4)},
        options={"most": 1},
    )
    steps = specification(chart)["layer"][0]["transform"]
    assert steps[-1] == {"calculate": "min(datum.high, 1)", "as": "high"}


def test_names_with_the_same_series_keep_their_colours_whatever_is_shown():
    colour = specification(CHARTS["lines"])["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == ["a", "b"]


def test_many_bands_wait_for_the_pointer_and_do_not_squeeze_the_lines():
    names = [f"method {i}" for i in range(9)]
    columns = {
        "x": Column("k", [1] * 9),
        "y": Column("score", [0.5 + i / 100 for i in range(9)]),
        "error": Column("error", [3.0] * 9),
        "series": Column("method", names),
    }
    chart = Chart("c", "lines", columns)
    assert specification(chart)["layer"][0]["encoding"]["opacity"]["value"] == 0
    svg = vl_convert.vegalite_to_svg(json.dumps(with_data(chart)), vl_version="v6.1")
    ticks = [float(text) for text in re.findall(r">([\d.]+)</text>", svg)]
    assert max(ticks) < 1.5  # not 3.5


ODD = ["constructor", "toString", "__proto__", "hasOwnProperty", "a.b[0]", "back\\slash", "it's"]


@pytest.mark.parametrize(
    "chart",
    [
        Chart(
            "c",
            "bars",
            {
                "x": Column("x", [float(i + 1) for i in range(len(ODD))]),
                "y": Column("", ODD),
                "series": Column("", ODD),
            },
        ),
        Chart(
            "c",
            "lines",
            {
                "x": Column("x", [1, 2] * len(ODD)),
                "y": Column("y", [float(i) for i in range(2 * len(ODD))]),
                "error": Column("e", [0.1] * 2 * len(ODD)),
                "series": Column("", [name for name in ODD for _ in range(2)]),
            },
        ),
    ],
    ids=["bars", "lines"],
)
def test_names_of_properties_are_drawn_like_others(chart):
    svg = vl_convert.vegalite_to_svg(json.dumps(with_data(chart)), vl_version="v6.1")
    assert all(f">{name}</text>" in svg for name in ODD)


def test_the_axis_of_a_flat_line_keeps_its_number():
    """An accuracy of 0.5 at every number of features was labelled 1."""
    chart = Chart("c", "lines", {"x": QUANTITIES["x"], "y": Column("accuracy", [0.5] * 4)})
    svg = vl_convert.vegalite_to_svg(json.dumps(with_data(chart)), vl_version="v6.1")
    assert ">0.5<" in svg
