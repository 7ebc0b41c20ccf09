import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import (
    accuracy_score,
    fbeta_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_squared_error,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsieve import FisherSelector, RidgeForwardSelector, SelectorCV, compare, select
from sparsieve.meta.guess import gain_without_features
from sparsieve.meta.held_out import held_out_check
from sparsieve.scoring import accuracy_curve, tune
from sparsieve.scoring.metrics import METRICS, REGRESSION_METRICS, gain
from sparsieve.scoring.ridge_path import default_estimator
from sparsieve.scoring.scorers import one_score, resolve_scores

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::3, :12], Y[::3]
NAMED = np.where(Y == 1, "good", "bad")
FOLDS = list(StratifiedKFold(3).split(X, Y))
# The third fold tests on one class alone.
GAP = [*FOLDS[:2], (np.arange(60), 60 + np.flatnonzero(Y[60:] == 1))]


def widest_margin(model, X, y):
    return float(np.abs(model.decision_function(X)).max())


def f2(truth, prediction):
    return fbeta_score(truth, prediction, beta=2)


def by_hand(model, scorer, y=Y, k=3, folds=FOLDS, scaled=True):
    """The score on every fold in plain scikit-learn."""
    found = []
    for train, test in folds:
        kept = FisherSelector(k).fit(X[train], y[train]).get_support()
        steps = make_pipeline(StandardScaler(), model) if scaled else model
        fitted = steps.fit(X[train][:, kept], y[train])
        found.append(scorer(fitted, X[test][:, kept], y[test]))
    return np.array(found)


def rows_of(found):
    return found.table.to_dict("records")


# -- what scoring stands for -----------------------------------------------------------------


def test_the_forms_of_scoring():
    one = resolve_scores("neg_log_loss", "classification")["log_loss"]
    assert (one.asked, one.title, one.lower_is_better) == ("neg_log_loss", "log loss", True)
    assert one.label == "log loss (lower is better)"
    assert list(resolve_scores(None, "regression")) == ["r2", "mae", "spearman"]
    assert list(resolve_scores(("roc_auc", widest_margin), "")) == ["roc_auc", "widest_margin"]
    mine = resolve_scores({"mine": make_scorer(f2), "theirs": "mcc"}, "classification")
    assert [score.asked for score in mine.values()] == ["mine", "mcc"]
    error = one_score(make_scorer(mean_squared_error, greater_is_better=False), Ridge())
    assert error.lower_is_better
    assert error.name == "mean_squared_error"
    assert error.turned(-2.0) == 2.0
    assert one_score(None, Ridge()).title == "score"


@pytest.mark.parametrize(
    ("scoring", "error", "sentence"),
    [
        ("roc_acu", ValueError, r"'roc_acu' is unknown \(did you mean 'roc_auc'\?\); give a name"),
        ("nothing like it", ValueError, "is unknown; give a name of sklearn.metrics.get_scorer"),
        (3, TypeError, "scoring must be a name .* got 3"),
        ([], ValueError, "scoring is empty"),
        (["accuracy", "accuracy"], ValueError, "names 'accuracy' twice"),
        (accuracy_score, ValueError, r"give make_scorer\(accuracy_score\) instead"),
    ],
)
def test_one_sentence_for_what_is_no_score(scoring, error, sentence):
    with pytest.raises(error, match=sentence):
        resolve_scores(scoring, "classification")


@pytest.mark.parametrize(
    ("scoring", "y", "sentence"),
    [
        ("roc_auc", "wine", "roc_auc compares two classes, but y has 3; use roc_auc_ovr"),
        ("f1", "wine", "f1 compares two classes, but y has 3; use f1_macro"),
        ("f1", "named", r"use f1_macro, or give make_scorer\(f1_score, pos_label='good'\)"),
        ("r2", "named", "r2 is a score for numbers, but the target holds classes; use accuracy"),
        ("accuracy", "numbers", "accuracy is a score for classes, but the target holds numbers"),
        (["accuracy", "mcc"], "named", "must be one score here"),
    ],
)
def test_targets_that_a_score_is_not_for(scoring, y, sentence):
    if y == "named":
        data = X, NAMED
    else:
        data = (load_wine if y == "wine" else load_diabetes)(return_X_y=True)
    if y == "numbers":
        data = data[0], data[1] + 0.5
    with pytest.raises(ValueError, match=sentence):
        SelectorCV(ks=[2], cv=2, n_repeats=1, scoring=scoring).fit(*data)
    if isinstance(scoring, str):
        with pytest.raises(ValueError, match=sentence):
            compare(*data, ["ridge-forward"], ks=[2], cv=2, n_repeats=1, scoring=scoring)


