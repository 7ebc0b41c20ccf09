"""Methods side by side: the numbers against plain loops, and what may be said of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import FisherSelector, FStatisticSelector, L0MPMSelector, SelectorCV, compare
from sparsieve.scoring import split_difference
from sparsieve.selectors.base import BaseSelector, FeatureScores

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_wine(return_X_y=True, as_frame=True)
FAST = ["f-statistic", "fisher", "mrmr"]
FOLDS = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=5)


@pytest.fixture(scope="module")
def wine():
    return compare(X, Y, FAST, ks=[1, 3, 6], cv=4, n_repeats=2, random_state=5)


def test_a_curve_is_that_of_a_plain_loop(wine):
    values = X.to_numpy()
    for row, k in enumerate((1, 3, 6)):
        wanted = []
        for train, test in FOLDS.split(values, Y):
            kept = FStatisticSelector(k).fit(values[train], Y[train]).get_support()
            model = RidgeClassifier(alpha=0.1 * len(train))
            if k == wine.k:  # where another model is scored than the one that searches
                model = LogisticRegression(tol=1e-9, max_iter=10000)
            model = make_pipeline(StandardScaler(), model)
            model.fit(values[train][:, kept], Y[train])
            wanted.append(accuracy_score(Y[test], model.predict(values[test][:, kept])))
        result = wine.methods["f-statistic"]
        found = (
            result.split_scores("accuracy", row) if k == wine.k else result.scores["accuracy"][row]
        )
        np.testing.assert_allclose(found, wanted)
    guess = [np.mean(Y[test] == Y[train].mode()[0]) for train, test in FOLDS.split(values, Y)]
    np.testing.assert_allclose(wine.guess["accuracy"], guess)


def test_splits_can_be_given():
    """As a splitter or as pairs, with the scores of the same folds made by number."""
    arguments = {"ks": [1, 3], "n_repeats": 1}
    numbered = compare(X, Y, FAST, cv=3, random_state=5, **arguments)
    splits = numbered.data.splits(3, 1, 5)
    pairs = compare(X, Y, FAST, cv=splits, **arguments)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=5)
    for given in (pairs, compare(X, Y, FAST, cv=folds, **arguments)):
        for name in FAST:
            scores = given.methods[name].scores["accuracy"]
            np.testing.assert_array_equal(scores, numbered.methods[name].scores["accuracy"])
        assert (given.n_folds, given.n_repeats, given.random_state) == (3, 1, None)
    assert numbered.random_state == 5
    state = np.random.RandomState(2)
    drawn = compare(X, Y, FAST, cv=2, random_state=state, **arguments).random_state
    assert drawn == np.random.RandomState(2).randint(2**31 - 1)


def test_regression_is_a_plain_loop_too():
    Z, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match="is treated as numeric"):
        found = compare(Z, y, ["mrmr", "ridge-forward"], ks=[2, 4], cv=3, n_repeats=1)
    assert (found.metric, found.model, found.data.task) == ("r2", "ridge", "regression")
    for j, (train, test) in enumerate(found.data.splits(3, 1, 0)):
        selector = sparsieve.RidgeForwardSelector(4, task="regression").fit(Z[train], y[train])
        for row, k in enumerate((2, 4)):
            kept = selector.at(k).get_support()
            model = make_pipeline(StandardScaler(), Ridge(float(k)))
            model.fit(Z[train][:, kept], y[train])
            wanted = r2_score(y[test], model.predict(Z[test][:, kept]))
            assert found.methods["ridge-forward"].scores["r2"][row, j] == pytest.approx(wanted)


def test_consensus_counted_by_hand(wine):
    votes, fits = dict.fromkeys(X.columns, 0), dict.fromkeys(X.columns, 0)
    for name in FAST:
        selector = sparsieve.registry.find_selector(name)(wine.k)
        for feature in X.columns[clone(selector).fit(X, Y).get_support()]:
            votes[feature] += 1
        for train, _ in FOLDS.split(X, Y):
            part = clone(selector).fit(X.iloc[train], Y[train])
            for feature in X.columns[part.get_support()]:
                fits[feature] += 1
    table = wine.consensus
    assert isinstance(table, pd.DataFrame)
    assert dict(zip(table["feature"], table["methods"], strict=True)) == {
        f: votes[f] for f in votes if fits[f] or votes[f]
    }
    for feature, share in zip(table["feature"], table["share"], strict=True):
        assert share == pytest.approx(fits[feature] / 24)
    assert table["methods"].is_monotonic_decreasing
    together = {f for methods, features in wine.combinations for f in features if methods}
    assert together == {f for f, n in votes.items() if n}
    assert wine.shared[0, 0] == wine.k
    assert wine.correlations[0, 1] > 0.9  # both look at one feature at a time


def test_standard_errors_allow_for_shared_training_samples():
    first, second = np.array([0.9, 0.8, 0.85, 0.95]), np.array([0.7, 0.75, 0.8, 0.8])
    found = split_difference(first, second, 1 / 3)
    differences = first - second
    assert found.error == pytest.approx(differences.std(ddof=1) * np.sqrt(1 / 4 + 1 / 3))
    assert split_difference(first, first, 1 / 3) == (0.0, 0.0, 0.5)
    assert split_difference(first, first - 0.1, 1 / 3).p_value == 0.0


def test_the_best_method_is_named_at_its_best_number():
    """A method that puts noise first moves the number that all are compared at."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((160, 24))
    y = (Z[:, 0] + Z[:, 1] + Z[:, 2] + 2.0 * rng.standard_normal(160) > 0).astype(int)
    methods = [("first", lambda X, y: -np.arange(24.0)), ("last", lambda X, y: np.arange(24.0))]
    how = {"ks": [3, 22], "cv": 6, "n_repeats": 1, "scoring": "roc_auc"}
    found = compare(Z, y, methods, rule="best", **how)
    means = found.methods["first"].scores["roc_auc"].mean(axis=1)
    assert means[0] > means[1] + 0.02
    assert found.k == 22
    assert found.recommendation.startswith(
        f"first had the highest AUC ({means[0]:.3f} with 3 features); using 22 features, it again "
        f"had the highest AUC ({means[1]:.3f})"
    )
    alike = compare(Z, y, [methods[0], ("same", methods[0][1])], **how)
    assert alike.verdict.peak is None
    assert alike.recommendation.startswith("Using 3 features, both methods had the same AUC")


