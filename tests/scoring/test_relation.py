"""Linear or trees, by what features of each path explain on samples held out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsieve import BoostedTreesSelector, LikelihoodForwardSelector, RidgeForwardSelector
from sparsieve.scoring import relation
from sparsieve.scoring.relation import _fill_gaps, _judge_errors, compare_relations

LINEAR, TREES = RidgeForwardSelector(), BoostedTreesSelector()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 14)), rng.standard_normal(300)


def test_curves_and_interactions_are_for_trees(data):
    X, noise = data
    f = np.abs(X[:, 3]) + np.sign(X[:, 5] * X[:, 8])
    found = compare_relations(X, f + 0.4 * noise, "regression", LINEAR, TREES)
    assert found.choice == "trees"
    assert found.z > 5
    assert found.gain > 0.3
    assert found.sizes.tolist() == [5, 10]
    assert found.explained.shape == (2, 2)
    assert found.explained_curve("trees")[0] > found.explained_curve("linear")[0] + 0.4
    assert (found.n_samples, found.n_folds) == (300, 5)
    assert found.why.startswith("On samples held out, features by trees explain ")
    labels = np.where(f > np.median(f), "ill", "healthy")
    assert (
        compare_relations(X, labels, "classification", LINEAR, TREES, n_folds=3).choice == "trees"
    )


def test_straight_lines_and_noise_are_for_the_linear_path(data):
    X, noise = data
    found = compare_relations(X, X[:, 2] - X[:, 4] + 0.5 * noise, "regression", LINEAR, TREES)
    assert found.choice == "linear"
    assert found.explained_curve("linear").min() > 0.7
    nothing = compare_relations(X, noise, "regression", LINEAR, TREES)
    assert nothing.choice == "linear"
    # The linear path is never worse than a guess.
    assert nothing.gain < 0 or nothing.explained_curve("linear").max() > 0


def test_small_and_wide_data_are_not_compared(data):
    X, y = data
    for few, why in (
        ((X[:90], y[:90]), "fewer than 100 samples"),
        ((np.tile(X, 150), y), "more than 2,000 features"),
    ):
        found = compare_relations(*few, "regression", LINEAR, TREES)
        assert (found.choice, found.n_folds) == ("linear", 0)
        assert why in found.why
        assert found.explained.shape == (2, 0)


def test_counts_gaps_weights_and_groups(data):
    X, noise = data
    rng = np.random.default_rng(1)
    curve = 1.2 * np.abs(X[:, 3]) + np.sign(X[:, 5])
    by_counts = {"task": "counts"}
    counts = rng.poisson(np.exp(1.5 * np.abs(X[:, 3]) - np.sign(X[:, 5] * X[:, 8])))
    paths = LikelihoodForwardSelector(**by_counts), BoostedTreesSelector(**by_counts)
    assert compare_relations(X, counts, "counts", *paths, n_folds=3).choice == "trees"
    lines = rng.poisson(np.exp(0.5 * X[:, 3] - 0.4 * X[:, 5]))
    found = compare_relations(X, lines, "counts", *paths, n_folds=3)
    assert found.choice == "linear"
    assert 0.1 < found.explained_curve("linear")[0] < 0.6  # of the deviance
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    several = np.c_[curve + 0.3 * noise, curve - 0.3 * noise]
    how = {"sample_weight": rng.random(300) + 0.5, "groups": np.arange(300) // 2, "n_folds": 3}
    found = compare_relations(gaps, several, "regression", LINEAR, TREES, **how)
    assert (found.choice, found.n_folds) == ("trees", 3)
    few = {"groups": np.arange(300) % 2}
    assert (
        "fewer than 5 groups" in compare_relations(X, noise, "regression", LINEAR, TREES, **few).why
    )


def test_what_is_always_kept_counts_for_nothing(data):
    """Both paths have it: what it says alone is no reason for trees, and neither is a line."""
    X, noise = data
    kept = {"task": "regression", "always_keep": [3]}
    paths = RidgeForwardSelector(**kept), BoostedTreesSelector(**kept)
    found = compare_relations(X, X[:, 3] + X[:, 7] + noise, "regression", *paths, n_kept=1)
    assert found.choice == "linear"
    assert found.sizes.tolist() == [5, 10]
    met = X[:, 3] * X[:, 7] + 0.4 * noise  # with the covariate
    found = compare_relations(X, met, "regression", *paths, n_kept=1, n_folds=3)
    assert found.choice == "trees"


def test_a_clear_answer_ends_the_question(data, monkeypatch):
    monkeypatch.setattr(relation, "MIN_CLEAR", 50)
    X, noise = data
    found = compare_relations(X, np.abs(X[:, 3]) + 0.1 * noise, "regression", LINEAR, TREES)
    assert (found.choice, found.n_samples, found.n_folds) == ("trees", 60, 1)
    found = compare_relations(X, X[:, 3] - X[:, 5], "regression", LINEAR, TREES)
    assert (found.choice, found.n_folds < 5) == ("linear", True)


def test_many_samples_are_drawn(data, monkeypatch):
    monkeypatch.setattr(relation, "MAX_SAMPLES", 150)
    X, noise = data
    found = compare_relations(X, np.abs(X[:, 3]) + noise, "regression", LINEAR, TREES)
    assert found.n_samples == 150


def test_gaps_are_filled_by_what_the_training_part_knows():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 7.0]])
    assert _fill_gaps(X, np.array([0, 1])).tolist() == [[1.0, 0.0], [3.0, 0.0], [2.0, 7.0]]


def test_both_thresholds_and_the_standard_error():
    rng = np.random.default_rng(0)
    guess = np.full(900, 1.0)
    errors = np.empty((2, 1, 900))
    errors[0] = 0.5 + 0.2 * rng.standard_normal(900)

    def judged(shift, spread, codes=None):
        errors[1] = errors[0] - shift + spread * rng.standard_normal(900)
        return _judge_errors(errors, guess, None, codes, np.array([5]), 3)

    assert judged(0.01, 0.01).choice == "linear"  # certain, but next to nothing
    assert judged(0.1, 0.2).choice == "trees"
    assert judged(0.1, 3.0).choice == "linear"
    found = judged(0.1, 1.0)
    assert found.z == pytest.approx(found.gain / (1.0 / 30.0), rel=0.15)
    errors[1] = errors[0] - np.repeat(rng.standard_normal(9), 100) - 0.3
    assert _judge_errors(errors, guess, None, np.arange(900) // 100, np.array([5]), 3).z < 2.5


def test_what_cannot_be_divided_or_squared_does_not_crash(data):
    X, noise = data
    single = compare_relations(X[:120], np.arange(120), "classification", LINEAR, LINEAR)
    assert (single.choice, single.n_folds) == ("linear", 0)
    assert "fewer than 5 samples of every class" in single.why
    rare = np.array(["usual"] * 117 + ["one", "two", "three"])
    assert compare_relations(X[:120], rare, "classification", LINEAR, LINEAR).n_folds == 5
    y = (X[:, 2] - X[:, 4] + 0.5 * noise > 0).astype(int)
    usual = compare_relations(X, y, "classification", LINEAR, LINEAR)
    with np.errstate(over="raise", invalid="raise"):
        huge = compare_relations(X * 2.0**600, y, "classification", LINEAR, LINEAR)
    assert huge.choice == usual.choice == "linear"
    assert_allclose(huge.explained, usual.explained, atol=1e-6)


def test_folds_of_one_class_compare_nothing(data):
    X, _ = data
    groups = np.repeat([0, 1, 2, 3, 4], 60)
    found = compare_relations(
        X, np.where(groups == 2, "ill", "well"), "classification", LINEAR, LINEAR, groups=groups
    )
    assert "training samples are all of one class" in found.why
