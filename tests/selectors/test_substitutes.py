"""One definition of a substitute: the correlation of the columns as given, with its threshold."""

import numpy as np
import pytest

import sparsieve
from sparsieve import FDRSelector, RidgeForwardSelector
from sparsieve.app.report import selector_report
from sparsieve.selection.shown import selection_view


@pytest.fixture(scope="module")
def outlying():
    """x0 and x1 are correlated by one outlier, which tests do not look at."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    X[3, :2] = 25.0
    return X, X[:, 0].clip(-3, 3) + 0.3 * rng.standard_normal(60)


def test_claims_name_what_tables_name(outlying):
    X, y = outlying
    r = np.corrcoef(X.T)
    assert r[0, 1] > 0.9
    selected = sparsieve.select(X, y, k=1, check=False)
    assert selected.features == ["x0"]
    assert selected.table["substitutes"][0] == f"x1 ({r[0, 1]:.2f})"
    claims = selected.claims()
    found = claims.found
    assert 0 in claims.features
    # Of the values as tested the correlation is small: without the outlier there is none.
    assert abs(np.corrcoef(np.delete(X, 3, axis=0).T)[0, 1]) < 0.7
    named = dict(dict(found.substitutes_)[0])
    assert named == {1: pytest.approx(r[0, 1])}
    assert "correlated with it by 0.7 or more (in the columns as given, or in" in claims.verdict


@pytest.mark.parametrize(
    ("n", "always", "words"),
    [
        (60, None, "values clipped at 3 standard deviations)"),
        (30, None, "normal scores of the ranks)"),
        (60, [5], "values clipped at 3 standard deviations, given always_keep)"),
    ],
)
def test_tests_name_their_own_measure(outlying, n, always, words):
    X, y = outlying
    found = FDRSelector(always_keep=always).fit(X[:n], y[:n])
    assert f"in the columns as given, or in {words}" in found.verdict_
    for claim, others in found.substitutes_.items():
        for other, r in others:
            assert r == pytest.approx(np.corrcoef(X[:n].T)[claim, other])


def test_looking_for_substitutes_does_not_change_claims(outlying):
    X, y = outlying
    found = FDRSelector().fit(X, y)
    own = found.substitutes_
    assert found.find_substitutes(X, 0.99) == {j: [] for j in np.flatnonzero(found.support_)}
    assert found.substitutes_ is own
    tested = sparsieve.select(X, y, k="fdr=0.1", check=False)
    assert len(tested.table)
    assert tested.claims().found.substitutes_ == own


def test_thresholds_are_said(outlying, tmp_path):
    X, y = outlying
    selected = sparsieve.select(X, y, k=1, check=False)
    assert "similar (correlation 0.9 or more): x1" in selection_view(selected)
    page = selector_report(RidgeForwardSelector(1).fit(X, y), X, y, cv=0, threshold=0.8)
    page.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "has an absolute correlation of 0.8 or more with this one" in text