def test_our_own_metrics_are_those_of_scikit_learn(rng):
    names = {"mcc": "matthews_corrcoef", "f1": "f1_macro", "mae": "neg_mean_absolute_error"}
    of_numbers = set(REGRESSION_METRICS) - {"deviance_explained"}  # which is for counts
    for task, metrics in (("classification", METRICS), ("regression", of_numbers)):
        is_classes = task == "classification"
        y = rng.integers(0, 3, 60) if is_classes else rng.standard_normal(60)
        A = rng.standard_normal((60, 4))
        model = (LogisticRegression() if is_classes else Ridge()).fit(A[:40], y[:40])
        for name, score in resolve_scores(list(metrics), task, short_names=True).items():
            assert score.own == name
            if name != "spearman":
                theirs = get_scorer(names.get(name, name))(model, A[40:], y[40:])
                assert score.turned(score.measured(model, A[40:], y[40:])[0]) == theirs
            curve = accuracy_curve(
                RidgeForwardSelector(4), A[:40], y[:40], A[40:], y[40:],
                ks=[4], task=task, scoring=score, zscore=False,
                classifiers=["softmax" if is_classes else "ridge"],
            )  # fmt: skip
            value = score.measured(model, A[40:], y[40:])[0]
            assert curve.scores[0][name] == pytest.approx(value, abs=1e-6)
            assert score.turned(value) == gain(name, value)


def test_f1_is_scikit_learns_but_in_curves_and_studies():
    fitted = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X[:90], Y[:90])
    parts = fitted, X[90:], Y[90:]
    assert resolve_scores("f1", "")["f1"].measured(*parts)[0] == get_scorer("f1")(*parts)
    macro = resolve_scores("f1", "", short_names=True)["f1"].measured(*parts)[0]
    assert macro == get_scorer("f1_macro")(*parts) != get_scorer("f1")(*parts)


def test_values_carry_their_digits():
    shown = {
        name: score.shown(0.12345)
        for name, score in resolve_scores(["accuracy", "roc_auc", "neg_log_loss"], "").items()
    }
    assert shown == {"accuracy": "12.3 %", "roc_auc": "0.123", "log_loss": "0.123"}
    error = resolve_scores("neg_mean_squared_error", "")["mean_squared_error"]
    values = (0.0, 0.001234, 45.04, 123.4, 2859.7)
    assert [error.shown(v) for v in values] == ["0.00", "0.00123", "45.0", "123", "2,860"]


# -- comparisons ------------------------------------------------------------------------------

SOFTMAX = LogisticRegression(tol=1e-9, max_iter=10000)
EVENED = LogisticRegression(tol=1e-9, max_iter=10000, class_weight="balanced")
SCORES = {
    "roc_auc": (SOFTMAX, get_scorer("roc_auc")),
    "matthews_corrcoef": (EVENED, get_scorer("matthews_corrcoef")),
    "neg_log_loss": (SOFTMAX, get_scorer("neg_log_loss")),
    "neg_brier_score": (SOFTMAX, get_scorer("neg_brier_score")),
    widest_margin: (SOFTMAX, widest_margin),
    make_scorer(f2): (SOFTMAX, make_scorer(f2)),
}


