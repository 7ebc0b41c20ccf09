"""Columns that give the target away, in all the ways people have seen it happen."""

import numpy as np
import pytest
from clean_sets import AUC
from scipy import sparse
from scipy.stats import norm

from sparsieve import diagnose
from sparsieve.diagnosis.leaks import _by_chance, _find_gap, _seldom_separates, n_errors_allowable

SHAPES = [(60, 100), (200, 1000)]


def classes(rng, n, d):
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, d))
    X[:, :5] += 0.5 * y[:, None]
    return X, y


def numbers(rng, n, d):
    X = rng.standard_normal((n, d))
    return X, X[:, :5].sum(axis=1) + rng.standard_normal(n)


def repeated(X, y, rng):
    X[:, 7] = 3 * y - 2


def one_gap(X, y, rng):
    X[:, 7] = y
    X[rng.integers(len(y)), 7] = np.nan


def many_gaps(X, y, rng):
    X[:, 7] = y
    X[rng.random(len(y)) < 0.3, 7] = np.nan


def missing_if_positive(X, y, rng):
    X[y > np.median(y), 7] = np.nan


def missing_if_negative_but_for_one(X, y, rng):
    X[y == 0, 7] = np.nan
    X[rng.choice(np.flatnonzero(y == 0)), 7] = 0.3


def wrong_class(X, y, rng):
    X[:, 7] = y
    row = rng.integers(len(y))
    X[row, 7] = 1 - y[row]


def two_percent_flipped(X, y, rng):
    X[:, 7] = np.where(rng.random(len(y)) < 0.02, 1 - y, y)


def value_of_no_class(X, y, rng):
    X[:, 7] = y
    X[rng.integers(len(y)), 7] = 11


def lost_decimal_point(X, y, rng):
    X[:, 7] = y
    X[rng.integers(len(y)), 7] *= 100


def another_number(X, y, rng):
    X[:, 7] = y
    X[rng.integers(len(y)), 7] = rng.choice(y)


def exponential(X, y, rng):
    X[:, 7] = -np.exp(2 * y)


def ranks(X, y, rng):
    X[:, 7] = np.argsort(np.argsort(y))


def difference(X, y, rng):
    X[:, 8] = X[:, 7] - y


def total(X, y, rng):
    X[:, 8] = y - X[:, 7]


def other_units(X, y, rng):
    X[:, 8] = 100.0 * (3.0 * X[:, 7] - y) + 5.0


def before_and_after(X, y, rng):
    X[:, 7] = rng.integers(0, 30, len(y))
    X[:, 8] = X[:, 7] + y


def log_ratio(X, y, rng):
    X[:, 7] = np.exp(X[:, 7])
    X[:, 8] = X[:, 7] * np.exp(y)


OF_CLASSES = (
    repeated,
    one_gap,
    many_gaps,
    missing_if_positive,
    missing_if_negative_but_for_one,
    wrong_class,
    two_percent_flipped,
    value_of_no_class,
    difference,
    before_and_after,
)
OF_NUMBERS = (
    repeated,
    one_gap,
    many_gaps,
    missing_if_positive,
    lost_decimal_point,
    another_number,
    exponential,
    ranks,
    difference,
    total,
    other_units,
    log_ratio,
)
KINDS = [(classes, leak) for leak in OF_CLASSES] + [(numbers, leak) for leak in OF_NUMBERS]
PAIRS = (difference, total, other_units, before_and_after, log_ratio)


def leaking(X, y):
    found = diagnose(X, y, try_models=False)
    return {column for one in found if one.kind == "leak" for column in one.features}


@pytest.mark.parametrize("case", KINDS, ids=lambda case: f"{case[0].__name__}-{case[1].__name__}")
@pytest.mark.parametrize("n_draws", [4, pytest.param(30, marks=pytest.mark.slow)])
def test_leaks_are_found(case, n_draws):
    """All of them in the short run; of 30 draws, at two sizes each, not one may be missed."""
    make, plant = case
    for n, d in SHAPES[: 1 + (n_draws > 4)]:
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            X, y = make(rng, n, d)
            plant(X, y, rng)
            assert leaking(X, y) == ({7, 8} if plant in PAIRS else {7}), (n, d, seed)


