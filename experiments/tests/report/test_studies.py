import json

import numpy as np
import pytest

from sparsieve.app.report.elements import Chart, Facts, Table
from sparsieve.scoring import friedman_nemenyi, nogueira_stability
from sparsieve_experiments.report import study_report
from sparsieve_experiments.report.studies import _headline
from sparsieve_experiments.report.study_results import StudyResults
from sparsieve_experiments.studies import (
    Store,
    StoreError,
    Study,
    result_rows,
    score_table,
    standings,
)

NASTY = "<script>alert(1)</script>"  # the name of a feature, see fixtures/pages.py

pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def report(store):
    return study_report(store)


@pytest.fixture(scope="module")
def rows(store):
    with Store(store) as opened:
        return result_rows(opened)


def chart(report, title):
    every = [report.picture, *(b for s in report.sections for b in s.blocks)]
    return next(b for b in every if isinstance(b, Chart) and title in b.title)


def records(chart):
    fields = list(chart.columns)
    return [
        dict(zip(fields, values, strict=True))
        for values in zip(*(c.values for c in chart.columns.values()), strict=True)
    ]


def test_sections(report):
    titles = [section.title for section in report.sections]
    assert titles == [
        "Scores",
        "Ranks",
        "Stability",
        "Redundancy",
        "Time",
        "Warnings",  # at alpha=10 fewer than five features carry weight
        "How it was made",
    ]
    assert report.figures["methods"] == "4"
    assert report.figures["data sets"] == "3"


def test_a_choice_on_test_samples_is_said(report):
    assert any("chosen on the test samples" in line for line in report.warnings)


def test_curves_are_the_means_over_the_splits(report, rows):
    mine = [
        r["accuracy"]
        for r in rows
        if (r["dataset"], r["class"], r["classifier"], r["k"])
        == ("wine", "FisherSelector", "svm", 3)
    ]
    (found,) = [
        r
        for r in records(chart(report, "Accuracy over"))
        if (r["dataset"], r["series"], r["classifier"], r["x"])
        == ("wine", "FisherSelector", "linear SVM", 3)
    ]
    assert found["y"] == pytest.approx(np.mean(mine))
    assert found["error"] == pytest.approx(np.std(mine, ddof=1) / np.sqrt(len(mine)))


def test_ranks_are_friedmans(report, rows):
    table = score_table(rows, classifier="1nn", k=3)
    test = friedman_nemenyi(table.scores)
    found = [
        r["text"]
        for r in records(chart(report, "Average ranks"))
        if (r["classifier"], r["k"]) == ("nearest neighbour", "3") and r["text"]
    ]
    expected = [f"{m} {r:.2f}" for m, r in zip(table.selectors, test.ranks, strict=True)]
    assert sorted(found) == sorted(expected)


def test_stability_is_nogueiras_over_the_splits(report, rows):
    k = int(chart(report, "Stability").title.split("at ")[1].split()[0])
    cells = {
        r["cell"]: json.loads(r["feature_indices"])[:k]
        for r in rows
        if r["dataset"] == "wine" and r["class"] == "FisherSelector"
    }
    supports = np.array([np.isin(np.arange(13), features) for features in cells.values()])
    (found,) = [
        r["x"]
        for r in records(chart(report, "Stability"))
        if (r["dataset"], r["y"]) == ("wine", "FisherSelector")
    ]
    assert found == pytest.approx(nogueira_stability(supports).value)


def test_the_headline_is_the_standing(report, rows):
    [standing] = standings(rows)
    assert standing.ks == [1, 3, 5]
    assert report.headline.startswith(f"{standing.best} has the highest mean accuracy (")
    assert "using 1, 3 and 5 features (scored with linear SVM)" in report.headline
    assert report.headline.count(". ") == 0  # one sentence
    assert ("not significantly" in report.headline or "no other method" in report.headline) == bool(
        standing.level
    )
    assert chart(report, "Average ranks").options["initial"] == {
        "classifier": "linear SVM",
        "k": "5",
    }


