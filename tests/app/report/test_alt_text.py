import pytest

from sparsieve.app.report.comparison_sections import diagram_rows
from sparsieve.app.report.elements import Section, make_chart
from sparsieve.app.report.packing import collect_charts, still
from sparsieve.app.report.page import Report
from sparsieve.app.report.wording import alt_text


def test_lines_say_where_they_begin_and_end():
    rows = [(10, 0.9, "a"), (1, 0.5, "a"), (1, 0.25, "b")]
    chart = make_chart("Accuracy", "lines", rows, {"x": "features", "y": "accuracy", "series": ""})
    assert alt_text(chart) == (
        "Accuracy: line chart of accuracy over features. a goes from 0.5 at 1 to 0.9 at 10. "
        "b goes from 0.25 at 1 to 0.25 at 1."
    )


def test_bars_name_the_largest_whatever_their_sign():
    rows = [("u", 0.1), ("v", -0.9), ("w", None), ("x", 0.5), ("z", 0.2)]
    assert alt_text(make_chart("W", "bars", rows, {"y": "", "x": "weight"})).endswith(
        "5 rows by weight. Largest: v -0.9, x 0.5 and z 0.2."
    )


@pytest.mark.parametrize(
    ("kind", "rows", "titles", "said"),
    [
        (
            "heatmap",
            [("class", "s1", None, "u"), ("f", "s1", -1.0, None)],
            {"y": "", "x": "sample", "value": "z", "strip": "class"},
            "heat map of 1 row and 1 column, z from -1 to -1.",
        ),
        (
            "points",
            [(1.0, 2.0, "u"), (2.0, 1.0, "v")],
            {"x": "first", "y": "second", "series": "class"},
            "2 dots, second against first, coloured by class: u and v.",
        ),
        (
            "distribution",
            [(1.0, "u"), (4.0, "v")],
            {"x": "age", "y": ""},
            "box plots of age for u and v, from 1 to 4.",
        ),
        (
            "dots",
            [("1: a", "fisher", "selected")],
            {"y": "", "x": "", "series": ""},
            "matrix of dots with 1 set and 1 method.",
        ),
    ],
)
def test_other_kinds(kind, rows, titles, said):
    assert alt_text(make_chart("T", kind, rows, titles)) == f"T: {said}"


def test_ranks_are_named():
    rows = [tuple(row.values()) for row in diagram_rows(["a", "b"], [1.0, 2.0], 0.5)]
    titles = {name: name for name in ("part", "x", "x2", "y", "y2", "text")}
    said = alt_text(make_chart("Ranks", "critical-difference", rows, titles))
    assert said.endswith("the best first: a 1.00 and b 2.00.")


def test_a_still_shows_what_a_page_shows_first():
    rows = [("mcc", 1, 0.2), ("accuracy", 1, 0.5), ("accuracy", 2, 0.6)]
    titles = {"score": "score", "x": "k", "y": "mean score"}
    note = "Mean of folds. Click names in the legend (with Shift for several) to bring them out."
    how = {"controls": ("score",), "initial": {"score": "accuracy"}}
    found = still(make_chart("Scores", "lines", rows, titles, note, **how))
    assert (found.columns["x"].values, found.columns["y"].values) == ([1, 2], [0.5, 0.6])
    assert found.columns["y"].title == "accuracy"
    assert (found.note, found.controls) == ("Mean of folds.", ())


def test_charts_of_a_slider_are_shown_at_its_last_place():
    from sparsieve.app.report.elements import Explorer, Step

    chart = make_chart(
        "Dots", "points", [(1, 0.0, 0.0), (2, 1.0, 1.0)], {"k": "", "x": "", "y": ""}
    )
    steps = [Step(1, ["a"], [0]), Step(2, ["a", "b"], [0, 1])]
    (found,) = collect_charts(Report("r", "h", [Section("s", (), [Explorer("e", steps, [chart])])]))
    assert {name: column.values for name, column in found.columns.items()} == {
        "x": [1.0],
        "y": [1.0],
    }