@pytest.mark.parametrize("plant", [repeated, one_gap, wrong_class, difference])
def test_leaks_in_sparse_and_single_precision(rng, plant):
    X, y = classes(rng, 100, 50)
    X[rng.random(X.shape) < 0.6] = 0.0
    X[:, 7] = rng.standard_normal(100)
    plant(X, y, rng)
    due = {7, 8} if plant is difference else {7}
    assert leaking(sparse.csr_array(X), y) == due
    assert leaking(X.astype(np.float32), y) == due


def test_leaks_of_several_classes(rng):
    y = rng.permutation(np.arange(90) % 3)
    X = rng.standard_normal((90, 40))
    X[:, 3] = np.array([7.0, -1.0, 2.0])[y]
    X[[5, 50], 3] = 7.0, -1.0
    X[y == 2, 4] = np.nan
    X[:, 6] = X[:, 5] + np.array([1.0, 4.0, 9.0])[y]
    assert leaking(X, np.array(["a", "b", "c"])[y]) == {3, 4, 5, 6}


def test_a_ratio_of_powers(rng):
    weight, height = rng.normal(75, 12, 80), rng.normal(1.7, 0.1, 80)
    X = np.column_stack([rng.standard_normal((80, 5)), weight, height])
    index = weight / height**2
    assert leaking(X, index) == {5, 6}
    assert leaking(X, np.round(index)) == set()  # no longer exact


def test_what_is_said(rng):
    X, y = classes(rng, 60, 12)
    names = list("abcdefghijkl")
    X[:, 1] = y
    X[3, 1] = 1 - y[3]
    X[y == 1, 2] = np.nan
    X[:, 5] = X[:, 4] - 2 * y
    said = [str(one) for one in diagnose(X, y, feature_names=names) if one.kind == "leak"]
    assert said == [
        "b repeats the target, except in 1 of 60 samples."
        " Possible leak: was it known before the outcome?",
        "c is missing where the target is 1, and hardly elsewhere: the missing values reveal the "
        "target",
        "e and f together determine the target exactly, as their sum, difference, product or "
        "ratio: was it computed from them?",
    ]


@pytest.mark.slow
def test_large_data_are_looked_at_in_part_first_and_then_whole(rng):
    X, y = classes(rng, 30_000, 8)
    X[:, 3] = y
    X[:, 5] = y
    assert leaking(X, y) == {3, 5}
    X[rng.permutation(30_000)[:3000], 5] = 0.5  # one in ten wrong
    assert leaking(X, y) == {3}
    X, y = numbers(rng, 30_000, 8)
    X[:, 3] = np.exp(y)
    assert leaking(X, y) == {3}


# -- what is none ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [16, 40, 60, 200])
def test_a_very_good_measurement_is_no_leak(n):
    """Its classes are separated perfectly in many such sets: 62 % with 20 samples."""
    separated = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        y = np.arange(n) % 2
        X = rng.standard_normal((n, 20))
        X[:, 3] += np.sqrt(2.0) * norm.ppf(AUC) * y
        separated += X[y == 0, 3].max() < X[y == 1, 3].min()
        assert leaking(X, y) == set()
    assert separated > 0 or n == 200


@pytest.mark.parametrize("correlation", [0.99, 0.995])
def test_a_very_good_number_is_no_leak(correlation):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([12, 30, 60, 200]))
        X = rng.standard_normal((n, 20))
        y = correlation * X[:, 3] + np.sqrt(1 - correlation**2) * rng.standard_normal(n)
        assert leaking(X, y) == set()
        assert leaking(X, np.exp(y)) == set()


def test_many_separating_genes_are_no_leak_and_hide_none(rng):
    y = rng.permutation(np.arange(72) < 25).astype(int)
    X = rng.standard_normal((72, 7129))
    X[:, :300] += rng.uniform(2.0, 7.0, 300) * y[:, None]
    alone = [X[y == 0, j].max() < X[y == 1, j].min() for j in range(300)]
    assert sum(alone) > 50
    assert leaking(X, y) == set()
    X[:, 500] = y + 0.1 * rng.random(72)
    assert leaking(X, y) == {500}


