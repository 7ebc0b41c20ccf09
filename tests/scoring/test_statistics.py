import itertools

import numpy as np
import pytest
from scipy import stats

from sparsieve.scoring import (
    average_ranks,
    bootstrap_interval,
    friedman_nemenyi,
    holm,
    paired_wilcoxon,
)


# Critical values at 5% and 10% of Demsar, "Statistical comparisons of classifiers over multiple
# data sets", JMLR 7 (2006), table 5.
@pytest.mark.parametrize(
    ("n_methods", "alpha", "quantile"),
    [(3, 0.05, 2.343), (4, 0.05, 2.569), (10, 0.05, 3.164), (4, 0.10, 2.291), (10, 0.10, 2.920)],
)
def test_critical_difference(rng, n_methods, alpha, quantile):
    found = friedman_nemenyi(rng.normal(size=(14, n_methods)), alpha)
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert found.critical_difference == pytest.approx(expected, rel=5e-4)


def test_friedman_without_ties_by_its_formula(rng):
    scores = rng.normal(size=(12, 4))
    found = friedman_nemenyi(scores)
    ranks = average_ranks(scores)
    statistic = 12 * 12 / (4 * 5) * (np.sum(ranks**2) - 4 * 25 / 4)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(stats.chi2.sf(statistic, 3))
    np.testing.assert_allclose(found.ranks, ranks)


def test_alike_methods_are_alike():
    same = np.ones((5, 3))
    assert friedman_nemenyi(same)[:2] == (0, 1)
    assert [test.p_holm for test in paired_wilcoxon(same)] == [1, 1, 1]


def test_ranks_share_ties():
    np.testing.assert_allclose(average_ranks([[1, 1, 0], [0, 2, 1]]), [2.25, 1.25, 2.5])


def test_holm():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04]), [0.04, 0.06, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.9, 0.001]), [0.9, 0.002])
    np.testing.assert_allclose(holm([0.6, 0.7]), [1, 1])


def test_holm_keeps_the_family_wise_error(rng):
    """Under the null at most 5% of families have a rejection."""
    rejected = [min(holm(rng.random(10))) < 0.05 for _ in range(2000)]
    assert np.mean(rejected) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_paired_wilcoxon(rng):
    scores = rng.normal(size=(12, 3)) + np.array([0, 0, 2])
    tests = paired_wilcoxon(scores, ["a", "b", "c"])
    assert [(test.first, test.second) for test in tests] == [("a", "b"), ("a", "c"), ("b", "c")]
    for test, (i, j) in zip(tests, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert test.p_value == pytest.approx(stats.wilcoxon(scores[:, i], scores[:, j]).pvalue)
        assert test.p_holm >= test.p_value
    assert tests[1].median_difference < 0


def test_bootstrap_covers_the_mean(rng):
    found = [bootstrap_interval(rng.exponential(size=25), 0.9) for _ in range(60)]
    coverage = np.mean([low <= 1 <= high for _, low, high in found])
    assert 0.73 < coverage <= 1
    assert bootstrap_interval([0.5, 0.5]) == (0.5, 0.5, 0.5)
    assert bootstrap_interval([1, 2, 4]) == bootstrap_interval([1, 2, 4])


def test_bad_input():
    with pytest.raises(ValueError, match="at least three methods"):
        friedman_nemenyi(np.ones((5, 2)))
    with pytest.raises(ValueError, match="missing values"):
        average_ranks([[1, np.nan], [1, 2]])
    with pytest.raises(ValueError, match="at least two data sets"):
        paired_wilcoxon([[1, 2]])
    with pytest.raises(ValueError, match="finite"):
        bootstrap_interval([])


@pytest.mark.parametrize("seed", range(6))
def test_signed_rank_test_is_exact_with_ties_and_zeros(seed):
    differences = np.random.default_rng(seed).integers(-4, 6, size=9).astype(float)
    scores = np.column_stack([differences, np.zeros(9)])
    (test,) = paired_wilcoxon(scores)
    nonzero = differences[differences != 0]
    # Every pattern of signs, one after the other.
    ranks = stats.rankdata(np.abs(nonzero))
    observed = abs((np.sign(nonzero) * ranks).sum())
    signs = np.array(list(itertools.product([-1, 1], repeat=len(nonzero))))
    expected = (np.abs(signs @ ranks) >= observed - 1e-9).mean()
    assert test.p_value == pytest.approx(expected)
