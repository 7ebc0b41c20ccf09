"""A rare class that is told apart is not called noise, whatever the score; noise still is."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
    permutation_test_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsieve import FisherSelector, SelectorCV, compare, select
from sparsieve.scoring.models import class_votes
from sparsieve.scoring.ridge_path import default_estimator

pytestmark = pytest.mark.usefixtures("lines_only")

SHARES = (0.01, 0.02, 0.04, 0.08, 0.16)


def drawn(share, signal, seed=0, n_samples=1000):
    rng = np.random.default_rng([seed, int(1000 * share), signal])
    y = rng.permutation(np.arange(n_samples) < share * n_samples).astype(int)
    X = rng.standard_normal((n_samples, 5))
    X[:, :2] += 1.25 * signal * y[:, None]
    return X, y


def least_squares(y):
    """A model that never predicts a class that is rare enough."""
    return make_pipeline(StandardScaler(), RidgeClassifier(alpha=0.1 * len(y)))


def p_value(X, y, scoring=None):
    search = SelectorCV(FisherSelector(), ks=[5], n_repeats=1, scoring=scoring)
    return search.fit(X, y).p_value_


@pytest.mark.parametrize(
    "scoring", ["accuracy", None, "roc_auc", "average_precision", "neg_log_loss"]
)
def test_a_rare_class_is_found_where_scikit_learn_finds_it(scoring):
    """Labels of least squares are all those of the frequent class: accuracy is that of a guess."""
    X, y = drawn(0.04, True)
    model = least_squares(y) if scoring == "accuracy" else None
    how = {"ks": [2, 5], "n_repeats": 1, "scoring": scoring, "estimator": model}
    search = SelectorCV(FisherSelector(), **how).fit(X, y)
    assert search.p_value_ <= 0.01
    assert search.beats_guess_
    assert "not tested" not in search.summary()
    if scoring == "accuracy":
        assert set(search.predict(X)) == {0}
        said = " ".join(search.nothing_found.split())
        assert said.startswith("The accuracy on held-out samples, 96.0 %, is no higher than that")
        assert "the decision values of the model tell the classes apart (p < 0.001)" in said
    else:
        assert search.nothing_found == ""


@pytest.mark.parametrize("n_samples", [250, 500, 1000, 1500])
def test_the_accuracy_of_a_guess_is_no_better_to_the_last_digit(n_samples):
    """Means over folds of the same shares may differ in the 16th digit, either way."""
    X, y = drawn(0.04, True, n_samples=n_samples)
    how = {"ks": [2, 5], "scoring": "accuracy", "estimator": least_squares(y)}
    search = SelectorCV(FisherSelector(), **how).fit(X, y)
    assert search.guess_ == pytest.approx(search.best_score_, abs=1e-12)
    assert "is no higher than that of a guess" in " ".join(search.nothing_found.split())
    found = compare(X, y, ["fisher"], ks=[2], scoring="accuracy", model="ridge")
    assert "A guess without features has the same accuracy" in found.recommendation


@pytest.mark.parametrize("n_per_patient", [2, 3])
def test_a_rare_class_among_rows_of_patients_is_found(n_per_patient):
    """Few patients have a row of it, and these exchange with all others."""
    found = 0
    for seed in range(10):
        X, y = drawn(0.08, True, seed, n_samples=90)
        groups = np.arange(90) // n_per_patient
        search = SelectorCV(FisherSelector(), ks=[2], n_repeats=1).fit(X, y, groups=groups)
        found += search.p_value_ <= 0.05
    assert found >= 7


@pytest.mark.thinned(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_sample_at_a_time_is_scored_by_accuracy(n_classes):
    """A fold of one sample has no area under a curve, and nobody asked for one."""
    X, y = drawn(0.1, True, n_samples=60)
    y[np.flatnonzero(y)[:3]] = n_classes - 1
    model = default_estimator("classification", len(y))
    expected = cross_val_score(model, X, y, cv=LeaveOneOut()).mean()
    for k in (5, "auto"):
        selected = select(X, y, k, cv=LeaveOneOut(), **({"method": "fisher"} if k == 5 else {}))
        assert selected.check.measure.title == "accuracy"
        assert "is measured instead" not in str(selected)
        assert k != 5 or selected.accuracy == pytest.approx(expected)
    assert "Kept: " in selected.selector.summary()
    found = compare(X, y, ["fisher"], ks=[5], cv=LeaveOneOut())
    assert found.metric == "accuracy"
    assert found.verdict.means["fisher"] == pytest.approx(expected)
    assert select(X, y, k=2, cv=StratifiedKFold(5)).check.measure.title != "accuracy"


@pytest.mark.slow
def test_scikit_learn_agrees():
    X, y = drawn(0.02, True, n_samples=500)
    model, folds = default_estimator("classification", len(y)), StratifiedKFold(5)
    how = {"scoring": "roc_auc", "cv": folds, "n_permutations": 39, "random_state": 0}
    assert permutation_test_score(model, X, y, **how)[2] == 1 / 40
    assert p_value(X, y) <= 0.05


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1"])
def test_scores_that_count_rare_classes_have_a_model_that_predicts_them(scoring):
    X, y = drawn(0.04, True)
    search = SelectorCV(FisherSelector(), ks=[5], n_repeats=1, scoring=scoring).fit(X, y)
    assert search.best_score_ > search.guess_ + 0.15
    assert search.beats_guess_
    assert search.model_words == "softmax regression model of equally weighted classes"


def test_noise_is_said_to_be_tested_by_decision_values():
    search = SelectorCV(FisherSelector(), ks=[5], n_repeats=1, scoring="accuracy")
    said = search.fit(*drawn(0.08, False)).nothing_found
    assert "accuracy 92.0 %) at the 5 % significance level, tested by the decision values" in said


def test_every_door_gives_the_same_answer():
    """A warning that there is nothing must not stand beside an AUC of 0.9."""
    X, y = drawn(0.04, True)
    selected = select(X, y, k=2, scoring="roc_auc", check=True)
    assert selected.check.score > 0.85
    assert selected.check.beats_guess
    assert selected.check.p_value <= 0.01
    assert "not tested" not in repr(selected)
    how = {"ks": [2], "n_repeats": 1, "scoring": ["accuracy"], "model": "ridge"}
    found = compare(X, y, ["fisher", "f-statistic"], **how)
    assert found.verdict.predictive == list(found.verdict.means)
    assert "tested by the decision values of the model" in found.recommendation
    ranked = compare(X, y, ["fisher"], ks=[2], n_repeats=1, scoring="roc_auc")
    assert ranked.verdict.predictive == ["fisher"]
    assert "decision values" not in ranked.recommendation


@pytest.mark.parametrize(
    "model",
    [RidgeClassifier(), LogisticRegression(), SVC(kernel="linear"), KNeighborsClassifier(3)],
)
def test_votes_mean_the_shares_of_the_classes_over_the_training_part(model):
    """Probabilities and decision values of any model are then guesses plus what features say."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        y = np.sort(rng.integers(0, n_classes, 90) * rng.integers(0, 2, 90))
        X = rng.standard_normal((90, 3)) + y[:, None]
        votes = class_votes(model.fit(X, y), X, y, X)
        shares = np.unique(y, return_counts=True)[1] / 90
        loose = 0.05 if isinstance(model, KNeighborsClassifier) else 1e-3
        np.testing.assert_allclose(votes.mean(axis=0), shares, atol=loose)
        assert (np.corrcoef(votes[:, -1], y == y.max())[0, 1]) > 0.3


