"""Samples that are in X several times."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sparsieve import SelectorCV, diagnose
from sparsieve.diagnosis import samples
from sparsieve.diagnosis.samples import _chance_of_meeting


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


def test_fewer_than_four_samples(rng):
    assert not copied(np.ones((3, 5)), [0, 1, 1])
    assert not copied(np.repeat(rng.standard_normal((1, 5)), 3, axis=0), [0, 1, 1])


# -- few columns ---------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.long("compares linear and other models")
def test_copies_in_few_columns(d, times):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y, truth = repeated(rng, n=100, times=times, d=d)
        found = diagnose(X, y)
        assert [one.kind for one in found] == ["samples"]  # and no word of a non-linear signal
        assert same_partition(found.groups, truth)
        assert copied(sparse.csr_array(X), y)
        assert copied(X.astype(np.float32), y)
        assert copied(1e200 * X, y)
        assert copied(1e7 + X, y)
        assert copied(X, truth + 0.5 + 0.1 * y)


MADE = {
    "continuous and binary": lambda X: np.where(np.arange(X.shape[1]) == 0, X, X > 0),
    "two decimals": lambda X: X.round(2),
    "many zeros": lambda X: np.where(X > 0.2, X, 0.0),
    "skewed": lambda X: np.exp(3 * X),
    "correlated": lambda X: X[:, :1] + 0.3 * X,
    "with gaps": lambda X: np.where(np.abs(X) < 0.1, np.nan, X),
}


@pytest.mark.parametrize("kind", MADE)
def test_copies_in_few_columns_of_any_kind(rng, kind):
    X, y, truth = repeated(rng, n=100, times=2, d=5)
    found = diagnose(MADE[kind](X), y, try_models=False)
    assert len(found.findings[0].samples) == 200
    if kind != "many zeros":  # of which some rows have nothing else
        assert same_partition(found.groups, truth)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("times", [2, 5, 100, 180])
def test_one_row_many_times(rng, d, times):
    X, y = rng.standard_normal((200, d)), rng.permutation(np.arange(200) % 2)
    assert not copied(X, y)
    X[:times], y[:times] = X[0], y[0]
    assert copied(X, y)[0].samples == tuple(range(times))


@pytest.mark.parametrize(("noise", "d"), [(1e-9, 2), (1e-6, 2), (1e-4, 3), (1e-2, 5), (0.05, 8)])
def test_near_copies_in_few_columns(rng, noise, d):
    X, y, truth = repeated(rng, n=70, times=3, d=d, noise=noise)
    assert same_partition(diagnose(X, y, try_models=False).groups, truth)


def test_copies_of_survival_times(rng):
    X = np.repeat(rng.standard_normal((70, 4)), 2, axis=0)
    time, event = np.repeat(rng.exponential(size=70), 2), np.repeat(rng.random(70) < 0.7, 2)
    found = diagnose(X, (time, event), task="survival")
    assert [one.kind for one in found] == ["samples"]
    assert same_partition(found.groups, np.repeat(np.arange(70), 2))
    assert not len(diagnose(X, (rng.exponential(size=140), event), task="survival").findings)


def test_copies_with_other_targets_stay_together_in_the_check_for_non_linear_signals(rng):
    """One label in five is another one: no copies in the strict sense, but they tell each other."""
    for seed in range(3):
        X, y, _ = repeated(np.random.default_rng(seed), n=70, times=3, d=3)
        y = np.where(np.random.default_rng(seed).random(210) < 0.2, 1 - y, y)
        assert not len(diagnose(X, y).findings)


def test_a_non_linear_signal_in_copies_is_still_seen(rng):
    X = rng.standard_normal((200, 6))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    found = diagnose(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert [one.kind for one in found] == ["samples", "nonlinear"]


def heights(rng, n):
    return rng.normal(170, 9, n).round(), rng.normal(75, 12, n).round()


def two_units(rng, n):
    height, _ = heights(rng, n)
    return np.column_stack([height, height / 2.54]), height > 170


def derived(rng, n):
    height, weight = heights(rng, n)
    index = weight / (height / 100) ** 2
    return np.column_stack([height, weight, index]), index > 25


def functions_of_age(rng, n):
    age = rng.integers(20, 90, n)
    return np.column_stack([age, 2024 - age, (age - 50) ** 2]), age > 55


def rounded(rng, n):
    X = rng.standard_normal((n, 3)).round(1)
    return X, X.sum(axis=1) > 0


def like_iris(rng, n):
    kind = rng.integers(3, size=n)
    centres = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
    spread = 0.3 * rng.standard_normal((n, 1)) + 0.15 * rng.standard_normal((n, 4))
    return (centres[kind] + spread).round(1), kind


def of_groups(rng, n):
    """Features of hospitals, targets of patients."""
    return rng.standard_normal((20, 4))[rng.integers(20, size=n)], rng.random(n) > 0.5


@pytest.mark.parametrize("n", [100, 300, 1000])
@pytest.mark.parametrize(
    "make", [two_units, derived, functions_of_age, rounded, like_iris, of_groups]
)
def test_rows_that_meet_by_chance_are_no_copies(make, n):
    """However well they tell the target."""
    for seed in range(3):
        X, y = make(np.random.default_rng(seed), n)
        assert not copied(1.0 * X, y.astype(int))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [two_units, derived, rounded])
def test_the_chance_of_meeting_is_no_less_than_it_is(seed, make):
    """Against the share of pairs of different samples that do meet, counted."""
    X, _ = make(np.random.default_rng(seed), 4000)
    for column in X[:, :2].T:
        counts = np.unique(column, return_counts=True)[1]
        met = (counts * (counts - 1)).sum() / (4000 * 3999)
        assert 0.8 * met < _chance_of_meeting(column[:300]) < 5.0 * met