@pytest.mark.parametrize("scoring", SCORES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_compare_scores_as_a_plain_loop_does(scoring):
    model, scorer = SCORES[scoring]
    found = compare(X, Y, ["fisher"], ks=[3], cv=FOLDS, scoring=scoring, max_correlation=None)
    wanted = found.score.turned(by_hand(model, scorer))
    np.testing.assert_allclose(found.methods["fisher"].scores[found.metric][0], wanted, rtol=1e-4)
    assert rows_of(found)[0][found.metric] == pytest.approx(wanted.mean(), rel=1e-4)
    assert found.model == "softmax"


def test_several_scores_are_those_of_one_at_a_time():
    asked = ["roc_auc", "accuracy", "neg_log_loss"]
    how = {"ks": [3], "cv": FOLDS, "model": "softmax"}
    found = compare(X, NAMED, ["fisher", "mrmr"], scoring=asked, **how)
    assert found.metric == "roc_auc"
    assert list(found.guess) == ["roc_auc", "accuracy", "log_loss"]
    for name, score in found.scoring.items():
        alone = compare(X, NAMED, ["fisher", "mrmr"], scoring=score.asked, **how)
        for method, result in found.methods.items():
            np.testing.assert_array_equal(result.scores[name], alone.methods[method].scores[name])
        np.testing.assert_array_equal(found.guess[name], alone.guess[name])
        np.testing.assert_array_equal(found.all_features[name], alone.all_features[name])
    first = compare(X, NAMED, ["fisher", "mrmr"], scoring="roc_auc", **how)
    assert first.verdict.sentences() == found.verdict.sentences()
    assert set(rows_of(found)[0]) > {"roc_auc", "roc_auc_se", "log_loss", "log_loss_se", "accuracy"}


def test_the_lowest_error_is_the_best_and_differences_are_losses():
    A = np.column_stack([X[:, 2], np.random.default_rng(0).standard_normal((len(Y), 3))])
    good = ("good", RidgeForwardSelector())
    bad = ("bad", RidgeForwardSelector(never_keep=[0]))
    found = compare(A, Y, [bad, good], ks=[1], cv=5, n_repeats=1, scoring="neg_log_loss")
    rows = rows_of(found)
    assert [row["method"] for row in rows] == ["good", "bad"]
    assert 0 < rows[0]["log_loss"] < rows[1]["log_loss"]
    assert rows[1]["behind_best"] == pytest.approx(rows[1]["log_loss"] - rows[0]["log_loss"])
    assert rows[0]["over_guess"] == pytest.approx(found.verdict.guess - rows[0]["log_loss"])
    assert found.verdict.predictive == ["good"]
    assert found.recommendation.startswith("Using 1 feature, good had the lowest log loss (0.")
    assert "bad scored" in found.recommendation
    assert " higher (95 % interval" in found.recommendation


def test_the_level_of_a_guess_is_that_of_a_model_without_features():
    asked = ["roc_auc", "neg_log_loss", "f1_macro", "neg_brier_score"]
    found = compare(X, Y, ["fisher"], ks=[2], cv=FOLDS, scoring=asked)
    for score in found.scoring.values():
        wanted = [
            get_scorer(score.asked)(
                DummyClassifier(strategy="prior").fit(X[train], Y[train]), X[test], Y[test]
            )
            for train, test in FOLDS
        ]
        np.testing.assert_allclose(score.turned(found.guess[score.name]), wanted)
        level = gain_without_features(score, Y, FOLDS, "classification")
        assert level == pytest.approx(np.mean(wanted))
    np.testing.assert_array_equal(found.guess["roc_auc"], 0.5)
    prior = np.mean([log_loss(Y[test], [[1 - Y[a].mean(), Y[a].mean()]] * len(test))
                     for a, test in FOLDS])  # fmt: skip
    assert found.guess["log_loss"].mean() == pytest.approx(prior)


def test_numbers_and_several_outputs():
    A, b = load_diabetes(return_X_y=True)
    A, b = A[::4], b[::4] + 0.5
    both = np.column_stack([b, A[:, 2] * 1000])
    asked = ["neg_root_mean_squared_error", "r2", "explained_variance"]
    for y in (b, both):
        found = compare(A, y, ["ridge-forward"], ks=[2], cv=3, n_repeats=1, scoring=asked)
        assert found.score.label == "root mean squared error (lower is better)"
        train, test = found.data.splits(3, 1, 0)[0]
        wanted = -get_scorer(asked[0])(DummyRegressor().fit(A[train], y[train]), A[test], y[test])
        assert found.guess["root_mean_squared_error"][0] == pytest.approx(wanted)
        assert rows_of(found)[0]["over_guess"] > 0


def test_models_without_probabilities_are_refused_in_one_sentence():
    sentence = "neg_log_loss needs class probabilities, which 'svm' does not give; use '1nn', '5nn'"
    with pytest.raises(ValueError, match=sentence):
        compare(X, Y, ["fisher"], ks=[2], scoring="neg_log_loss", model="svm")
    with pytest.raises(ValueError, match="which RidgeClassifier does not give; give another est"):
        SelectorCV(estimator=RidgeClassifier(), ks=[2], scoring="neg_log_loss").fit(X, Y)
    with pytest.raises(ValueError, match="'seconds' is another column of the table"):
        compare(X, Y, ["fisher"], ks=[2], scoring={"seconds": "accuracy"})


# -- folds without a score --------------------------------------------------------------------


def test_a_fold_without_the_score_is_named_and_left_out():
    sentence = r"roc_auc could not be computed on fold 3 of 3 \(.+\); its mean is over the other 2"
    asked = ["roc_auc", "accuracy"]
    found = compare(X, Y, ["fisher"], ks=[3], cv=GAP, scoring=asked, max_correlation=None)
    (note,) = found.notes
    assert note.startswith("roc_auc could not be computed on fold 3 of 3 (")
    wanted = by_hand(SOFTMAX, get_scorer("roc_auc"), folds=GAP[:2])
    assert rows_of(found)[0]["roc_auc"] == pytest.approx(wanted.mean())
    assert found.methods["fisher"].scores["accuracy"].shape == (1, 3)
    with pytest.warns(UserWarning, match=sentence):
        search = SelectorCV(FisherSelector(), ks=[3], cv=GAP, scoring="roc_auc").fit(X, Y)
    wanted = by_hand(default_estimator(True, len(Y)), get_scorer("roc_auc"), folds=GAP[:2],
                     scaled=False)  # fmt: skip
    assert search.best_score_ == pytest.approx(wanted.mean())
    assert np.isnan(search.cv_results_["split2_test_score"][0])


def broken(model, X, y):
    raise KeyError("no such thing")


def test_a_score_that_always_fails_says_why_and_spoils_no_other():
    with pytest.raises(ValueError, match="broken could not be computed on any of the 3 folds: 'no"):
        compare(X, Y, ["fisher"], ks=[3], cv=FOLDS, scoring=[broken, "accuracy"])
    with pytest.raises(ValueError, match="broken could not be computed on any of the 3 folds: 'no"):
        SelectorCV(ks=[3], cv=FOLDS, scoring=broken).fit(X, Y)
    with pytest.raises(ValueError, match="it returned a dict instead of a number"):
        SelectorCV(ks=[3], cv=FOLDS, scoring=lambda *_: {}).fit(X, Y)
    found = compare(X, Y, ["fisher"], ks=[3], cv=FOLDS, scoring=["accuracy", broken])
    alone = compare(X, Y, ["fisher"], ks=[3], cv=FOLDS, scoring="accuracy")
    assert rows_of(found)[0]["accuracy"] == rows_of(alone)[0]["accuracy"]
    assert np.isnan(rows_of(found)[0]["broken"])
    assert "broken could not be computed on any of the 3 folds" in found.notes[0]


def test_where_a_guess_has_no_score_the_search_goes_on():
    search = SelectorCV(FisherSelector(), ks=[3], cv=FOLDS, scoring=widest_margin).fit(X, Y)
    assert search.guess_ is None  # a model without features has no decision values
    found = compare(X, Y, ["fisher"], ks=[3], cv=FOLDS, scoring=widest_margin)
    assert np.isnan(rows_of(found)[0]["over_guess"])
    assert rows_of(found)[0]["better_than_guess"]


# -- searches and checks ----------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "matthews_corrcoef"])
def test_a_search_scores_as_a_plain_loop_does(scoring):
    search = SelectorCV(FisherSelector(), ks=[1, 3], cv=FOLDS, scoring=scoring).fit(X, NAMED)
    evened = scoring == "matthews_corrcoef"  # in which every class counts the same
    model = default_estimator("classification", len(Y), balanced=evened)
    assert hasattr(search.estimator_, "predict_proba")
    wanted = by_hand(model, get_scorer(scoring), y=NAMED, scaled=False)
    got = [search.cv_results_[f"split{i}_test_score"][1] for i in range(3)]
    np.testing.assert_allclose(got, wanted)
    assert search.beats_guess_
    dummies = [DummyClassifier(strategy="prior").fit(X[a], NAMED[a]) for a, _ in FOLDS]
    levels = [
        get_scorer(scoring)(d, X[b], NAMED[b]) for d, (_, b) in zip(dummies, FOLDS, strict=True)
    ]
    assert search.guess_ == pytest.approx(np.mean(levels))
    assert search.score(X, NAMED) == get_scorer(scoring)(
        search.estimator_, X[:, search.get_support()], NAMED
    )
    text = " ".join(search.summary().split())
    assert text.startswith(f"Kept: {search.best_k_} feature")
    assert ("the best number that was tried (log loss 0." in text) == (scoring == "neg_log_loss")
    assert "that searches" not in text


def test_weights_reach_the_scorer_and_the_guess():
    from sklearn import config_context

    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(Y))
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=True)
        search = SelectorCV(ks=[3], cv=FOLDS, scoring=scorer).fit(X, Y, sample_weight=weights)
    levels = [
        -log_loss(Y[b], [[1 - Y[a].mean(), Y[a].mean()]] * len(b), sample_weight=weights[b])
        for a, b in FOLDS
    ]
    assert search.guess_ == pytest.approx(np.mean(levels))