def test_a_class_that_a_training_part_lacks_gets_no_votes():
    rng = np.random.default_rng(0)
    y = np.array([0] * 20 + [1] * 20 + [2])
    X = rng.standard_normal((41, 3)) + 3.0 * y[:, None]
    search = SelectorCV(FisherSelector(), ks=[3], n_repeats=1).fit(X, y)
    assert search.p_value_ <= 0.05


@pytest.mark.slow
@pytest.mark.thinned(2)
def test_noise_is_no_rare_class():
    claims = [p_value(*drawn(0.02, False, seed, 300)) <= 0.05 for seed in range(30)]
    assert binomtest(sum(claims), len(claims), 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, "roc_auc"])
@pytest.mark.parametrize("share", SHARES)
def test_rare_classes_are_told_from_noise(share, scoring):
    """The table of benchmarks/rare_classes.py, where scikit-learn finds every such signal."""
    noise, signal = (
        sum(p_value(*drawn(share, has, seed), scoring) <= 0.05 for seed in range(40))
        for has in (False, True)
    )
    assert binomtest(noise, 40, 0.05, alternative="greater").pvalue > 0.01
    assert signal >= 0.8 * 40


def planted(share, n_samples=500, seed=0):
    """Two true features among ten."""
    rng = np.random.default_rng([seed, int(1000 * share)])
    y = rng.permutation(np.arange(n_samples) < share * n_samples)
    X = rng.standard_normal((n_samples, 10))
    X[:, 3] += 1.5 * y
    X[:, 6] += 1.2 * y
    return X, np.where(y, "fraud", "fine")


