"""Tests of whole feature groups against determinants, regressions and SciPy's contingency table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from sparsieve import ChiSquareSelector, FisherSelector, FStatisticSelector, TTestSelector, select

LABELS = np.array(list("aabbbccccd"))


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 10)), rng.integers(0, 4, 60)
    X[:, 2] += 0.7 * y
    return X, y, X[:, 2] + rng.normal(size=60)


def wilks(X, y):
    """P-value from determinants, with Rao's F approximation."""
    n, p = X.shape
    q = len(np.unique(y)) - 1
    total = np.atleast_2d(np.cov(X, rowvar=False, bias=True)) * n
    within = sum(
        np.atleast_2d(np.cov(X[y == c], rowvar=False, bias=True)) * (y == c).sum()
        for c in np.unique(y)
    )
    ratio = np.linalg.det(within) / np.linalg.det(total)
    s = 1.0 if p**2 + q**2 <= 5 else np.sqrt((p**2 * q**2 - 4) / (p**2 + q**2 - 5))
    inner = s * (n - 1 - (p + q + 1) / 2) - (p * q - 2) / 2
    F = (1 - ratio ** (1 / s)) / ratio ** (1 / s) * inner / (p * q)
    return stats.f.sf(F, p * q, inner)


def regression(X, y):
    n, p = X.shape
    A = np.c_[np.ones(n), X]
    rss = ((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2).sum()
    F = (((y - y.mean()) ** 2).sum() - rss) / p / (rss / (n - 1 - p))
    return stats.f.sf(F, p, n - 1 - p)


@pytest.mark.parametrize("test", [wilks, regression])
def test_f_of_groups(problem, test):
    X, classes, numbers = problem
    y = classes if test is wilks else numbers
    selector = FStatisticSelector(1, feature_groups=LABELS).fit(X, y)
    expected = [test(X[:, name == LABELS], y) for name in "abcd"]
    assert_allclose(10.0**-selector.group_scores_, expected, rtol=1e-8)
    assert selector.group_names_[selector.group_support_].tolist() == ["b"]
    assert_array_equal(selector.support_, LABELS == "b")
    assert_allclose(selector.pvalues_, np.array(expected)[np.repeat(np.arange(4), [2, 3, 4, 1])])
    assert "p-value" in selector.score_meaning


def test_two_classes_and_two_numbers(problem):
    X, classes, numbers = problem
    two = np.where(classes > 1, "x", "y")
    found = FStatisticSelector(1, feature_groups=LABELS).fit(X, two)
    # Hotelling's test is the F test of a regression on the 0/1 column of a class.
    expected = [regression(X[:, name == LABELS], (classes > 1) * 1.0) for name in "abcd"]
    assert_allclose(10.0**-found.group_scores_, expected, rtol=1e-8)
    several = np.c_[numbers, X[:, 7] + 0.1 * numbers]
    found = FStatisticSelector(1, feature_groups=LABELS).fit(X, several)
    expected = [
        2 * min(regression(X[:, name == LABELS], several[:, t]) for t in range(2))
        for name in "abcd"
    ]
    assert_allclose(10.0**-found.group_scores_, np.minimum(expected, 1.0), rtol=1e-6)
    assert_array_equal(np.argsort(expected), np.argsort(found.group_ranking_))


@pytest.mark.parametrize("kind", [FStatisticSelector, ChiSquareSelector])
def test_single_columns_are_tested_as_without_groups(problem, kind):
    X, y, _ = problem
    X = np.abs(X)
    plain, grouped = kind(3).fit(X, y), kind(3, feature_groups=np.arange(10)).fit(X, y)
    assert_array_equal(plain.scores_, grouped.scores_)
    assert_array_equal(plain.ranking_, grouped.ranking_)
    assert plain.score_meaning == grouped.score_meaning


@pytest.mark.parametrize("target", [1, 2])
def test_weights_are_copies_and_sparse_is_dense(problem, target):
    X, y = problem[0], problem[target]
    times = np.random.default_rng(1).integers(1, 4, 60)
    one = FStatisticSelector(2, feature_groups=LABELS)
    weighted = one.fit(X, y, sample_weight=times.astype(float)).group_scores_
    X_copied, y_copied, each = (
        np.repeat(X, times, axis=0),
        np.repeat(y, times),
        np.arange(times.sum()),
    )
    copied = one.fit(X_copied, y_copied, groups=each).group_scores_  # copies that are meant
    assert_allclose(weighted, copied, rtol=1e-8)
    X = np.where(X > 0.5, X, 0.0)
    assert_allclose(
        one.fit(sparse.csr_array(X), y).group_scores_, one.fit(X, y).group_scores_, rtol=1e-8
    )


def test_a_category_has_one_column_less(problem):
    _, y, numbers = problem
    city = np.random.default_rng(2).choice(list("uvw"), 60)
    full = pd.get_dummies(city).to_numpy(float)
    groups = {"city": [0, 1, 2]}
    for target, test in ((y, wilks), (numbers, regression)):
        found = FStatisticSelector(1, feature_groups=groups).fit(full, target)
        assert_allclose(10.0 ** -found.group_scores_[0], test(full[:, 1:], target), rtol=1e-8)
    found = ChiSquareSelector(1, feature_groups=groups).fit(full, y)
    expected = stats.chi2_contingency(pd.crosstab(city, y), correction=False).pvalue
    assert_allclose(found.pvalues_, expected)


def test_chi_square_of_counts_adds_up(problem):
    y = problem[1]
    X = np.random.default_rng(3).poisson(3.0, size=(60, 5)).astype(float)
    X[:, 4] = 2.0  # constant: it has no freedom
    found = ChiSquareSelector(1, feature_groups=[0, 0, 1, 1, 1]).fit(X, y)
    single = ChiSquareSelector().fit(X, y).scores_
    expected = [stats.chi2.sf(single[:2].sum(), 6), stats.chi2.sf(single[2:].sum(), 6)]
    assert_allclose(10.0**-found.group_scores_, expected)


def test_noise_of_any_size_is_noise():
    rng = np.random.default_rng(4)
    sizes = np.tile([1, 2, 5, 20, 50], 40)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X, y = rng.normal(size=(150, len(labels))), rng.integers(0, 3, 150)
    for target in (y, rng.normal(size=150)):
        scores = FStatisticSelector(1, feature_groups=labels).fit(X, target).group_scores_
        for size in np.unique(sizes):
            assert stats.kstest(10.0 ** -scores[sizes == size], "uniform").pvalue > 0.001


def test_groups_too_large_to_test_say_so(problem):
    X, y, numbers = problem
    labels = ["large"] * 9 + ["small"]
    for target, most in ((y[:10], 10 - len(np.unique(y[:10]))), (numbers[:10], 8)):
        with pytest.warns(UserWarning, match=f"'large'.*at most {most} independent columns"):
            found = FStatisticSelector(1, feature_groups=labels).fit(X[:10], target)
        assert found.group_scores_[0] == 0.0 < found.group_scores_[1]


def test_constant_groups_rank_last_and_perfect_ones_first(problem):
    X = problem[0]
    X = X.copy()
    X[:, LABELS == "a"] = 3.0
    found = FStatisticSelector(1, feature_groups=LABELS).fit(X, X[:, 5] - 2 * X[:, 6])
    assert found.group_ranking_[0] == 4
    assert found.group_ranking_[2] == 1
    assert found.group_scores_[2] == np.inf


def test_what_has_no_test_of_groups_says_so(problem):
    X, y, _ = problem
    with pytest.raises(ValueError, match=r"one column at a time.*FStatisticSelector"):
        TTestSelector(feature_groups=LABELS).fit(X, y)
    single = TTestSelector(feature_groups=np.arange(10)).fit(X, y)
    assert_array_equal(single.scores_, TTestSelector().fit(X, y).scores_)
    with pytest.raises(ValueError, match=r"FisherSelector.*feature_groups"):
        select(X, y, k=2, method=FisherSelector, feature_groups=LABELS)
