"""P-values of filters where samples belong together."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sparsieve import (
    ChiSquareSelector,
    FisherSelector,
    FStatisticSelector,
    SelectorCV,
    TTestSelector,
)

WIDTH = 40
FILTERS = {
    "numbers": FStatisticSelector(task="regression"),
    "classes": FStatisticSelector(),
    "Fisher": FisherSelector(),
    "Welch": TTestSelector(),
    "Student": TTestSelector(equal_var=True),
    "counts": ChiSquareSelector(),
}


def patients(rng, name, n_patients=30, times=2, alike=0.9):
    """Samples of patients, a target that knows patients but no feature, and who is who."""

    def noise(width):
        shared = np.repeat(rng.standard_normal((n_patients, width)), times, axis=0)
        return np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.standard_normal(shared.shape)

    X, y = noise(WIDTH), noise(1)[:, 0]
    if name == "counts":
        own = rng.poisson(4 * (1 - alike), X.shape)
        X = (own + np.repeat(rng.poisson(4 * alike, X[::times].shape), times, axis=0)).astype(float)
    y = y if name == "numbers" else (y > np.median(y)).astype(int)
    return X, y, np.repeat(np.arange(n_patients), times)


@pytest.mark.parametrize("name", FILTERS)
def test_every_sample_twice_says_what_each_once_says(name):
    rng = np.random.default_rng(0)
    X, y, _ = patients(rng, name, times=1, n_patients=40)
    X[:, 0] += 2 * y
    once = FILTERS[name].fit(X, y)
    p, scores = once.log_pvalues_, once.scores_
    assert once.assumed_ == ""
    if name == "counts":  # the spread of counts is estimated where samples belong together
        p = once.fit(X, y, groups=np.arange(40) // 39).log_pvalues_
    twice = FILTERS[name].fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.assumed_.startswith("80 of 80 samples are much closer to another sample")
    np.testing.assert_allclose(twice.log_pvalues_, p, rtol=0.2 if name == "counts" else 1e-9)
    order = np.argsort(-scores)
    assert twice.ranking_[order[0]] == 1  # scores are those of the samples as they are


@pytest.mark.parametrize("name", FILTERS)
def test_patients_measured_twice_are_no_evidence(name):
    told, alone = [], []
    for seed in range(8):
        X, y, who = patients(np.random.default_rng(seed), name)
        told.append((FILTERS[name].fit(X, y, groups=who).pvalues_ < 0.05).mean())
        each = np.arange(len(y))
        alone.append((FILTERS[name].fit(X, y, groups=each).pvalues_ < 0.05).mean())
    # Of 320 p-values a share of more than 0.081 is below 0.05 in one case of 100.
    assert np.mean(told) <= 0.081 < np.mean(alone)


@pytest.mark.parametrize("name", ["numbers", "Welch", "counts"])
def test_p_values_are_those_of_exchanging_patients(name):
    rng = np.random.default_rng(3)
    X, y, who = patients(rng, name, times=3, alike=0.6)
    y = y[::3].repeat(3)  # one value for every patient
    X[:, 0] += 0.5 * y
    found = FILTERS[name].fit(X, y, groups=who).pvalues_
    R = np.array([y, *(rng.permutation(y[::3]).repeat(3) for _ in range(1999))], dtype=float)
    R = (R - R.mean(axis=1, keepdims=True)) / R.std(axis=1, keepdims=True)
    products = np.abs(R @ (X - X.mean(axis=0)))
    shuffled = (products >= products[0] * (1 - 1e-9)).mean(axis=0)
    assert np.abs(found - shuffled).max() < (0.12 if name == "counts" else 0.08)
    assert np.abs(found - shuffled).mean() < 0.03


@pytest.mark.parametrize("name", FILTERS)
def test_weights_and_groups_are_copies_in_the_group(name):
    rng = np.random.default_rng(4)
    X, y, who = patients(rng, name)
    times = rng.integers(0, 3, len(y))
    times[:4] = 2
    rows = np.repeat(np.arange(len(y)), times)
    one = FILTERS[name].fit(X, y, sample_weight=times, groups=who).pvalues_
    other = FILTERS[name].fit(X[rows], y[rows], groups=who[rows]).pvalues_
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_all_kinds_of_x_say_the_same(tmp_path):
    X, y, who = patients(np.random.default_rng(5), "counts")
    plain = ChiSquareSelector().fit(X, y, groups=who).pvalues_
    np.testing.assert_allclose(
        ChiSquareSelector().fit(sparse.csr_array(X), y, groups=who).pvalues_, plain, rtol=1e-9
    )
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_allclose(
        ChiSquareSelector().fit(mapped, y, groups=who).pvalues_, plain, rtol=1e-9
    )
    half = TTestSelector().fit(X.astype(np.float32), y, groups=who).pvalues_
    np.testing.assert_allclose(half, TTestSelector().fit(X, y, groups=who).pvalues_, rtol=1e-4)


@pytest.mark.parametrize("name", ["numbers", "counts"])
def test_groups_of_features_count_patients_too(name):
    told, alone = [], []
    model = clone(FILTERS[name]).set_params(feature_groups=np.arange(WIDTH) // 2)
    for seed in range(8):
        X, y, who = patients(np.random.default_rng(seed), name)
        told.append((model.fit(X, y, groups=who).group_pvalues_ < 0.05).mean())
        alone.append((model.fit(X, y, groups=np.arange(60)).group_pvalues_ < 0.05).mean())
    # Of 160 p-values a share of more than 0.094 is below 0.05 in one case of 100.
    assert np.mean(told) <= 0.094 < np.mean(alone)


def test_groups_are_handed_on():
    X, y, who = patients(np.random.default_rng(6), "Welch")
    X[:, 3] += 3 * y
    search = SelectorCV(TTestSelector(), cv=3).fit(X, y, groups=who)
    assert "belong to 30 groups" in search.selector_.assumed_
    chain = make_pipeline(TTestSelector(3)).fit(X, y, ttestselector__groups=who)
    assert "belong to 30 groups" in chain[0].assumed_


def test_a_patient_for_all_samples_and_wrong_lengths():
    X, y, who = patients(np.random.default_rng(7), "Welch")
    assert FStatisticSelector().fit(X, y, groups=np.zeros(60)).pvalues_.min() > 0.0
    for each in (FStatisticSelector(), TTestSelector()):
        with pytest.raises(ValueError, match="groups must say for each of the 60 samples"):
            each.fit(X, y, groups=who[:-1])
