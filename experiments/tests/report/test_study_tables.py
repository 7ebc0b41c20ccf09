"""Tables of a study: the scores of its rows, and marks that the tests give."""

import numpy as np
import pandas as pd
import pytest

from sparsieve.scoring.stability import compare_methods
from sparsieve_experiments.report import export_study
from sparsieve_experiments.report import study_tables as module
from sparsieve_experiments.report.study_tables import study_tables
from sparsieve_experiments.studies import Gap, Standing, Store, StoreError, result_rows, standings


@pytest.fixture(scope="module")
def rows(uneven):
    with Store(uneven) as opened:
        return result_rows(opened)


def test_csv_has_the_means_and_p_values_of_the_rows(uneven, rows, tmp_path):
    export_study(uneven, tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv").set_index(["dataset", "method"])
    assert set(read["features"]) == {"2, 4"}
    assert "AllFeatures" not in read.index.get_level_values("method")
    scores = {}
    for method in ("FisherSelector", "hasty"):
        mine = [r for r in rows if (r["dataset"], r["selector"]) == ("wine", method)]
        mine = [r for r in mine if r["k"] in (2, 4)]
        scores[method] = np.array(
            [np.mean([r["accuracy"] for r in mine if r["fold"] == f]) for f in (0, 1)]
        )
        assert read["score"]["wine", method] == pytest.approx(scores[method].mean())
    test_share = np.mean([r["n_test"] / r["n_train"] for r in mine if r["k"] == 2])
    found = compare_methods(scores, test_share)
    [lower] = found.behind
    assert read["behind_best_p"]["wine", lower] == pytest.approx(found.p_values[lower])
    assert np.isnan(read["behind_best_p"]["wine", found.best])
    assert read["verdict"]["wine", found.best] == "best"
    both = [read["score"][name, "hasty"] for name in ("few", "wine")]
    assert read["score"]["all data sets", "hasty"] == pytest.approx(np.mean(both))


def test_a_table_of_all_sets_in_latex_and_markdown(uneven, rows, tmp_path):
    [standing] = standings(rows)
    for form in ("tex", "md"):
        export_study(uneven, tmp_path / f"t.{form}", "uneven")
    latex = (tmp_path / "t.tex").read_text()
    assert "method & few & wine & mean \\\\" in latex
    assert "using 2 and 4 features" in latex
    assert "Bonferroni correction for 1 pair of methods, 5 \\% level" in latex
    assert standing.number(standing.means["hasty"]) in latex
    assert "| method | few | wine | mean |" in (tmp_path / "t.md").read_text()


def test_marks_are_those_of_the_standing():
    gaps = {"b": Gap(0.1, 0.05, 0.001), "c": Gap(0.1, 0.2, 0.4)}
    means = {"a": 0.9, "b": 0.8, "c": 0.8}
    standing = Standing("svm", "accuracy", ["wine"], [1], means, gaps, 5)
    table = module._table(standing, {"wine": standing})
    marks = {row[0].text: (row[1].text, row[1].is_best, row[1].mark) for row in table.rows}
    assert marks == {"a": ("90.0", True, ""), "b": ("80.0", False, "*"), "c": ("80.0", False, "")}
    assert table.title == "Accuracy (%) of methods using 1 feature"
    assert table.notes[1].startswith("* Significantly lower than the best")
    assert table.columns["verdict"].tolist() == [
        "best",
        "significantly lower",
        "not significantly lower",
    ]


def test_nothing_to_compare_is_said(tmp_path, store):
    with Store(store) as opened:
        done = opened.cells("small", states=["done"])[0]
    with Store(tmp_path / "none.sqlite") as opened:
        opened.plan("none", {"open": done["spec"]})
        with pytest.raises(StoreError, match="no data set of study 'none' has a score"):
            study_tables(opened, "none")