def test_a_target_made_of_a_column_is_found_where_there_are_enough_samples(rng):
    X = rng.standard_normal((1000, 30))
    X[:, 4] += 0.5 * X[:, 3]
    assert leaking(X, X[:, 3] > 0.4) == {3}
    assert leaking(X[:60], X[:60, 3] > 0.4) == set()  # so may a good measurement be


def test_gaps_that_are_more_frequent_in_a_class_are_no_leak(rng):
    y = np.arange(80) % 2
    for _ in range(20):
        X = rng.standard_normal((80, 100))
        X[rng.random(X.shape) < np.where(y, 0.6, 0.2)[:, None]] = np.nan
        assert leaking(X, y) == set()


# -- the arithmetic behind it ------------------------------------------------------------------


def test_chance_by_counting_all_ways():
    from itertools import combinations

    n, positive = 9, 4
    y = np.arange(n) < positive
    for allowed in (0, 1, 2):
        # Noise puts any 4 of 9 samples first; either block may be called positive.
        hits = [
            min((mask != y).sum(), (mask == y).sum()) <= allowed
            for chosen in combinations(range(n), positive)
            for mask in [np.isin(np.arange(n), chosen)]
        ]
        bound = np.exp(_by_chance(np.array([5, 4]), allowed))
        assert np.mean(hits) <= bound
    assert np.exp(_by_chance(np.array([5, 4]), 0)) == pytest.approx(2 / 126)


def test_how_often_a_normal_measurement_separates(rng):
    shift = np.sqrt(2.0) * norm.ppf(0.999)
    for sizes in ((30, 30), (60, 200), (300, 300)):
        low = rng.standard_normal((4000, sizes[0])).max(axis=1)
        high = shift + rng.standard_normal((4000, sizes[1])).min(axis=1)
        assert _seldom_separates(sizes) == (np.mean(low < high) < 0.01)


@pytest.mark.parametrize("n", [20, 60, 200, 1000])
def test_tolerated_errors_are_what_two_percent_leave(rng, n):
    errors = (rng.random((4000, n)) < 0.02).sum(axis=1)
    if n >= 60:  # fewer samples do not allow for them
        assert np.mean(errors <= n_errors_allowable(n)) > 0.98
    honest = (rng.random((4000, n)) < 0.15).sum(axis=1)
    assert n_errors_allowable(n) == 1 or np.mean(honest <= n_errors_allowable(n)) < 0.055


def test_gap_above():
    assert _find_gap(np.array([40.0, 35.0, 9.0]), 8.0) == 9.0
    assert _find_gap(np.array([40.0, 35.0]), 8.0) == 8.0
    assert _find_gap(np.array([20.0, 15.0, 9.0]), 8.0) == np.inf


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e-170, 1e160, 1e200, -1e307])
def test_a_leak_is_one_at_any_scale(factor, form):
    rng = np.random.default_rng(0)
    X, numbers = rng.standard_normal((100, 5)), rng.uniform(-1, 1, 100)
    for y in (rng.permutation(np.arange(100) % 3), numbers, 1e200 * numbers, 1e-200 * numbers):
        X[:, 3] = factor * (y / np.abs(y).max() + 0.25 * (y.dtype.kind == "f"))
        task = "regression" if y.dtype.kind == "f" else "classification"
        (found,) = diagnose(form(X), y, try_models=False, task=task)
        assert (found.kind, found.features) == ("leak", (3,))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_leak_is_one_at_any_offset(form):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 5)), rng.standard_normal(100)
    for offset in (1e3, 1e6, 1e9):
        X[:, 3] = y + offset
        (found,) = diagnose(form(X), y, try_models=False)
        assert (found.kind, found.features) == ("leak", (3,))


def test_columns_of_extreme_size_are_compared_with_each_other(rng):
    X, y = rng.standard_normal((100, 5)), rng.permutation(np.arange(100) % 2)
    X[:, 1] = 1e220 * X[:, 0]
    (found,) = diagnose(X, y, try_models=False)
    assert (found.kind, found.features) == ("copy", (1,))