def test_the_check_of_a_selection_is_in_the_units_of_its_score():
    alike = {"k": 3, "max_correlation": None}
    selected = select(X, NAMED, method="fisher", scoring="neg_log_loss", **alike)
    check = held_out_check(
        FisherSelector(3), X, NAMED, n_kept=3, task="classification", scoring="neg_log_loss"
    )
    assert selected.check == check
    assert 0 < check.low < check.score < check.high < check.guess
    assert check.beats_guess
    said = check.sentence()
    assert said.startswith(f"On held-out samples: log loss {check.score:#.3g} (lower is better, 95")
    assert check.as_dict()["metric"] == "log_loss"
    search = SelectorCV(FisherSelector(), ks=[2, 4], cv=FOLDS)
    found = select(X, NAMED, "auto", method=search, scoring="roc_auc")
    assert found.selector.scoring == "roc_auc"
    assert found.check.measure.title == "AUC"
    assert found.check.high <= 1.0
    with pytest.raises(ValueError, match="'auc' is unknown"):
        select(X, NAMED, k=3, scoring="auc")


def test_where_no_score_beats_a_guess_the_sentence_is_in_its_units():
    rng = np.random.default_rng(1)
    noise, y = rng.standard_normal((60, 8)), np.arange(60) % 2
    search = SelectorCV(ks=[2], n_repeats=1, scoring="neg_log_loss").fit(noise, y)
    assert not search.beats_guess_
    assert "a guess without features (log loss 0.693)" in search.nothing_found


