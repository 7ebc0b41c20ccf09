"""Tables of a comparison: the numbers of ``table``, and marks that the tests give."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_wine

from sparsieve import compare
from sparsieve.app.comparison.method_result import method_rows, method_table
from sparsieve.filters import FisherSelector
from sparsieve.selectors.base import BaseSelector, FeatureScores


class _Backwards(BaseSelector):
    """Prefers what says least."""

    def _fit(self, data):
        scores = FisherSelector().fit(data.design.array, data.target.codes).scores_
        return FeatureScores(-scores, n_kept=1)


@pytest.fixture(scope="module")
def found():
    X, y = load_wine(return_X_y=True, as_frame=True)
    worst = ("=worst_case", _Backwards())
    return compare(X, y, ["fisher", "mrmr", worst], ks=[1, 2], cv=3, n_repeats=2)


def test_csv_reads_back_as_the_table(found, tmp_path):
    found.export(tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read[found.table.columns], found.table, check_dtype=False)
    found.export(tmp_path / "t.csv", escape_formulas=True)
    assert "'=worst_case" in pd.read_csv(tmp_path / "t.csv")["method"].tolist()


def test_intervals_and_p_values_are_those_of_the_textbook(found, tmp_path):
    found.export(tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv").set_index("method")
    row = found.ks.index(found.k)
    scores = {name: result.split_scores("accuracy", row) for name, result in found.methods.items()}
    best = max(scores, key=lambda name: scores[name].mean())
    for name, values in scores.items():
        error = values.std(ddof=1) * np.sqrt(1 / 6 + found.test_share)
        half = stats.t.ppf(0.975, 5) * error
        assert read["accuracy_low"][name] <= values.mean() - half + 1e-12
        assert read["accuracy_high"][name] >= min(values.mean() + half, 1.0) - 1e-12
        if name == best:
            assert read["verdict"][name] == "best"
            continue
        gaps = scores[best] - values
        error = gaps.std(ddof=1) * np.sqrt(1 / 6 + found.test_share)
        half = stats.t.ppf(1 - 0.05 / 3 / 2, 5) * error
        assert read["behind_best_low"][name] == pytest.approx(gaps.mean() - half)
        p_value = min(1.0, 3 * 2 * stats.t.sf(gaps.mean() / error, 5))
        assert read["behind_best_p"][name] == pytest.approx(p_value, rel=1e-6)
        assert (p_value < 0.05) == (name in found.verdict.separable)
        wanted = "significantly lower" if p_value < 0.05 else "not significantly lower (p"
        assert read["verdict"][name].startswith(wanted)
    assert found.verdict.separable == ["=worst_case"]


def test_marks_bold_and_the_note_on_the_test(found, tmp_path):
    table = method_table(found)
    marks = {row[0].text: (row[1].is_best, row[1].mark) for row in table.rows}
    assert marks[found.verdict.best] == (True, "")
    assert marks["=worst_case"][1].startswith("*")
    assert "Bonferroni correction for 3 pairs of methods, 5 % level" in " ".join(table.notes)
    found.export(tmp_path / "t.tex")
    text = (tmp_path / "t.tex").read_text()
    assert "=worst\\_case & " in text
    assert text.count("\\textbf{") == len(found.verdict.leaders)
    found.export(tmp_path / "t.md")
    assert "| =worst\\_case | " in (tmp_path / "t.md").read_text()


def test_the_note_says_where_nothing_is_lower():
    X, y = load_wine(return_X_y=True)
    alone = compare(X, y, ["fisher"], ks=[2], cv=2, n_repeats=1)
    assert len(method_table(alone).notes) == 1
    header, [row] = method_rows(alone)
    assert dict(zip(header, row, strict=True))["verdict"] == "better than a guess"
    both = compare(X, y, ["fisher", "f-statistic"], ks=[2], cv=2, n_repeats=1)
    assert method_table(both).notes[1].startswith("No method is significantly lower than the best")
