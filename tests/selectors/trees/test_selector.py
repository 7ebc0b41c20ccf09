"""Elimination by boosted trees on planted relations, and what every parameter does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import sparsieve
from sparsieve import BoostedTreesSelector, set_memory
from sparsieve.registry import find_selector
from sparsieve.scale.files import arrays as files


def planted(design, seed=0):
    """X, y and the features that it is made of, which are spread over the columns."""
    rng = np.random.default_rng([seed, 7])
    n, d = {
        "curves": (1500, 50),
        "friedman": (1000, 50),
        "pairs": (1500, 500),
        "signs": (2000, 300),
        "three": (3000, 100),
        "hastie": (4000, 30),
        "linear": (500, 100),
    }[design]
    X, a = rng.standard_normal((n, d)), rng.permutation(d)
    noise = rng.standard_normal(n)
    x = X[:, a[:12]].T
    if design == "curves":
        parts = np.sin(2 * x[0]), x[1] ** 2, np.abs(x[2]), x[3] > 0.8, x[4], np.cos(2 * x[5])
        return X, sum(one / one.std() for one in parts) + 0.8 * noise, a[:6]
    if design == "friedman":
        X = rng.random((n, d))
        x = X[:, a[:5]].T
        f = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        return X, f + 2 * noise, a[:5]
    if design == "pairs":
        return X, x[0] * x[1] + np.sign(x[2] * x[3]) + x[4] + 0.5 * noise > 0, a[:5]
    if design == "signs":
        return X, np.sign(x[0] * x[1]) + 0.8 * np.sign(x[2] * x[3]) + 0.5 * noise > 0, a[:4]
    if design == "three":
        return X, np.sign(x[0] * x[1] * x[2]) + 0.5 * noise > 0, a[:3]
    if design == "hastie":
        return X, (x[:10] ** 2).sum(axis=0) > 9.34, a[:10]
    return X, np.linspace(1, 0.3, 8) @ x[:8] + noise, a[:8]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "design", ["curves", "friedman", "pairs", "signs", "three", "hastie", "linear"]
)
def test_planted_features_are_found(design):
    X, y, true = planted(design)
    selector = BoostedTreesSelector(len(true)).fit(X, y)
    found = set(selector.get_support(indices=True)) & set(true.tolist())
    assert len(found) >= len(true) - (design == "linear")  # whose last effect is weak
    told = [one.features for one in selector.interactions_]
    wanted = {"pairs": [true[:2], true[2:4]], "signs": [true[:2], true[2:4]], "three": [true[:3]]}
    for features in wanted.get(design, ()):
        assert tuple(sorted(features.tolist())) in told
    assert design in wanted or len(told) <= 1


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 20))
    return X, np.abs(X[:, 3]) + np.sign(X[:, 5] * X[:, 8]) + 0.3 * rng.standard_normal(600)


def test_one_fit_ranks_every_number(mixed):
    X, y = mixed
    selector = BoostedTreesSelector(4).fit(X, y)
    kept = [set(selector.at(k).get_support(indices=True)) for k in range(1, 21)]
    assert all(few < more for few, more in pairwise(kept))
    assert kept[2] == {3, 5, 8}
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    assert_array_equal(selector.path_.features, np.argsort(selector.ranking_))
    assert selector.n_rounds_ == 11  # of 20 and 14 features, and of 9 to 1
    assert 0.0 <= selector.scores_.min() <= selector.scores_.max() < 1.0
    assert BoostedTreesSelector().fit(X, y).n_features_ == 10
    assert find_selector("trees") is BoostedTreesSelector


def test_interactions_in_words(mixed):
    X, y = mixed
    named = [f"f{j}" for j in range(20)]
    named[5], named[8] = "smoker", "dose"
    pd = pytest.importorskip("pandas")
    selector = BoostedTreesSelector(3).fit(pd.DataFrame(X, columns=named), y)
    (found,) = selector.interactions_
    assert str(found).startswith("smoker x dose: only together (adds ")
    assert found.features == (5, 8)
    assert 0.4 < found.adds < 0.9
    assert selector.at(1).interactions_ == []
    beyond = BoostedTreesSelector(3).fit(X, y + X[:, 5])
    assert str(beyond.interactions_[0]).startswith("x5 x x8: beyond each alone (adds ")
    alone = BoostedTreesSelector(3, interactions=False).fit(X, y)
    assert alone.interactions_ == []


def test_noise_has_small_scores():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1000, 30))
    noise = BoostedTreesSelector(5).fit(X, rng.standard_normal(1000)).scores_.max()
    signal = BoostedTreesSelector(5).fit(X, np.abs(X[:, 0]) + 0.3 * rng.standard_normal(1000))
    assert noise < 0.2 < signal.scores_.max()


def test_classes_counts_survival_and_several_targets():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1200, 15))
    curve = 1.2 * np.abs(X[:, 2]) + np.sin(2 * X[:, 6]) + 0.8 * X[:, 9]
    noise = 0.3 * rng.standard_normal(1200)
    three = {2, 6, 9}
    labels = np.array(["a", "b", "c", "d"])[np.digitize(curve + noise, [0.3, 1.0, 1.8])]
    events = rng.exponential(np.exp(-curve))
    late = np.array(
        [(time < 0.6, min(time, 0.6)) for time in events], dtype=[("event", "?"), ("time", "f8")]
    )
    several = np.c_[np.abs(X[:, 2]) + noise, np.sin(2 * X[:, 6]) - noise, X[:, 9] + noise]
    cases = [
        (labels, {}),
        (rng.poisson(np.exp(0.5 * curve)), {"task": "counts"}),
        (late, {}),
        (several, {}),
    ]
    for y, options in cases:
        selector = BoostedTreesSelector(3, **options).fit(X, y)
        assert set(selector.get_support(indices=True)) == three, options


def test_missing_values_are_taken_as_they_are(mixed):
    X, y = mixed
    rng = np.random.default_rng(2)
    gaps = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    selector = BoostedTreesSelector(3).fit(gaps, y)
    assert set(selector.get_support(indices=True)) == {3, 5, 8}
    assert np.isnan(selector.transform(gaps)).any()
    told = np.where((np.abs(X[:, 3]) > 1)[:, None] & (np.arange(20) == 11), np.nan, 0.0)
    by_gaps = BoostedTreesSelector(1).fit(np.c_[told, X[:, 4:]], np.abs(X[:, 3]))
    assert by_gaps.get_support(indices=True) == [11]


def test_weights_are_repeated_samples(mixed):
    X, y = mixed
    times = np.random.default_rng(4).integers(1, 4, len(y))
    weighted = BoostedTreesSelector(3).fit(X, y, sample_weight=times)
    repeated = BoostedTreesSelector(3).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_array_equal(weighted.scores_, repeated.scores_)
    half = BoostedTreesSelector(3).fit(X, y, sample_weight=0.5 * times)
    assert set(half.get_support(indices=True)) == {3, 5, 8}
    left_out = np.ones(len(y))
    left_out[300:] = 0.0
    some = BoostedTreesSelector(3).fit(X, y, sample_weight=left_out)
    assert_array_equal(some.ranking_, BoostedTreesSelector(3).fit(X[:300], y[:300]).ranking_)


def test_columns_whose_fate_is_decided(mixed):
    X, y = mixed
    X = X.copy()
    X[:, 0] = X[:, 3]  # once the copy is kept, the other adds nothing
    selector = BoostedTreesSelector(4, always_keep=[0, 1], never_keep=[8]).fit(X, y)
    assert selector.support_[[0, 1]].all()
    assert selector.ranking_[8] == 20
    assert not selector.support_[3]
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 21))
    copies = BoostedTreesSelector(3, max_correlation=0.99).fit(X, y)
    assert set(copies.get_support(indices=True)) == {0, 5, 8} or copies.support_[3]
    assert copies.support_[[5, 8]].all()
    assert len(copies.passed_over_) == 1


def test_groups_are_kept_whole(mixed):
    X, y = mixed
    groups = {"curve": [3, 4], "both": [5, 8, 9]}
    selector = BoostedTreesSelector(2, feature_groups=groups).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 4, 5, 8, 9]
    kept = np.array(selector.group_names_)[selector.group_support_]
    assert set(kept) == {"curve", "both"}
    assert not hasattr(selector, "path_")


def test_seeds_sparse_and_single_precision(mixed):
    X, y = mixed
    one = BoostedTreesSelector(5).fit(X, y)
    assert_array_equal(BoostedTreesSelector(5).fit(X, y).scores_, one.scores_)
    other = BoostedTreesSelector(5, random_state=1).fit(X, y)
    assert (other.scores_ != one.scores_).any()
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense = BoostedTreesSelector(5).fit(X, y)
    assert_array_equal(BoostedTreesSelector(5).fit(sparse.csr_array(X), y).scores_, dense.scores_)
    large = sparse.csr_array((200_000, 100_000))
    with pytest.raises(ValueError, match="would take 160 GB; reduce it by a filter first"):
        BoostedTreesSelector(5).fit(large, np.arange(200_000) % 2)


def test_many_samples_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14_000, 12))
    y = np.abs(X[:, 3]) + np.sign(X[:, 5] * X[:, 8]) + rng.standard_normal(14_000)
    weights = rng.random(14_000) + 0.5
    selector = BoostedTreesSelector(3).fit(X, y, sample_weight=weights)
    assert set(selector.get_support(indices=True)) == {3, 5, 8}


def test_trees_of_others(mixed):
    X, y = mixed
    forest = ExtraTreesRegressor(30, random_state=0)
    selector = BoostedTreesSelector(3, estimator=forest).fit(X, y)
    assert set(selector.get_support(indices=True)) == {3, 5, 8}
    assert "importance that the trees gave" in selector.score_meaning
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, importance_type="gain", n_jobs=1)
    labels = np.where(y > np.median(y), "high", "low")
    selector = BoostedTreesSelector(3, estimator=model).fit(X, labels)
    assert set(selector.get_support(indices=True)) == {3, 5, 8}
    assert not hasattr(model, "feature_importances_") or not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": RandomForestClassifier}, "must be an object with fit"),
        ({"estimator": "forest"}, "must be an object with fit"),
        ({"estimator": RandomForestClassifier()}, "predicts classes, but y is a regression"),
        ({"interactions": "all"}, "interactions must be True or False"),
    ],
)
def test_what_cannot_be_fitted_is_refused(mixed, options, message):
    with pytest.raises(ValueError, match=message):
        BoostedTreesSelector(3, **options).fit(*mixed)


def test_guests_for_another_target_or_without_importances_are_refused(mixed):
    X, y = mixed
    with pytest.raises(ValueError, match="predicts numbers; pass a classifier"):
        BoostedTreesSelector(3, estimator=ExtraTreesRegressor()).fit(X, y > 0)
    times = np.array([(True, t) for t in np.exp(y)], dtype=[("event", "?"), ("time", "f8")])
    with pytest.raises(ValueError, match="knows no survival times; leave estimator=None"):
        BoostedTreesSelector(3, estimator=ExtraTreesRegressor()).fit(X, times)

    with pytest.raises(ValueError, match="has no feature_importances_, by which trees are asked"):
        BoostedTreesSelector(3, estimator=KNeighborsClassifier()).fit(X, y > 0)


def test_files_are_refused_in_a_sentence(mixed, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 20)
    X, y = mixed
    with h5py.File(tmp_path / "x.h5", "w") as file, set_memory("1MB"):
        there = file.create_dataset("X", data=X, chunks=(8, 10))
        with pytest.raises(TypeError, match="BoostedTreesSelector needs X in memory"):
            BoostedTreesSelector(3).fit(there, y)


def test_files_hold_the_ranking_and_the_interactions(mixed, tmp_path):
    selector = BoostedTreesSelector(3).fit(*mixed)
    sparsieve.save(selector, tmp_path / "trees.sieve")
    loaded = sparsieve.load(tmp_path / "trees.sieve")
    assert_array_equal(loaded.ranking_, selector.ranking_)
    assert_allclose(loaded.transform(mixed[0]), selector.transform(mixed[0]))
    assert list(map(str, loaded.at(4).interactions_)) == list(map(str, selector.interactions_))
