"""The generators: shapes, determinism, and a truth that an oracle can use."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from sparsieve.datasets.synthetic.classes import (
    make_class_exclusive,
    make_correlated_blocks,
    make_minimax_gaussian,
    make_shared_features,
)
from sparsieve.datasets.synthetic.targets import make_nonlinear_additive, make_outliers

GENERATORS = [
    make_class_exclusive,
    make_correlated_blocks,
    make_minimax_gaussian,
    make_nonlinear_additive,
    make_outliers,
    make_shared_features,
]


def accuracy(X, y):
    return cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=5).mean()


def irrelevant(data, count=20):
    """A few columns that carry nothing."""
    hidden = np.setdiff1d(np.arange(data.X.shape[1]), data.relevant)
    if "block" in data:
        hidden = np.flatnonzero(data.block == -1)
    return hidden[:count]


@pytest.mark.parametrize("make", GENERATORS)
def test_shape_names_and_types(make):
    data = make(60, 120, random_state=3)
    assert data.X.shape == (60, 120)
    assert data.X.dtype == np.float64
    assert data.y.shape == (60,)
    assert data.y.dtype == np.int64
    assert np.array_equal(np.unique(data.y), np.arange(len(data.class_names)))
    assert len(set(data.feature_names)) == 120
    assert np.array_equal(data.relevant, np.unique(data.relevant))
    assert data.relevant.min() >= 0
    assert data.relevant.max() < 120
    assert data.name in data.description


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_data(make):
    first, second, other = make(random_state=0), make(random_state=0), make(random_state=1)
    assert first.keys() == second.keys()
    for key, value in first.items():
        for a, b in zip(np.atleast_1d(value), np.atleast_1d(second[key]), strict=True):
            assert np.array_equal(a, b), key
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", [make for make in GENERATORS if make is not make_minimax_gaussian])
def test_relevant_columns_are_spread(make):
    data = make(40, 200, random_state=0)
    assert not np.array_equal(data.relevant, np.arange(len(data.relevant)))


@pytest.mark.parametrize(
    "make", [make_shared_features, make_class_exclusive, make_correlated_blocks]
)
def test_oracle_beats_chance_and_the_rest_does_not(make):
    data = make(400, random_state=0)
    chance = 1 / len(data.class_names)
    assert accuracy(data.X[:, data.relevant], data.y) > 0.9
    assert accuracy(data.X[:, irrelevant(data)], data.y) < chance + 0.1


def test_classes_are_balanced():
    counts = np.bincount(make_shared_features(50, 20, n_classes=4, random_state=0).y)
    assert sorted(counts) == [12, 12, 13, 13]


def test_every_shared_feature_separates_every_pair_of_classes():
    data = make_shared_features(4000, 20, n_relevant=4, n_classes=3, signal=2.0, random_state=0)
    means = np.stack([data.X[data.y == k].mean(axis=0) for k in range(3)])
    gaps = np.abs(means[[0, 0, 1]] - means[[1, 2, 2]]).min(axis=0)
    spacing = 2.0 * np.sqrt(1.5)  # levels -a, 0, a of unit variance have a^2 = 3/2
    assert np.allclose(gaps[data.relevant], spacing, atol=0.2)
    assert gaps[irrelevant(data)].max() < 0.2


def test_no_signal_means_nothing_to_find():
    data = make_shared_features(400, 50, n_classes=2, signal=0.0, random_state=0)
    assert accuracy(data.X[:, data.relevant], data.y) < 0.6


def test_exclusive_features_speak_for_their_class_only():
    data = make_class_exclusive(
        4000, 60, n_relevant_per_class=3, n_shared=2, n_classes=4, random_state=0
    )
    means = np.stack([data.X[data.y == k].mean(axis=0) for k in range(4)])
    for k, own in enumerate(data.relevant_per_class):
        assert np.allclose(np.abs(means[k, own]), 2.0, atol=0.15)
        assert np.abs(np.delete(means, k, axis=0)[:, own]).max() < 0.15
    assert np.abs(means[:, data.shared]).min() > 0.3
    union = np.concatenate([*data.relevant_per_class, data.shared])
    assert np.array_equal(np.sort(union), data.relevant)


def test_outliers_are_where_the_masks_say():
    data = make_outliers(200, 100, row_fraction=0.1, label_fraction=0.2, random_state=0)
    assert data.row_outlier_mask.sum() == 20
    assert data.label_outlier_mask.sum() == 40
    assert not (data.row_outlier_mask & data.label_outlier_mask).any()
    assert np.array_equal(data.outlier_mask, data.row_outlier_mask | data.label_outlier_mask)
    assert np.array_equal(data.y != data.y_clean, data.label_outlier_mask)
    size = np.sqrt(np.mean(data.X**2, axis=1))
    assert size[data.row_outlier_mask].min() > 5 > 2 > size[~data.row_outlier_mask].max()


def test_outliers_may_be_none_or_all():
    clean = make_outliers(30, 20, row_fraction=0.0, random_state=0)
    assert not clean.outlier_mask.any()
    spoilt = make_outliers(30, 20, row_fraction=0.5, label_fraction=0.5, random_state=0)
    assert spoilt.outlier_mask.all()


def test_outliers_hurt_a_plain_classifier():
    clean = make_outliers(300, 50, row_fraction=0.0, random_state=0)
    spoilt = make_outliers(300, 50, row_fraction=0.3, label_fraction=0.2, random_state=0)
    columns = clean.relevant
    assert np.array_equal(columns, spoilt.relevant)
    drop = accuracy(clean.X[:, columns], clean.y) - accuracy(spoilt.X[:, columns], spoilt.y)
    assert drop > 0.2


def test_copies_have_the_correlation_asked_for():
    data = make_correlated_blocks(
        5000, 60, n_relevant=4, block_size=5, correlation=0.8, random_state=0
    )
    assert np.bincount(data.block + 1).tolist() == [40, 5, 5, 5, 5]
    assert data.block[data.relevant].tolist() == [0, 1, 2, 3]
    correlation = np.corrcoef(data.X, rowvar=False)
    variance = data.X.var(axis=0)
    for b, leader in enumerate(data.relevant):
        copies = np.setdiff1d(np.flatnonzero(data.block == b), leader)
        assert np.allclose(correlation[leader, copies], 0.8, atol=0.03)
        assert np.allclose(variance[copies], variance[leader], rtol=0.1)
        assert np.abs(correlation[leader, data.block == -1]).max() < 0.08


def test_copies_add_nothing_to_their_leader():
    data = make_correlated_blocks(4000, 30, n_relevant=1, block_size=4, random_state=0)
    copies = np.flatnonzero(data.block == 0)
    alone, together = (
        accuracy(data.X[:, data.relevant], data.y),
        accuracy(data.X[:, copies], data.y),
    )
    assert abs(alone - together) < 0.01


def test_radial_features_are_invisible_to_a_line():
    data = make_nonlinear_additive(5000, 20, random_state=0)
    target = data.y - data.y.mean()

    def correlation(X):
        X = X - X.mean(axis=0)
        return (target @ X) / np.sqrt((target @ target) * (X**2).sum(axis=0))

    assert np.abs(correlation(data.X)).max() < 0.06
    size = correlation(np.abs(data.X))
    assert size[data.relevant].min() > 0.25
    assert np.abs(np.delete(size, data.relevant)).max() < 0.06
    assert accuracy(data.X[:, data.relevant], data.y) < 0.55
    assert accuracy(data.X[:, data.relevant] ** 2, data.y) > 0.85


def test_threshold_features_jump_once():
    data = make_nonlinear_additive(
        4000, 10, kind="threshold", n_relevant=1, noise=0.0, task="regression", random_state=0
    )
    x, levels = data.X[:, data.relevant[0]], np.unique(np.round(data.y, 9))
    assert len(levels) == 2
    low, high = x[data.y < levels.mean()], x[data.y > levels.mean()]
    assert low.max() < high.min() or high.max() < low.min()


@pytest.mark.parametrize("kind", ["radial", "threshold"])
def test_nonlinear_tasks(kind):
    regression = make_nonlinear_additive(4000, 20, kind=kind, task="regression", random_state=0)
    assert regression.class_names is None
    assert regression.y.dtype == np.float64
    assert abs(regression.y.mean()) < 0.1
    assert abs(regression.y.std() - np.sqrt(1.01)) < 0.1
    assert "regression" in repr(regression)
    classes = make_nonlinear_additive(4000, 20, kind=kind, random_state=0)
    assert np.bincount(classes.y).tolist() == [2000, 2000]
    assert regression.y[classes.y == 0].max() <= regression.y[classes.y == 1].min()


def test_minimax_gaussian_is_the_printed_one():
    data = make_minimax_gaussian(20000, 12, random_state=0)
    sign = np.where(data.y == 1, 1.0, -1.0)
    aligned = data.X * sign[:, None]
    assert np.allclose(aligned.mean(axis=0), [*range(-1, -11, -1), 0, 0], atol=0.05)
    assert np.allclose(aligned.std(axis=0), 1.0, atol=0.05)
    assert abs(data.y.mean() - 0.5) < 0.02
    assert data.relevant.tolist() == list(range(10))
    assert make_minimax_gaussian(random_state=0).X.shape == (50, 1000)


@pytest.mark.parametrize("seed", range(8))
def test_minimax_gaussian_has_both_classes(seed):
    assert set(make_minimax_gaussian(2, 10, random_state=seed).y) == {0, 1}


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (make_shared_features, {"n_samples": 3}, "n_samples must be at least 4, got 3"),
        (make_shared_features, {"n_features": 0}, "n_features must be at least 1, got 0"),
        (make_shared_features, {"n_classes": 1}, "n_classes must be at least 2, got 1"),
        (make_shared_features, {"n_samples": 2.5}, "n_samples must be an integer, got 2.5"),
        (make_shared_features, {"signal": -1.0}, "signal must be at least 0, got -1.0"),
        (make_shared_features, {"n_relevant": 0}, "n_relevant must be at least 1, got 0"),
        (
            make_shared_features,
            {"n_features": 5},
            "n_relevant must be at most n_features=5, got 10",
        ),
        (
            make_class_exclusive,
            {"n_features": 15},
            r"n_classes \* n_relevant_per_class \+ n_shared must be at most n_features=15, got 20",
        ),
        (make_class_exclusive, {"n_shared": -1}, "n_shared must be at least 0, got -1"),
        (make_outliers, {"row_fraction": 1.5}, "row_fraction must be at most 1, got 1.5"),
        (make_outliers, {"label_fraction": -0.1}, "label_fraction must be at least 0, got -0.1"),
        (
            make_outliers,
            {"row_fraction": 0.75, "label_fraction": 0.5},
            r"row_fraction \+ label_fraction must be at most 1, got 1.25",
        ),
        (make_outliers, {"magnitude": "big"}, "magnitude must be a real number, got 'big'"),
        (
            make_correlated_blocks,
            {"n_features": 49},
            r"n_relevant \* block_size must be at most n_features=49, got 50",
        ),
        (make_correlated_blocks, {"correlation": 2}, "correlation must be at most 1, got 2"),
        (
            make_nonlinear_additive,
            {"kind": "cubic"},
            "kind must be one of 'radial', 'threshold', got 'cubic'",
        ),
        (make_nonlinear_additive, {"task": "rank"}, "task must be one of"),
        (make_minimax_gaussian, {"n_features": 9}, "n_features must be at least 10, got 9"),
        (make_minimax_gaussian, {"n_samples": 1}, "n_samples must be at least 2, got 1"),
    ],
)
def test_bad_arguments_are_named(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)