def test_too_few_groups_are_called_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(5), 20)
    how = {"groups": groups, "ks": [1], "cv": 2, "n_repeats": 1}
    found = compare(rng.normal(size=(100, 4)), groups % 2, ["fisher", "f-statistic"], **how)
    assert "5 groups are too few to tell." in found.recommendation


def test_no_winner_within_the_error_and_losers_beyond_it(rng):
    noise = rng.standard_normal((120, 30))
    y = np.arange(120) % 2
    noise[:, 7] += 6 * y
    worst = ("worst", _Backwards())
    found = compare(noise, y, ["f-statistic", "fisher", worst], ks=[1], n_repeats=1)
    assert found.verdict.separable == ["worst"]
    assert found.verdict.level_with_best == ["f-statistic", "fisher"]
    assert found.recommendation.startswith(
        "Using 1 feature, f-statistic and fisher shared the highest accuracy (100 %), "
        "significantly higher than worst (p < 0.001"
    )
    lower = 100 * (1.0 - found.verdict.means["worst"])
    assert f", corrected). worst scored {lower:.1f} points lower (95 % " in found.recommendation
    assert "worst is not significantly better than a guess without features" in found.recommendation


def test_on_noise_nothing_predicts(rng):
    noise = rng.standard_normal((60, 40))
    for y in (np.arange(60) % 2, rng.standard_normal(60)):
        found = compare(noise, y, ["f-statistic", "mrmr"], ks=[2, 10], n_repeats=1)
        assert found.verdict.predictive == []
        assert found.recommendation.startswith(
            "None of the 2 methods predicted significantly better than a guess without features"
        )


def test_a_copy_of_the_target_is_found_by_everybody(rng):
    y = np.arange(60) % 2
    data = np.column_stack([rng.standard_normal((60, 6)), y])
    found = compare(data, y, FAST, ks=[1], n_repeats=1)
    assert found.consensus["feature"].tolist() == ["x6"]
    assert found.consensus["methods"].tolist() == [3]
    assert (found.table["accuracy"] == 1.0).all()
    assert (found.table["stability"] == 1.0).all()