def test_with_a_rare_class_the_default_keeps_both_true_features():
    """By accuracy, which is 96 % with any features, one would do."""
    X, y = planted(0.04)
    by_labels = SelectorCV(scoring="accuracy", estimator=least_squares(y)).fit(X, y)
    assert by_labels.measure.name == "accuracy"
    selected = select(X, y)
    assert set(np.flatnonzero(selected.selector.support_)) == {3, 6}
    assert selected.check.measure.name == "roc_auc"
    assert selected.accuracy > 0.85
    assert selected.check.guess == 0.5
    said = " ".join(selected.check.sentence().split())
    assert "On held-out samples: AUC 0." in said
    assert "96 % of the samples are in one class" in said
    assert "AUC stands in for accuracy" in selected.selector.summary().replace("\n", " ")
    found = compare(X, y, ["ridge-forward"], n_repeats=4)
    assert (found.metric, found.k) == ("roc_auc", 2)
    assert list(found.scoring) == ["roc_auc", "accuracy", "balanced_accuracy"]
    assert found.table["roc_auc"][0] == selected.accuracy
    assert found.notes == [selected.check.why]


def test_what_was_asked_for_is_measured():
    X, y = planted(0.04)
    assert select(X, y, k=2, scoring="accuracy", check=True).check.measure.name == "accuracy"
    own = select(X, y, k=2, estimator=RidgeClassifier(), check=True)
    assert own.check.measure.name == "accuracy"
    assert not own.check.why
    found = compare(X, y, ["f-statistic"], ks=[2], n_repeats=1, scoring="accuracy")
    assert list(found.scoring) == ["accuracy"]


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_where_accuracy_sees_the_classes_it_stays(share):
    X, y = planted(share, 200)
    search = SelectorCV(ks=[1, 2, 3]).fit(X, y)
    assert search.measure.name == "accuracy"
    plain = SelectorCV(ks=[1, 2, 3], scoring="accuracy").fit(X, y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    assert "stands in" not in search.summary()


def test_of_several_classes_it_is_the_balanced_accuracy():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [270, 15, 15]))
    X = rng.standard_normal((300, 6))
    X[:, 1] += 2.0 * (y == 1)
    X[:, 4] += 2.0 * (y == 2)
    selected = select(X, y)
    assert set(np.flatnonzero(selected.selector.support_)) == {1, 4}
    assert selected.check.measure.name == "balanced_accuracy"
    assert set(selected.predict(X)) == {0, 1, 2}
    fixed = select(X, y, k=2, check=True)
    assert fixed.check.measure.name == "balanced_accuracy"
    np.testing.assert_array_equal(fixed.predict(X), selected.predict(X))


@pytest.mark.parametrize(("n_rare", "measured"), [(1, "accuracy"), (3, "balanced_accuracy")])
def test_a_handful_of_rare_samples_is_no_error(n_rare, measured):
    """A single one is always learnt from, and so no score of held-out samples can see it."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    search = SelectorCV(ks=[1, 2], n_repeats=1).fit(X, np.arange(60) < n_rare)
    assert search.measure.name == measured


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "f1_macro", "accuracy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_numbers_at_once_are_as_one_after_the_other(scoring, weighted):
    """The model that searches, and the one that is kept, against the same given by hand."""
    X, y = planted(0.3, 120)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 120) if weighted else None
    how = {"ks": [1, 2, 4], "n_repeats": 1, "scoring": scoring}
    fast = SelectorCV(FisherSelector(), **how).fit(X, y, sample_weight=weights)
    balanced = scoring in ("balanced_accuracy", "f1_macro")
    model = default_estimator("classification", len(y), balanced=balanced)
    slow = SelectorCV(FisherSelector(), estimator=model, **how).fit(X, y, sample_weight=weights)
    place = fast.ks_.tolist().index(fast.best_k_)
    kept = [slow.cv_results_[f"split{split}_test_score"][place] for split in range(5)]
    np.testing.assert_allclose(fast.kept_scores_, kept, rtol=1e-9)
    if scoring == "accuracy":
        ridge = make_pipeline(StandardScaler(), RidgeClassifier(alpha=0.1 * 96))
        slow = SelectorCV(FisherSelector(), estimator=ridge, **how).fit(X, y, sample_weight=weights)
    for split in range(5):
        name = f"split{split}_test_score"
        np.testing.assert_allclose(fast.cv_results_[name], slow.cv_results_[name], rtol=1e-9)