def test_no_selection_is_a_line_and_no_contender(uneven):
    report = study_report(uneven)
    assert report.figures["methods"] == "2"
    assert "2 and 4 features" in report.headline
    assert "AllFeatures" not in report.headline
    line = [r for r in records(chart(report, "Accuracy over")) if r["series"] == "all features"]
    assert {(r["dataset"], r["x"], r["used"]) for r in line} == {
        *(("wine", k, 13) for k in (2, 8)),
        *(("few", k, 5) for k in (2, 8)),
        *(("mean of all data sets", k, 9) for k in (2, 8)),
    }
    with Store(uneven) as opened:
        every = [r for r in result_rows(opened) if r["class"] == "AllFeatures"]
    wine = np.mean([r["accuracy"] for r in every if r["dataset"] == "wine"])
    assert [r["y"] for r in line if r["dataset"] == "wine"] == pytest.approx([wine, wine])
    assert max(r["x"] for r in records(chart(report, "Accuracy over"))) == 8
    assert report.to_html()


def test_views_open_on_all_data_sets(uneven):
    report = study_report(uneven)
    for title in ("Accuracy over", "Stability", "Redundancy", "Seconds"):
        assert chart(report, title).columns["dataset"].values[0] == "mean of all data sets"


def test_warnings_of_fits_are_shown(uneven):
    report = study_report(uneven)
    assert any("4 fits of 1 method gave warnings" in line for line in report.warnings)
    (table,) = next(s for s in report.sections if s.title == "Warnings").blocks
    values = {column.title: column.values for column in table.columns}
    assert set(values["method"]) == {"hasty"}
    assert sum(values["fits"]) == 4
    assert all("L21Selector stopped after" in text for text in values["warning"])


def test_sets_without_a_common_number_are_told_one_by_one(store):
    with Store(store) as opened:
        rows = result_rows(opened)
    rows = [r for r in rows if (r["dataset"] == "wine") == (r["k"] == 5)]
    headline = _headline(StudyResults(rows))
    assert headline.count("highest mean accuracy") == 3


def test_how_it_was_made(report, rows):
    made = report.sections[-1]
    methods = next(b for b in made.blocks if isinstance(b, Table))
    assert methods.n_rows == 5  # l21 with both of its candidates
    software = next(b for b in made.blocks if isinstance(b, Facts))
    assert software.values["seed"] == 0
    assert software.values["scikit-learn"] == rows[0]["scikit_learn_version"]


def test_page(report):
    html = report.to_html()
    assert NASTY not in html
    assert len(html.encode()) < 3_000_000


def test_unfinished_and_failed_cells_are_said(tmp_path, store):
    with Store(store) as opened:
        done = opened.cells("small", states=["done"])[0]
    with Store(tmp_path / "some.sqlite") as opened:
        broken = {**done["spec"], "label": "Broken"}
        opened.plan("some", {"done": done["spec"], "failed": broken, "open": broken})
        assert opened.claim("failed")
        opened.fail("failed", "it broke")
        with pytest.raises(StoreError, match="no cell of study 'some' is finished"):
            study_report(opened)
        assert opened.claim("done")
        opened.finish("done", done["result"])
        report = study_report(opened)
    assert report.warnings[0] == "The study is not complete: 1 fit still to compute."
    assert report.warnings[1].startswith("1 fit failed")
    failures = next(s for s in report.sections if s.title == "Failures").blocks[0]
    values = [column.values[0] for column in failures.columns]
    assert values == [done["spec"]["dataset"], "Broken", "it broke", 1]


def test_which_study(tmp_path, store):
    with pytest.raises(StoreError, match="there is no store"):
        study_report(tmp_path / "none.sqlite")
    with pytest.raises(StoreError, match="no study 'other'; it has: small"):
        study_report(store, "other")


def test_models_own_numbers_of_features(tmp_path):
    from sparsieve.scoring import Folds
    from sparsieve_experiments.studies import run_study

    study = Study("own", ["wine"], ["l21", "fisher"], Folds(2), ks="own", classifiers=["svm"])
    path = tmp_path / "own.sqlite"
    run_study(study, path)
    report = study_report(path)
    assert "the features that each method keeps" in report.headline
    assert report.to_html()


def test_tables_can_be_downloaded_in_full(report):
    table = next(
        b
        for s in report.sections
        for b in s.blocks
        if isinstance(b, Table) and b.title == "All means"
    )
    assert table.n_rows == 4 * 3 * 2 * 3


@pytest.mark.slow
def test_twelve_methods_on_twelve_data_sets_stay_below_three_megabytes(large_store):
    report = study_report(large_store)
    assert "method 11 has the highest mean accuracy" in report.headline
    columns = chart(report, "Accuracy over").columns
    assert len(set(columns["x"].values)) == 50
    assert len(report.to_html().encode()) < 3_000_000
