from dataclasses import replace
from pathlib import Path

import pytest

from sparsieve_experiments.papers import Preset, Reproduction
from sparsieve_experiments.papers.claims import Claim, Compared, Shows
from sparsieve_experiments.report import reproduction_report
from sparsieve_experiments.studies.exhibits import Drawing, Exhibit

pytest.importorskip("vl_convert")

ROWS = [
    {"dataset": d, "method": m, "k": k, "accuracy": 70.0 + k, "sd": 1.0, "published": p}
    for d in ("<b>A</b>", "B")
    for m in ("ours", "theirs")
    for k, p in ((1, None), (2, 75.0))
]
LINES = Drawing("k", "accuracy", colour="method", panel="dataset", band="sd")


def test_report():
    exhibit = Exhibit("Table II", "Accuracy", ROWS, [LINES], note="First.\nSecond.")
    claim = Claim("Ours is best", "Table II", "", "Table II", Shows(lambda e: (True, "yes")))
    compared = Compared("accuracy", "ours", ("theirs",), settings=("k",), at_least=-1.0)
    preset = Preset(
        "l20",
        "A. Somebody, B. Else: Title (2020)",
        (),
        {"quick": "Less."},
        claims=lambda level: [replace(claim, judged=compared)],
    )
    outcome = Reproduction(
        preset, [exhibit], {"LUNG": "not at hand"}, ["it broke"], "quick", Path("x")
    )
    report = reproduction_report(outcome, command="sparsieve reproduce l20")
    titles = [section.title for section in report.sections]
    assert titles == [
        "Claims",
        "The paper, and how its claims are judged",
        "What the quick level leaves out",
        "Table II: Accuracy",
        "What failed",
        "How it was made",
    ]
    assert report.title == "Reproducing Somebody and Else"
    assert report.headline == "1 claim: 1 held."
    assert report.sections[3].text == ["First.", "Second."]
    assert len(report.warnings) == 1
    html = report.to_html()
    assert "<b>A</b>" not in html
    assert "sparsieve reproduce l20" in html


def test_lines_with_bands_and_panels():
    chart = Exhibit("F", "t", ROWS, [LINES]).charts[0]
    assert chart.controls == ("panel",)
    assert chart.columns["error"].values[0] == 1.0


def test_bars_lie():
    bars = Drawing("method", "accuracy", kind="bars", log_y=True)
    chart = Exhibit("F", "t", ROWS, [bars]).charts[0]
    assert chart.columns["y"].values[0] == "ours"
    assert chart.columns["x"].values[0] == 71.0
    assert chart.options["log_x"]


def test_rows_without_a_value_are_not_drawn():
    rows = [*ROWS, {**ROWS[0], "accuracy": None}]
    chart = Exhibit("F", "t", rows, [LINES]).charts[0]
    assert len(chart.columns["y"].values) == len(ROWS)


def test_a_drawing_of_a_column_that_is_not_there():
    with pytest.raises(ValueError, match="no column 'nothing'"):
        Exhibit("F", "t", ROWS, [Drawing("k", "nothing")])
