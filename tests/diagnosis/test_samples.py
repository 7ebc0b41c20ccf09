"""Samples that are in X several times."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sparsieve import SelectorCV, diagnose
from sparsieve.diagnosis import samples


def repeated(rng, n=30, times=3, d=50, noise=0.0, levels=None, regression=False):
    """Noise, every sample several times, in any order."""
    X = rng.standard_normal((n, d)) if levels is None else 1.0 * rng.integers(levels, size=(n, d))
    y = rng.standard_normal(n) if regression else rng.permutation(np.arange(n) % 2)
    X, y = np.tile(X, (times, 1)), np.tile(y, times)
    X = X + noise * rng.standard_normal(X.shape)
    order = rng.permutation(len(y))
    return X[order], y[order], np.tile(np.arange(n), times)[order]


def copied(X, y):
    return [one for one in diagnose(X, y, try_models=False) if one.kind == "samples"]


def same_partition(one, two):
    return len(set(zip(one.tolist(), two.tolist(), strict=True))) == len(set(one)) == len(set(two))


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.01, 0.05])
@pytest.mark.parametrize("d", [20, 50, 1000])
def test_copies_are_found_and_grouped(d, noise, regression):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, truth = repeated(rng, d=d, noise=noise, regression=regression)
        found = diagnose(X, y, try_models=False)
        (one,) = [one for one in found if one.kind == "samples"]
        assert one.samples == tuple(range(90))
        assert str(one).startswith("90 of 90 samples have duplicates or near-duplicates (")
        assert "groups=" in str(one)
        assert same_partition(found.groups, truth)


@pytest.mark.parametrize(
    "given",
    [
        {"n": 40, "times": 2, "d": 200},
        {"n": 12, "times": 10, "noise": 0.01},
        {"levels": 2, "d": 20},
        {"levels": 3, "d": 2000},
    ],
    ids=str,
)
def test_copies_of_other_kinds(rng, given):
    X, y, truth = repeated(rng, **given)
    assert copied(X, y)
    assert copied(sparse.csr_array(X), y)
    assert copied(X.astype(np.float32), y)
    assert same_partition(diagnose(X, y, try_models=False).groups, truth)


def test_a_few_copies_among_many(rng):
    X, y = rng.standard_normal((200, 100)), rng.permutation(np.arange(200) % 2)
    X[150:155], y[150:155] = X[:5], y[:5]
    (found,) = copied(X, y)
    assert found.samples == (*range(5), *range(150, 155))
    X[:, 3] = np.where(rng.random(200) < 0.1, np.nan, X[:, 3])  # gaps do not hide them
    X[150:155, 3] = X[:5, 3]
    assert copied(X, y)[0].samples == found.samples


def test_one_sample_twice(rng):
    X, y = rng.standard_normal((72, 2000)), rng.permutation(np.arange(72) % 2)
    assert not copied(X, y)
    X[40], y[40] = X[7], y[7]
    assert copied(X, y)[0].samples == (7, 40)


def test_equal_rows_with_other_targets_are_measured_twice_not_copied(rng):
    X = np.tile(rng.standard_normal((30, 50)), (3, 1))
    assert not copied(X, rng.standard_normal(90))
    assert not copied(X, rng.integers(2, size=90))


@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize("d", [2, 5, 8, 20])
@pytest.mark.parametrize("levels", [2, 3, 10])
def test_tables_of_few_levels(n, d, levels):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = 1.0 * rng.integers(levels, size=(n, d)), rng.permutation(np.arange(n) % 2)
        assert not copied(X, y)
        same = (rng.random((n, d)) < np.where(y, 0.95, 0.03)[:, None]).astype(float)
        assert not copied(same, y)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_ordinary_data(load):  # iris has equal rows
    assert not copied(*load(return_X_y=True))


@pytest.mark.parametrize("name", ["wobc", "cnae9", "dbworld", "coil20", "usps", "pima"])
def test_real_data_with_alike_rows(real_data, name):
    assert not copied(*real_data(name))


@pytest.mark.parametrize(("name", "pair"), [("carcinoma_174", (112, 159)), ("su_102", (35, 50))])
def test_real_data_with_a_copy(real_data, name, pair):
    X, y = real_data(name)
    np.testing.assert_array_equal(X[pair[0]], X[pair[1]])
    assert copied(X, y)[0].samples == pair


def test_very_many_samples_are_looked_at_in_part(rng, monkeypatch):
    monkeypatch.setattr(samples, "_MAX_SAMPLES", 500)
    X, y, _ = repeated(rng, n=2000, times=2, d=30)
    found = diagnose(X, y, try_models=False)
    (one,) = [one for one in found if one.kind == "samples"]
    assert len(one.samples) > 450  # a slab holds the copies of what it holds
    assert " of the 500 samples checked have duplicates" in str(one)
    assert found.groups is None
    assert not copied(rng.standard_normal((4000, 30)), y)


@pytest.mark.slow
def test_groups_of_the_diagnosis_undo_the_harm():
    """Noise that is there three times is predicted; with the groups it is noise again."""
    too_good, honest = [], []
    for seed in range(4):
        X, y, _ = repeated(np.random.default_rng(seed), d=200)
        groups = diagnose(X, y, try_models=False).groups
        search = SelectorCV(n_repeats=2)
        too_good.append(search.fit(X, y).best_score_)
        honest.append(search.fit(X, y, groups=groups).cv_results_["mean_test_score"].mean())
    assert min(too_good) > 0.85
    assert np.mean(honest) < 0.65


def test_groups_that_hold_copies_together_need_no_word(rng):
    X, y, truth = repeated(rng)
    found = diagnose(X, y, try_models=False)
    assert len(found.first()) == 1
    assert found.first(groups=truth) == []
    assert found.first(groups=truth // 2) == []
    assert len(found.first(groups=np.arange(90))) == 1


def test_fewer_than_four_samples_or_one_column(rng):
    assert not copied(np.ones((3, 5)), [0, 1, 1])
    assert not copied(np.repeat(rng.standard_normal((10, 1)), 3, axis=0), np.repeat([0, 1], 15))
