"""One line from data to features, a table and something to look at."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_regression

import sparsieve
from sparsieve import FStatisticSelector, RidgeForwardSelector, SelectorCV, select
from sparsieve.app.report.selection_charts import about_scores
from sparsieve.selectors.ranked import ranked_features
from sparsieve.validation.dataframes import frame_library

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_wine(return_X_y=True, as_frame=True)


def test_a_number_of_features_gives_what_the_selector_itself_gives():
    selected = select(X, Y, k=4)
    alone = RidgeForwardSelector(n_features_to_select=4).fit(X, Y)
    order = np.argsort(alone.ranking_)[:4]
    assert selected.features == X.columns[order].tolist()
    assert isinstance(selected.table, pd.DataFrame)
    assert selected.table["rank"].tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(selected.table["score"], alone.scores_[order])
    for c, label in enumerate(alone.classes_):
        np.testing.assert_array_equal(selected.table[f"coefficient_{label}"], alone.coef_[c, order])
    assert "meaning" not in selected.table  # which would be the same sentence in every row
    assert selected.selector.score_meaning == alone.score_meaning


def test_auto_is_the_search_around_the_method():
    selected = select(X, Y)
    search = SelectorCV(RidgeForwardSelector()).fit(X, Y)
    assert len(selected.features) == search.best_k_
    assert selected.accuracy == search.best_score_
    np.testing.assert_array_equal(selected.selector.predict(X), search.predict(X))
    assert "coefficient_0" in selected.table
    assert selected.selector.score_meaning == RidgeForwardSelector().score_meaning


@pytest.mark.long("many fits to full accuracy")
def test_one_rule_by_default_and_any_other_by_name(tmp_path):
    rules = (None, "fewest", "best", "median", "one_se", "elbow")
    found = {rule: select(X, Y, rule=rule) for rule in rules}
    kept = found[None].selector.k_by_rule_
    assert {rule: len(one.features) for rule, one in found.items() if rule} == kept
    assert len(found[None].features) == kept["fewest"]
    assert select(X, Y, method=SelectorCV(rule="best")).selector.rule == "best"
    with pytest.raises(ValueError, match="rule must be"):
        select(X, Y, rule="two_se")
    with pytest.raises(ValueError, match='is for k="auto", where it finds the number; got k=3'):
        select(X, Y, k=3, rule="one_se")


@pytest.mark.long("builds a whole page")
def test_a_page_says_why_so_many_features(tmp_path):
    pytest.importorskip("jinja2")
    selected = select(X, Y, rule="one_se")
    selected.report(tmp_path / "page.html")
    page = unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    search = selected.selector
    said = " ".join(search.summary().split())
    assert f"Number of features, by SelectorCV: {said}" in page
    at = search.ks_ == search.best_k_
    searching = search.cv_results_["mean_test_score"][at][0]
    assert said.startswith(f"Kept: {len(selected.features)} features, by the rule 'one_se'; ")
    assert f"(accuracy {100 * searching:.1f} % and " in said
    assert f"on them: accuracy {100 * search.kept_scores_.mean():.1f} %" in said
    assert selected.accuracy == search.kept_scores_.mean()


def test_accuracy_of_a_given_number_chooses_anew_in_every_fold():
    selected = select(X, Y, k=3)
    search = SelectorCV(RidgeForwardSelector(), ks=[3], n_repeats=2).fit(X, Y)
    assert selected.accuracy == search.best_score_


def test_names_classes_and_objects_mean_the_same_method():
    for method in ("f_statistic", "FStatisticSelector", FStatisticSelector, FStatisticSelector()):
        selected = select(X, Y, k=2, method=method)
        assert selected.features == ["flavanoids", "proline"]
        assert {"p_value", "p_value_fdr"} <= set(selected.table.columns)
    assert select(X, Y, k=2, method="ridge-forward", ridge=0.5).selector.ridge == 0.5


def test_given_selectors_stay_as_they_are():
    mine = RidgeForwardSelector(5)
    select(X, Y, k=2, method=mine)
    assert mine.n_features_to_select == 5
    assert not hasattr(mine, "support_")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"k": "many"}, ValueError, 'k must be a number, a fraction, "auto", "fdr=0.1" or None'),
        ({"k": True}, ValueError, "k must be a number"),
        ({"k": 99}, ValueError, "99"),
        ({"method": "ridge-foward"}, ValueError, "did you mean 'ridge-forward'"),
        ({"method": 3}, TypeError, "a method must be a name, a selector or model with fit"),
        ({"n_features_to_select": 3}, ValueError, "use k"),
        ({"ridg": 3}, ValueError, "did you mean ridge"),
        ({"method": SelectorCV(), "k": 3}, ValueError, "finds the number of features itself"),
    ],
)
def test_bad_arguments_are_refused_in_words(arguments, error, said):
    with pytest.raises(error, match=re.escape(said)):
        select(X, Y, **arguments)


def test_substitutes_are_those_left_out():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 4))
    values[:, 3] = values[:, 1] + 0.01 * rng.standard_normal(60)
    frame = pd.DataFrame(values, columns=["a", "b", "c", "d"])
    selected = select(frame, values[:, 1] > 0, k=1, method="fisher")
    (kept,) = selected.features
    assert selected.table["substitutes"][0] == f"{'d' if kept == 'b' else 'b'} (1.00)"
    wider = selected.selector.at(4).to_frame()
    assert wider["substitutes"].tolist() == [""] * 4


def test_plain_arrays_give_pandas_and_without_it_columns(monkeypatch):
    selected = select(X.to_numpy(), Y, k=2, method="f-statistic")
    assert selected.features == ["x6", "x12"]
    assert isinstance(selected.table, pd.DataFrame)
    monkeypatch.setattr("sparsieve.selectors.ranked.available", lambda name: None)
    table = selected.table
    assert isinstance(table, dict)
    assert table["feature"].tolist() == ["x6", "x12"]


@pytest.mark.needs_sklearn(
    "1.7", "scikit-learn 1.6 reads polars by a protocol that new versions of polars dropped"
)
def test_polars_in_polars_out():
    polars = pytest.importorskip("polars")
    table = select(polars.from_pandas(X), Y, k=2, method="f-statistic").table
    assert isinstance(table, polars.DataFrame)
    assert table["feature"].to_list() == ["flavanoids", "proline"]
    assert frame_library(X) == "pandas"
    assert frame_library(np.zeros(3)) is None


def test_leaks_are_said_where_a_selection_is_shown():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 5))
    X[:, 2] = y
    said = "x2 alone predicts the target perfectly. Possible leak: was it known before the outcome?"
    found = select(X, y, k=2)
    assert repr(found).startswith(f"note: {said}\n")
    assert said in found._repr_html_()
    frame = pd.DataFrame(X, columns=[*"ab", "death", *"cd"])
    assert select(frame, y, k=2).leaks == [said.replace("x2", "death")]
    assert select(X[:, [0, 1, 3]], y, k=2).leaks == []
    assert select(np.asarray(X).view(np.memmap), y, k=2).leaks == []  # would have to be read
    assert select(X, None, k=2, method="laplacian-score").leaks == []


@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_is_said_first_and_little_of_it_kept():
    noise = np.random.default_rng(1).normal(size=(100, 200))
    with pytest.warns(UserWarning, match="No linear model of the selected features predicts"):
        selected = select(noise, np.arange(100) % 2)
    assert len(selected.features) <= 5
    kept = f"{len(selected.features)} of 200"
    assert re.match(f"No linear model of the .*\n{kept}", str(selected))
    assert selected._repr_html_().index(
        "the selected features predicts better"
    ) < selected._repr_html_().index("of 200")
    assert selected.selector.summary().startswith(
        "No linear model of the selected features predicts better"
    )
    assert select(X, Y).nothing_found == ""


@pytest.mark.parametrize("name", list(sparsieve.all_selectors()))
def test_every_selector_has_a_table(name):
    cls = sparsieve.all_selectors()[name]
    selector = cls(n_subsamples=4) if name == "StabilitySelection" else cls()
    two = (Y < 2).to_numpy()
    fitted = selector.fit(X[two], Y[two])
    kept, everything = fitted.to_frame(), fitted.to_frame(all_features=True)
    assert len(kept) == fitted.support_.sum()
    assert everything["rank"].tolist() == list(range(1, 14))
    assert everything["selected"].sum() == len(kept)
    named = dict(zip(everything["feature"], everything["score"], strict=True))
    np.testing.assert_array_equal([named[c] for c in X.columns], fitted.scores_)


def test_the_notebook_view_shows_bars_accuracy_and_escapes():
    named = X.rename(columns={"proline": "<script>proline"})
    html = select(named, Y, k=3)._repr_html_()
    assert "&lt;script&gt;proline" in html
    assert "<script>" not in html
    assert "width: 100.0%" in html
    assert re.search(r"accuracy 9\d\.\d % \(95 % interval 8\d\.\d % to 9\d\.\d %\)", html)
    Z, z = make_regression(60, 8, n_informative=2, random_state=0)
    assert "R² 0." in select(Z, z, k=2)._repr_html_()
    few = select(X[57:61], Y[57:61], k=1)._repr_html_()
    assert "4 samples are too few" in few


@pytest.mark.long("builds a whole page")
def test_report_and_plot(tmp_path):
    pytest.importorskip("jinja2")
    selected = select(X, Y, k=2)
    selected.report(tmp_path / "page.html")
    assert "proline" in (tmp_path / "page.html").read_text()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert selected.plot("ranking").names[:2] == selected.features


# -- what the command line asks for too --------------------------------------------------------


def test_task_says_how_y_is_read():
    X, _ = load_wine(return_X_y=True)
    doses = np.arange(len(X))
    selected = sparsieve.select(X, doses % 30, 3, task="classification", check=False)
    assert (selected.task, len(selected.selector.classes_)) == ("classification", 30)
    assert sparsieve.select(X, doses, 3, task="regression", check=False).task == "regression"
    with pytest.raises(ValueError, match="FisherSelector selects for class labels only"):
        sparsieve.select(X, doses, 3, "fisher", task="regression")
    with pytest.raises(ValueError, match="task must be one of"):
        sparsieve.select(X, doses, 3, task="ranking")


def test_names_of_plain_arrays():
    X, y = load_wine(return_X_y=True)
    names = [f"gene{j}" for j in range(X.shape[1])]
    selected = sparsieve.select(X, y, 3, feature_names=names, always_keep=["gene4"], check=False)
    assert "gene4" in selected.features
    X[7, 5] = np.nan
    with pytest.raises(ValueError, match="gene5"):
        sparsieve.select(X, y, 3, feature_names=names)


def test_permutations_and_certificate_are_those_of_the_method():
    X, y = load_wine(return_X_y=True)
    selected = sparsieve.select(X, y, 3, permutations=5, certify=True, check=False)
    assert selected.null.n_repeats == 5
    proof = sparsieve.RidgeForwardSelector(3).fit(X, y).certify(X, y)
    np.testing.assert_array_equal(selected.certificate.gap, proof.gap)
    found = sparsieve.select(X, y, certify=True)
    assert found.certificate.n_features.tolist() == list(range(1, len(found.features) + 1))
    plain = sparsieve.select(X, y, 3, check=False)
    assert (plain.null, plain.certificate, plain.interrupted) == (None, None, False)
    with pytest.raises(ValueError, match=r"nothing can be proven about .* FisherSelector"):
        sparsieve.select(X, y, 3, "fisher", certify=True)


def test_an_interrupted_search_returns_the_best_so_far(monkeypatch):
    X, y = load_wine(return_X_y=True)
    fit = sparsieve.L20Selector.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(sparsieve.L20Selector, "fit", interrupted)
    selected = sparsieve.select(X, y, 3, "l20", permutations=5)
    assert (selected.interrupted, selected.null, len(selected.features)) == (True, None, 3)


def test_oddities_are_what_diagnose_says():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X["copy"] = y
    selected = sparsieve.select(X, y, 3, check=False)
    assert any("copy" in sentence for sentence in selected.oddities)
    assert sparsieve.select(X, None, 3, "inf-fs").oddities == []


def test_scores_that_rise_are_said_to_be_in_the_order_added():
    rng = np.random.default_rng(0)
    common, rare = rng.normal(size=(2, 80))
    X = np.column_stack([common + 0.6 * rare, common, rng.normal(size=80)])  # only both tell
    for y, rises in ((rare, True), (common, False)):
        selected = select(X, y, k=2, task="regression", ridge=1e-4, check=False)
        assert (np.diff(selected.columns["score"]) > 0).any() == rises
        said = about_scores(selected.method, ranked_features(selected.method), None, "feature")
        assert ("Listed in the order added, so scores may rise." in said) == rises


@pytest.mark.filterwarnings("ignore")
def test_what_is_printed_names_the_number_kept_and_the_one_with_the_highest_mean():
    """Without what is always in the model, as the line above it counts."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((90, 12)), columns=list("abcdefghijkl"))
    y = frame.a + 0.8 * frame.b + 0.15 * (frame.c + frame.d) + rng.standard_normal(90)
    for covariates, n_always in ((None, 0), (["k"], 1)):
        selected = select(frame, y, covariates=covariates, rule="one_se")
        kept = len(selected.features)
        top = selected.selector.k_by_rule_["best"] - n_always
        assert kept == selected.selector.best_k_ - n_always < top
        sentence = rf"{kept} features? do(es)? as well as {top} \(0\.\d+ and 0\.\d+\)\."
        assert re.fullmatch(sentence, selected.as_well)
        assert selected.as_well in str(selected).split("\n")
        assert selected.as_well in selected._repr_html_()
    assert select(frame, y, k=2, check=False).as_well == ""