def test_who_fails_is_left_out_and_the_others_stay():
    found = compare(X, Y, ["fisher", ("broken", _Broken())], ks=[2], cv=2, n_repeats=1)
    assert list(found.methods) == ["fisher"]
    assert found.left_out == {"broken": "ValueError: out of order"}
    assert "broken was left out: ValueError: out of order." in found.recommendation
    with pytest.raises(ValueError, match=r"every method failed: broken: .*out of order"):
        compare(X, Y, [("broken", _Broken())], ks=[2], cv=2, n_repeats=1)


def test_a_method_that_ranks_few_says_so():
    short = ("short", L0MPMSelector(delta=0.6))
    y = (Y == 0).astype(int)
    found = compare(X, y, ["fisher", short], ks=[1, 12], cv=2, n_repeats=1)
    if found.methods["short"].n_reached == 1:
        assert found.k == 1
        assert "short ranks fewer than 12 features" in found.notes[0]


@pytest.mark.long("every default method")
def test_defaults_take_the_data():
    found = compare(X, Y, ks=[2], cv=2, n_repeats=1)
    assert len(found.methods) == 6
    assert not found.left_out
    lighter = compare(sparse.csr_array(X.to_numpy()), Y, ks=[2], cv=2, n_repeats=1)
    assert list(lighter.methods) == list(found.methods)
    assert not lighter.left_out
    two = compare(X.iloc[:, :6], X.iloc[:, 6:8], ["l21", "ridge-forward"], ks=[2], n_repeats=1)
    assert two.data.task == "regression"


def test_jobs_groups_and_samples_drawn():
    groups = np.arange(len(Y)) // 3
    one = compare(X, Y, ["fisher", "mrmr"], ks=[2], cv=3, n_repeats=1, groups=groups)
    with parallel_config("threading", n_jobs=2):  # processes take seconds to start
        two = compare(X, Y, ["fisher", "mrmr"], ks=[2], cv=3, n_repeats=1, groups=groups)
    np.testing.assert_array_equal(one.table["accuracy"], two.table["accuracy"])
    for train, test in one.data.splits(3, 1, 0):
        assert not set(groups[train]) & set(groups[test])
    few = compare(X, Y, ["fisher"], ks=[2], cv=2, n_repeats=1, max_samples=60)
    assert few.notes[0].startswith("methods were compared on 60 of the 178 samples")
    seen = []
    compare(X, Y, ["fisher"], ks=[2], cv=2, n_repeats=1, on_progress=seen.append)
    assert [(p.done, p.total) for p in seen] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"methods": ["nonsense"]}, ValueError, "unknown method 'nonsense'"),
        ({"methods": []}, ValueError, "methods must be a list"),
        ({"methods": ["fisher", FisherSelector()]}, ValueError, "two methods are called 'fisher'"),
        ({"methods": [SelectorCV()]}, TypeError, "chooses the number of features itself"),
        ({"methods": [3]}, TypeError, "a method must be a name, .* got 3"),
        ({"ks": [99]}, ValueError, "ks asks for 99 features, larger than the 13"),
        ({"model": "forest"}, ValueError, "model must be one of"),
        ({"scoring": "r2"}, ValueError, "r2 is a score for numbers, but the target holds classes"),
        ({"task": "regression", "methods": ["fisher"]}, ValueError, "fisher selects for class"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
        ({"cv": [3]}, ValueError, "cv must be a number of folds"),
        ({"cv": KFold(3), "max_samples": 60}, ValueError, "set max_samples=None"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
        ({"groups": np.zeros(178)}, ValueError, "all samples are in one group"),
    ],
)
def test_one_sentence_for_what_cannot_be(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        compare(X, Y, **arguments)


def test_views(wine, monkeypatch):
    assert repr(wine).startswith("3 methods compared on 178 samples: Using ")
    assert "the highest accuracy" in repr(wine)
    assert "flavanoids" in wine._repr_html_()
    evil = X.rename(columns={X.columns[6]: "<b>bold</b>"})
    shown = compare(evil, Y, ["fisher"], ks=[3], cv=2, n_repeats=1)._repr_html_()
    assert "<b>bold</b>" not in shown
    pytest.importorskip("matplotlib")
    assert len(wine.plot().lines_) == 3
    monkeypatch.setattr("sparsieve.selectors.ranked.available", lambda name: None)
    assert [row["method"] for row in wine.table] == list(wine.verdict.means)


@pytest.mark.parametrize("method", ["ridge-forward", "f-statistic"])
@pytest.mark.parametrize("kind", ["classes", "numbers", "groups of samples"])
def test_select_and_compare_have_the_same_number(kind, method):
    """One model, one set of folds: the score of a method does not depend on who is asked."""
    y = X["color_intensity"] + 0.01 * X["ash"] if kind == "numbers" else Y
    groups = np.arange(len(Y)) // 4 if kind.startswith("groups") else None
    selected = sparsieve.select(X, y, k=3, method=method, groups=groups, check=True)
    found = compare(X, y, [method], ks=[3], groups=groups)
    assert found.table[found.metric][0] == selected.check.score == selected.accuracy
    assert found.stabilities[method].value == pytest.approx(selected.check.stability)
    if kind == "classes":  # a model of one's own sees the columns as they are
        nearest = KNeighborsClassifier()
        own = sparsieve.select(X, y, k=3, method=method, estimator=nearest, check=True)
        theirs = compare(X, y, [method], ks=[3], estimator=nearest)
        assert theirs.table["accuracy"][0] == own.accuracy
    other = compare(X, y, [method], ks=[3], groups=groups, model="5nn")
    assert other.table[found.metric][0] != selected.accuracy
    assert "5 nearest neighbours" in other.how_measured
    usual = "a ridge model" if kind == "numbers" else "a softmax regression model"
    assert usual in found.how_measured


def test_so_have_survival_times():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 5))
    times = rng.exponential(np.exp(-Z[:, 0]))
    frame = pd.DataFrame(Z, columns=list("abcde")).assign(months=times, died=rng.random(80) < 0.8)
    selected = sparsieve.select(frame, ("months", "died"), k=2, check=True)
    found = compare(frame, ("months", "died"), ["likelihood-forward"], ks=[2])
    assert found.table["concordance"][0] == selected.accuracy


