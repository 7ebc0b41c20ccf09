"""F, t, chi-square and Fisher scores against scikit-learn, SciPy and their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.feature_selection import chi2, f_classif, f_regression

from sparsieve import ChiSquareSelector, FisherSelector, FStatisticSelector, TTestSelector

CLASSIFIERS = [
    FisherSelector(),
    FisherSelector(generalized=True),
    FStatisticSelector(),
    TTestSelector(),
    TTestSelector(equal_var=True),
    ChiSquareSelector(),
]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.poisson(3.0, size=(60, 12)).astype(float)
    y = rng.integers(0, 4, 60)
    X[:, 3] += 2 * y
    return X, y


def test_f_equals_scikit_learn(problem):
    X, y = problem
    selector = FStatisticSelector().fit(X, y)
    F, p = f_classif(X, y)
    assert_allclose(selector.scores_, F)
    assert_allclose(selector.pvalues_, p)
    target = X[:, 3] + X[:, 1] + 0.1 * X[:, 0] + 0.01
    selector = FStatisticSelector(task="regression").fit(X, target)
    F, p = f_regression(X, target)
    assert_allclose(selector.scores_, F)
    assert_allclose(selector.pvalues_, p)
    several = np.c_[target, X[:, 5] ** 2 + X[:, 6]]
    expected = np.maximum(F, f_regression(X, several[:, 1])[0])
    assert_allclose(FStatisticSelector().fit(X, several).scores_, expected)


def test_f_keeps_its_digits_under_a_large_offset(problem):
    X, y = problem
    F = FStatisticSelector().fit(X, y).scores_
    assert_allclose(FStatisticSelector().fit(X + 2.0**30, y).scores_, F, rtol=1e-5)


def test_fisher_is_f_up_to_a_factor(problem):
    X, y = problem
    fisher, F = FisherSelector().fit(X, y), FStatisticSelector().fit(X, y)
    assert_allclose(fisher.scores_ * (len(y) - 4) / 3, F.scores_)
    assert_array_equal(fisher.ranking_, F.ranking_)


# -- the generalised Fisher score ------------------------------------------------------------


def joint_score(X, y, features, ridge):
    """tr[(S_t + ridge I)^-1 S_b] of standardised columns, word by word."""
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, list(features)]
    total = Z.T @ Z / len(Z) + ridge * np.eye(len(features))
    between = sum(
        np.mean(y == k) * np.outer(Z[y == k].mean(axis=0), Z[y == k].mean(axis=0))
        for k in np.unique(y)
    )
    return np.trace(np.linalg.solve(total, between))


@pytest.mark.parametrize("ridge", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_generalised_fisher_score_against_brute_force(seed, ridge):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 7)) + rng.normal(size=(40, 7))
    X += rng.normal(size=(3, 7))[y]
    selector = FisherSelector(4, generalized=True, ridge=ridge).fit(X, y)
    chosen = []
    for step, feature in enumerate(selector.path_.features):
        # Every step is the best one, and reports the exact score.
        scores = {j: joint_score(X, y, [*chosen, j], ridge) for j in set(range(7)) - set(chosen)}
        assert feature == max(scores, key=scores.get)
        chosen.append(feature)
        assert_allclose(2.0 - selector.path_.objective[step + 1], scores[feature])
        best = max(joint_score(X, y, s, ridge) for s in combinations(range(7), step + 1))
        assert scores[feature] >= 0.95 * best
    assert_array_equal(selector.ranking_[selector.path_.features], [1, 2, 3, 4])
    assert_array_equal(selector.at(2).get_support(indices=True), np.sort(chosen[:2]))


def test_generalised_fisher_scores_are_shares_of_what_is_possible(problem):
    X, y = problem
    for ridge in (0.0, 0.1, 2.0):
        long, short = (FisherSelector(k, generalized=True, ridge=ridge).fit(X, y) for k in (5, 2))
        steps = -np.diff(long.path_.objective)
        expected = steps * (1 + ridge) / 3  # c - 1 = 3
        assert_allclose(long.scores_[long.path_.features], expected)
        first = short.path_.features
        assert_allclose(short.scores_[first], long.scores_[first])
        with pytest.raises(ValueError, match="fit with n_features_to_select >= 6"):
            long.at(6)
    one = FisherSelector(1, generalized=True).fit((y == 1)[:, None] * 1.0, y == 1)
    assert_allclose(one.scores_, 1.0)


def test_noise_scores_like_noise(rng):
    X, y = rng.standard_normal((300, 200)), np.arange(300) % 3
    assert 0.8 < FStatisticSelector().fit(X, y).scores_.mean() < 1.2
    assert 0.8 * 2 < ChiSquareSelector().fit(rng.poisson(3, X.shape), y).scores_.mean() < 1.2 * 2
    assert FisherSelector(20, generalized=True).fit(X, y).scores_.max() < 0.1


def test_generalised_fisher_score_passes_over_copies(problem):
    X, y = problem
    X = np.c_[X[:, 3], X[:, 3], X]
    assert_array_equal(FisherSelector(3).fit(X, y).get_support(indices=True), [0, 1, 5])
    jointly = FisherSelector(5, generalized=True, ridge=0.0).fit(X, y)
    assert set(jointly.path_.features) & {0, 1, 5} == {0}


@pytest.mark.parametrize("equal_var", [False, True])
def test_t_equals_scipy(problem, equal_var):
    X, y = problem
    t = [stats.ttest_ind(X[y == k], X[y != k], equal_var=equal_var)[0] for k in range(4)]
    scores = TTestSelector(equal_var=equal_var).fit(X, y).scores_
    assert_allclose(scores, np.abs(t).max(axis=0))
    two = stats.ttest_ind(X[y == 0], X[y > 0], equal_var=equal_var)[0]
    assert_allclose(TTestSelector(equal_var=equal_var).fit(X, y > 0).scores_, np.abs(two))


def test_t_with_a_class_of_one_sample(problem):
    X, y = problem
    y = np.minimum(y, 1)
    y[0] = 2
    expected = [
        stats.ttest_ind(X[y == 0], X[y != 0], equal_var=False)[0],
        stats.ttest_ind(X[y == 1], X[y != 1], equal_var=False)[0],
        stats.ttest_ind(X[y == 2], X[y != 2], equal_var=True)[0],
    ]
    assert_allclose(TTestSelector().fit(X, y).scores_, np.abs(expected).max(axis=0))


def test_chi_square_equals_scikit_learn(problem):
    X, y = problem
    selector = ChiSquareSelector().fit(X, y)
    statistic, p = chi2(X, y)
    assert_allclose(selector.scores_, statistic)
    assert_allclose(selector.pvalues_, p)


def test_chi_square_refuses_negative_values(problem):
    X, y = problem
    X[0, 4] = -1.0
    for data in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"Negative values .* 1 column \(4\)"):
            ChiSquareSelector().fit(data, y)


@pytest.mark.parametrize("selector", CLASSIFIERS, ids=repr)
def test_sparse_weights_and_order(problem, selector):
    X, y = problem
    scores = selector.fit(X, y).scores_
    assert_allclose(selector.fit(sparse.csr_array(X), y).scores_, scores)
    assert_allclose(selector.fit(sparse.csc_array(X), y).scores_, scores)
    order = np.random.default_rng(1).permutation(60)
    assert_allclose(selector.fit(X[order], y[order]).scores_, scores)
    columns = np.random.default_rng(1).permutation(12)
    assert_allclose(selector.fit(X[:, columns], y).scores_, scores[columns])
    weights = np.random.default_rng(2).integers(0, 4, 60)
    weighted = selector.fit(X, y, sample_weight=weights).scores_
    repeated = selector.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).scores_
    assert_allclose(weighted, repeated)


def test_weighted_regression(problem):
    X, y = problem
    y = y + 0.1 * X[:, 2] + 0.001
    weights = np.random.default_rng(2).integers(0, 4, 60)
    weighted = FStatisticSelector().fit(X, y, sample_weight=weights).scores_
    repeated = FStatisticSelector().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted, repeated.scores_)


@pytest.mark.parametrize("selector", CLASSIFIERS, ids=repr)
def test_constant_duplicated_and_perfect_columns(problem, selector):
    X, y = problem
    perfect = 0.1 * (y == 2) + 0.7
    X = np.c_[np.full(60, 0.3), X, X[:, 3], perfect, np.zeros(60)]
    selector.fit(X, y)
    assert not np.isnan(selector.scores_).any()
    assert_array_equal(np.argsort(selector.ranking_)[-2:], [0, 15])
    assert selector.ranking_[13] > selector.ranking_[4]
    if "generalized=True" not in repr(selector):  # the others judge a copy like its original
        assert selector.scores_[4] == selector.scores_[13]
        assert selector.ranking_[13] == selector.ranking_[4] + 1
    if isinstance(selector, TTestSelector):
        assert selector.scores_[14] == np.inf


def test_perfect_features_score_infinity():
    y = np.repeat([0, 1, 2], 7)
    X = np.c_[np.random.default_rng(0).normal(size=21), y * 0.1 + 0.3]
    assert FisherSelector().fit(X, y).scores_[1] == np.inf
    selector = FStatisticSelector().fit(X, y)
    assert selector.scores_[1] == np.inf
    assert selector.pvalues_[1] == 0.0
    assert FStatisticSelector().fit(X, 3.7 * X[:, 0] - 2).scores_[0] == np.inf


def test_weights_too_small_to_count():
    X, y = np.random.default_rng(0).normal(size=(8, 3)), np.repeat([0, 1], 4)
    for selector in (FStatisticSelector(), TTestSelector()):
        with pytest.raises(ValueError, match=r"sample_weight adds up to 0\.8"):
            selector.fit(X, y, sample_weight=np.full(8, 0.1))


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_taken_strip_by_strip(rng, monkeypatch, weighted):
    from sparsieve.design import one_pass

    monkeypatch.setattr(one_pass, "STRIP", 4)
    monkeypatch.setattr(one_pass, "BLOCK", 12)
    X, y = rng.standard_normal((20, 7)), rng.standard_normal(20)
    X[:, 2] = 5.0
    weights = rng.integers(1, 4, 20) if weighted else np.ones(20, dtype=int)
    found = FStatisticSelector(task="regression").fit(X + 1e6, y, sample_weight=weights)
    expected = f_regression(*(np.repeat(some, weights, axis=0) for some in (X, y)))[0]
    expected[2] = 0.0
    assert_allclose(found.scores_, expected, rtol=1e-8)