def test_a_curve_of_scores_that_need_probabilities():
    parts = X[:90], NAMED[:90], X[90:], NAMED[90:]
    curve = accuracy_curve(FisherSelector(), *parts, ks=[3], scoring=["neg_log_loss", "roc_auc"])
    assert {row["classifier"] for row in curve.scores} == {"1nn", "5nn", "softmax"}
    kept = FisherSelector(3).fit(X[:90], NAMED[:90]).get_support()
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6, max_iter=1000))
    model.fit(X[:90][:, kept], NAMED[:90])
    (row,) = [row for row in curve.scores if row["classifier"] == "softmax"]
    for name, asked in (("log_loss", "neg_log_loss"), ("roc_auc", "roc_auc")):
        value = get_scorer(asked)(model, X[90:][:, kept], NAMED[90:])
        assert row[name] == pytest.approx(abs(value), rel=1e-5)
    tuned = tune(RidgeForwardSelector(), {"never_keep": [list(range(11)), []]}, X, Y, ks=[1],
                 scoring="neg_log_loss", classifiers=["softmax"])  # fmt: skip
    assert tuned.parameters == {"never_keep": []}
    assert max(tuned.scores) < 0


def test_pages_ask_the_score_for_its_name(tmp_path):
    pytest.importorskip("vl_convert")
    found = compare(
        X, Y, ["fisher", "mrmr"], ks=[1, 3], cv=FOLDS, scoring=["neg_log_loss", make_scorer(f2)]
    )
    assert "log loss (lower is better)" in found._repr_html_()
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "log loss (lower is better)" in page
    assert "scoring=[" in page
    selected = select(X, Y, k=3, method="fisher", scoring="neg_log_loss")
    selected.report(tmp_path / "selected.html")
    said = (tmp_path / "selected.html").read_text()
    assert "a softmax regression model had a log loss of" in said
