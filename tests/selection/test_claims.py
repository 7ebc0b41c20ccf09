"""``select(X, y, k="fdr=0.1")``, claims beside a selection, and their figures."""

import numpy as np
import pytest

from sparsieve import FDRSelector, compare, select


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 30))
    return X, (X[:, 3] + X[:, 5] > 0).astype(int)


def test_k_may_be_a_false_discovery_rate(data):
    X, y = data
    names = [f"gene {j}" for j in range(30)]
    selected = select(X, y, k="fdr=0.05", feature_names=names, check=False)
    assert isinstance(selected.method, FDRSelector)
    assert selected.method.level == 0.05
    direct = FDRSelector(0.05).fit(X, y)
    np.testing.assert_array_equal(selected.selector.support_, direct.support_)
    assert "'gene 3'" in selected.verdict
    assert selected.verdict in str(selected)
    assert "gene 3" in selected._repr_html_()
    assert selected.claims().found is selected.method
    assert selected.claims(claim="marginal").found.claim == "marginal"


def test_a_parameter_says_what_is_claimed(data):
    X, y = data
    marginal = select(X, y, k="FDR = 0.2", claim="marginal", check=False).method
    assert (marginal.claim, marginal.level) == ("marginal", 0.2)
    by_method = select(X, y, method="fdr", check=False).method
    assert isinstance(by_method, FDRSelector)
    assert by_method.n_features_to_select is None
    assert select(X, y, k=4, method="fdr", check=False).selector.support_.sum() == 4


def test_nothing_is_an_answer(data):
    X, y = data
    empty = select(X, np.random.default_rng(0).permutation(y), k="fdr=0.1")
    assert empty.features == []
    assert "No feature is significant at a false discovery rate of 10 %" in str(empty)
    assert "because no feature was selected" in str(empty)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": "fdr=many"}, "'fdr=many' has no false discovery rate between 0 and 1"),
        ({"k": "fdr=1.5"}, "level must be at most 1, got 1.5"),
        ({"k": "fdr=0.1", "method": "fisher"}, "but method is FisherSelector; leave method out"),
        ({"k": "few"}, 'k must be a number, a fraction, "auto", "fdr=0.1" or None, got \'few\''),
        ({"k": "fdr=0.1", "rule": "best"}, "rule='best' is for k=\"auto\""),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(data, options, words):
    with pytest.raises(ValueError, match=words):
        select(*data, **options)


def test_claims_know_groups_of_samples(data):
    X, y = data
    pairs = np.arange(80) // 2
    selected = select(X, y, k="fdr=0.1", groups=pairs, check=False)
    assert "The 80 samples belong to 40 groups." in selected.verdict
    direct = FDRSelector(task="classification").fit(X, y, groups=pairs)
    np.testing.assert_array_equal(selected.method.pvalues_, direct.pvalues_)
    beside = select(X, y, k=2, groups=pairs, check=False).claims()
    np.testing.assert_array_equal(beside.found.pvalues_, direct.pvalues_)


def test_claims_know_the_names_and_covariates_of_the_selection(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(30)])
    searched = select(frame, y)
    assert {"gene 3", "gene 5"} <= set(searched.claims().columns["feature"])
    beside = select(frame, y, k=4, always_keep=["gene 3"], check=False).claims()
    assert "gene 3" not in beside.columns["feature"]
    assert beside.found.n_tested_ == 29
    direct = FDRSelector(always_keep=["gene 3"]).fit(frame, y)
    np.testing.assert_array_equal(beside.found.pvalues_, direct.pvalues_)


def test_claims_of_features_by_trees_are_said_to_be_linear(data):
    X, y = data
    how = {"k": 2, "check": False}
    said = "Claims are about linear effects"
    assert said in str(select(X, y, method="trees", **how).claims())
    assert said not in str(select(X, y, method="fisher", **how).claims())


def test_figures_and_pages(data, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, y = data
    selected = select(X, y, k=3, check=False)
    assert selected.plot("claims").chart.title == "Claims and their substitutes"
    noise = select(X, np.random.default_rng(0).permutation(y), k=3, check=False)
    assert noise.plot("claims").chart.title == "How many samples would it take?"
    pyplot.close("all")
    selected.report(tmp_path / "page.html", claims=True, cv=0)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 features were selected for prediction; 2 of them are significant" in page


def test_claims_are_a_method_of_comparisons(data):
    X, y = data
    found = compare(X, y, ["fdr", "ridge-forward"], ks=[2], n_repeats=1)
    assert set(found.chosen) == {"fdr", "ridge-forward"}