def test_the_number_is_chosen_as_select_chooses_it():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((150, 25))
    y = (Z[:, :3].sum(axis=1) + rng.standard_normal(150) > 0).astype(int)
    numbers = {}
    for rule in ("median", "one_se", "best", "elbow"):
        found = compare(Z, y, ["ridge-forward"], rule=rule, n_repeats=4)
        assert found.how_chosen in found.how_measured
        search = SelectorCV(ks=found.ks, rule=rule).fit(Z, y)
        assert found.k == search.best_k_
        assert found.table["accuracy"][0] == pytest.approx(search.best_score_, rel=1e-12)
        numbers[rule] = found.k
        assert ("median of" in found.how_measured) == (rule == "median")
    assert numbers["one_se"] < numbers["best"]
    assert compare(Z, y, ["ridge-forward"], n_repeats=4).k == numbers["median"]
    with pytest.raises(ValueError, match="rule must be one of"):
        compare(Z, y, ["ridge-forward"], rule="most")


class _Backwards(BaseSelector):
    """Prefers what says least."""

    def _fit(self, data):
        scores = FStatisticSelector().fit(data.design.array, data.target.codes).scores_
        return FeatureScores(-scores, n_kept=1)


class _Broken(BaseSelector):
    def _fit(self, data):
        raise ValueError("out of order")


def test_the_fastest_is_named_only_where_the_next_one_is_visibly_slower(wine):
    def recommended(*seconds):
        took = zip(wine.methods.items(), seconds, strict=True)
        return replace(
            wine, methods={name: replace(one, seconds=s) for (name, one), s in took}
        ).recommendation

    assert "fastest" not in recommended(0.001, 0.002, 0.9)
    assert "fastest" not in recommended(10.0, 12.0, 60.0)
    assert "f-statistic is the fastest (0.5 s per fit; fisher takes 2.0 s)" in recommended(
        0.5, 2.0, 9.0
    )


def test_two_features_are_both():
    found = compare(X.iloc[:, [0, 6]], Y, ["fisher", "f-statistic"], ks=[1], cv=3, n_repeats=1)
    assert "Using both features, the same model scores" in found.recommendation
