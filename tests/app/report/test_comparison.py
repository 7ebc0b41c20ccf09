"""The report of a comparison."""

import pytest

from sparsieve import compare
from sparsieve.app.report import comparison_report
from sparsieve.app.report.charts import specification

pytest.importorskip("jinja2")


@pytest.fixture(scope="session")
def compared(nasty_wine):
    return compare(*nasty_wine, ["fisher", "mrmr", "l21"], ks=[1, 3, 5], cv=3, n_repeats=1)


def test_everything_is_there_and_escaped(compared):
    report = comparison_report(compared, command="sparsieve compare x.csv")
    titles = [section.title for section in report.sections]
    assert titles[:3] == [
        "Methods side by side",
        "Which features they agree on",
        "How alike the methods are",
    ]
    assert report.headline == compared.verdict.sentences()[0]
    assert compared.recommendation.startswith(report.headline)
    assert report.picture.title == "Accuracy over the number of features"
    page = report.to_html()
    assert "<script>alert(1)</script>" not in page
    assert "sparsieve compare x.csv" in page
    dots = report.sections[1].blocks[0]
    marked = sum(value == "selected" for value in dots.columns["series"].values)
    assert marked == sum(len(methods) for methods, _ in compared.combinations)
    assert specification(dots)["layer"][1]["mark"]["type"] == "circle"


def test_one_method_and_one_number(nasty_wine):
    found = compare(*nasty_wine, ["fisher"], ks=[2], cv=2, n_repeats=1)
    titles = [section.title for section in comparison_report(found).sections]
    assert "How alike the methods are" not in titles
    assert comparison_report(found).picture.title == "Accuracy using 2 features"


def test_the_table_fits_its_page(compared):
    [table] = comparison_report(compared).sections[0].blocks
    assert [column.title for column in table.columns] == [
        "method",
        "accuracy (%), 95 % interval",
        "difference from the best, 95 % interval",
        "verdict",
        "stability",
        "time per fit",
    ]
    best = compared.verdict.best
    mean = compared.verdict.means[best]
    assert table.columns[0].values[0] == best
    assert table.columns[1].values[0].startswith(f"{100 * mean:.1f} (")
    assert table.columns[2].values[0] == ""


def test_bands_are_drawn_for_what_is_pointed_at(compared):
    spec = specification(comparison_report(compared).picture)
    band, *_, pointed = spec["layer"]
    assert band["encoding"]["opacity"]["value"] == 0
    shown = {condition["param"] for condition in band["encoding"]["opacity"]["condition"]}
    assert shown == {"pointed", "picked"}
    assert pointed["params"][0]["name"] == "pointed"
