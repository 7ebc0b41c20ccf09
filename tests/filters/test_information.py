"""Discretisation and information gain against definitions written plainly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal, norm, spearmanr
from sklearn.base import clone
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from sparsieve import InfoGainSelector
from sparsieve.design import as_design
from sparsieve.filters import information as module
from sparsieve.filters.information import discretize

SELECTORS = [
    InfoGainSelector(),
    InfoGainSelector(discretize="frequency"),
    InfoGainSelector(discretize="std"),
]


def make(seed, n=60, d=9, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, d))
    X[:, 1] += 2 * y
    X[:, 2] += np.abs(y - 1)
    X[:, 3] = np.round(X[:, 3] + y)
    X[:, 4] = rng.integers(0, 4, n)
    return X, y


def levels_of(X, y, method, n_bins=5, weights=None):
    return discretize(as_design(X), method, n_bins=n_bins, classes=y, sample_weight=weights).T


# -- plain references ------------------------------------------------------------------------


def entropy_bits(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(shares * np.log2(shares)).sum()


def mdl_cuts(x, y):
    """Fayyad and Irani (1993), word by word."""
    n = len(x)
    values = np.unique(x)
    best = None
    for low, high in pairwise(values):
        cut = (low + high) / 2
        left, right = y[x < cut], y[x > cut]
        expected = (len(left) * entropy_bits(left) + len(right) * entropy_bits(right)) / n
        if best is None or expected < best[0] - 1e-9:
            best = expected, cut
    if best is None:
        return []
    expected, cut = best
    left, right = y[x < cut], y[x > cut]
    gain = entropy_bits(y) - expected
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    delta = np.log2(3**k - 2) - (
        k * entropy_bits(y) - k1 * entropy_bits(left) - k2 * entropy_bits(right)
    )
    if gain <= (np.log2(n - 1) + delta) / n:
        return []
    below, above = x < cut, x > cut
    return sorted([*mdl_cuts(x[below], y[below]), cut, *mdl_cuts(x[above], y[above])])


def mutual_information(a, b):
    total = 0.0
    for u in np.unique(a):
        for v in np.unique(b):
            joint = np.mean((a == u) & (b == v))
            if joint > 0:
                total += joint * np.log(joint / (np.mean(a == u) * np.mean(b == v)))
    return total


# -- discretisation --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_mdl_equals_the_definition(seed, classes):
    X, y = make(seed, n=80, classes=classes)
    codes = levels_of(X, y, "mdl")
    cuts = [mdl_cuts(column, y) for column in X.T]
    assert any(len(c) > 1 for c in cuts) or classes == 2
    for j, column in enumerate(X.T):
        assert_array_equal(codes[:, j], np.searchsorted(cuts[j], column))


def test_std_and_frequency_equal_their_definitions():
    X, y = make(0)
    codes = levels_of(X, y, "std")
    low, high = X.mean(axis=0) - X.std(axis=0) / 2, X.mean(axis=0) + X.std(axis=0) / 2
    assert_array_equal(codes, np.where(low > X, 0, np.where(high < X, 2, 1)))
    codes = levels_of(X, y, "frequency", n_bins=4)
    assert_array_equal(codes, np.column_stack([frequency_levels(x, 4) for x in X.T]))
    cuts = np.quantile(X[:, 0], [0.25, 0.5, 0.75], method="inverted_cdf")
    assert_array_equal(codes[:, 0], (cuts[:, None] < X[:, 0]).sum(axis=0))
    # Without ties the levels are equally large.
    assert_array_equal(np.bincount(codes[:, 0]), [15, 15, 15, 15])


def frequency_levels(x, n_bins):
    """Cut at every quantile: above it, but below a value that fills a level if that is nearer."""
    codes = np.zeros(len(x), dtype=int)
    for k in range(1, n_bins):
        edge = np.quantile(x, k / n_bins, method="inverted_cdf")
        below, through = np.mean(x < edge), np.mean(x <= edge)
        nearer = k / n_bins - below < through - k / n_bins - 1e-12
        codes += x >= edge if through - below > 1 / n_bins + 1e-12 and nearer else x > edge
    return codes


@pytest.mark.parametrize("n_bins", [2, 3, 5, 20])
@pytest.mark.parametrize("share", [1, 3, 10, 25, 50, 97, 99])
def test_two_levels_stay_two_whatever_their_shares(n_bins, share):
    """A label and its complement say the same."""
    y = np.arange(100) < share
    X = np.column_stack([y, ~y, 3.0 - 2.0 * y])
    codes = levels_of(X, y.astype(int), "frequency", n_bins=n_bins)
    for column in codes.T:
        assert len(np.unique(column)) == len(np.unique(np.column_stack([column, y]), axis=0)) == 2
    scores = InfoGainSelector(discretize="frequency", n_bins=n_bins).fit(X, y).scores_
    assert_allclose(scores, mutual_information(y, y), atol=1e-12)


@pytest.mark.parametrize("rare", [1, 4, 9])
def test_rare_values_on_both_sides_of_a_common_one(rare):
    x = np.repeat([0.0, 1.0, 2.0], [rare, 100 - 2 * rare, rare])
    codes = levels_of(np.column_stack([x, -x]), np.arange(100) % 2, "frequency", n_bins=5)
    assert len(np.unique(codes[:, 0])) == 3
    assert_array_equal(codes[:, 1], 4 - codes[:, 0])


@pytest.mark.parametrize("method", ["mdl", "frequency", "std"])
def test_weights_repeat_samples(method):
    X, y = make(3)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = levels_of(X, y, method, weights=weights.astype(float))
    repeated = levels_of(np.repeat(X, weights, axis=0), np.repeat(y, weights), method)
    assert_array_equal(np.repeat(weighted, weights, axis=0), repeated)


@pytest.mark.parametrize("method", ["mdl", "frequency", "std", None])
def test_blocks_change_nothing(method, monkeypatch):
    X, y = make(1)
    whole = levels_of(X, y, method)
    monkeypatch.setattr(module, "BLOCK_VALUES", 1)
    assert_array_equal(levels_of(X, y, method), whole)


# -- information gain ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mdl", "frequency", "std"])
def test_scores_equal_the_definition(method):
    X, y = make(2)
    selector = InfoGainSelector(discretize=method).fit(X, y)
    codes = levels_of(X, y, method)
    expected = [mutual_information(column, y) for column in codes.T]
    assert_allclose(selector.scores_, expected, atol=1e-12)
    assert_allclose(
        selector.scores_, mutual_info_classif(codes, y, discrete_features=True), atol=1e-12
    )
    again = InfoGainSelector(discretize=None).fit(codes, y)
    assert_array_equal(again.scores_, selector.scores_)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_order_sparse_and_monotone_maps(selector):
    X, y = make(4)
    X[np.abs(X) < 0.5] = 0.0
    scores = selector.fit(X, y).scores_
    assert_array_equal(selector.fit(sparse.csr_array(X), y).scores_, scores)
    rows, columns = (np.random.default_rng(0).permutation(k) for k in X.shape)
    assert_array_equal(selector.fit(X[rows], y[rows]).scores_, scores)
    assert_array_equal(selector.fit(X[:, columns], y).scores_, scores[columns])
    if selector.discretize != "std":
        assert_array_equal(selector.fit(np.exp(X), y).scores_, scores)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_constant_duplicated_and_perfect_columns(selector):
    X, y = make(5)
    X = np.c_[np.full(len(X), 0.1), X, X[:, 1], np.where(y == 1, 5.0, y)]
    selector.fit(X, y)
    assert selector.ranking_[0] == X.shape[1]
    assert selector.scores_[0] == 0.0
    assert selector.scores_[2] == selector.scores_[-2]
    assert selector.ranking_[-2] == selector.ranking_[2] + 1
    shares = np.bincount(y) / len(y)
    if selector.discretize != "std":
        assert_allclose(selector.scores_[-1], -(shares * np.log(shares)).sum())


def test_tiny_classes():
    X, y = make(6)
    y[:] = np.minimum(y, 1)
    y[0] = 2
    for selector in SELECTORS:
        assert np.isfinite(selector.fit(X, y).scores_).all()


# -- numbers ---------------------------------------------------------------------------------


def test_information_about_numbers_is_that_about_their_levels():
    X, y = make(7, n=80)
    y = y + np.random.default_rng(0).random(80)
    weights = np.random.default_rng(1).integers(1, 4, 80)
    for selector in SELECTORS:
        scores = selector.fit(X, y).scores_
        of_levels = clone(selector).fit(X, frequency_levels(y, 5)).scores_
        assert_array_equal(scores, of_levels)
        two = clone(selector).fit(X, np.column_stack([y, X[:, 0]])).scores_
        assert_array_equal(two, np.maximum(scores, selector.fit(X, X[:, 0]).scores_))
        weighted = selector.fit(X, y, sample_weight=weights).scores_
        repeated = selector.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).scores_
        assert_allclose(weighted, repeated, atol=1e-12)


@pytest.mark.parametrize("n_bins", [4, 16])
def test_normal_numbers_share_what_the_normal_distribution_says(n_bins):
    """Exactly the information of its cells, which comes close to that of the numbers."""
    y, other = np.random.default_rng(0).standard_normal((2, 20_000))
    correlations = np.array([0.0, 0.5, 0.9])
    X = correlations * y[:, None] + np.sqrt(1 - correlations**2) * other[:, None]
    selector = InfoGainSelector(discretize="frequency", n_bins=n_bins).fit(X, y)
    edges = np.concatenate(([-9.0], norm.ppf(np.arange(1, n_bins) / n_bins), [9.0]))
    whole = -0.5 * np.log(1 - correlations**2)
    for score, correlation, limit in zip(selector.scores_, correlations, whole, strict=True):
        points = np.stack(np.meshgrid(edges, edges), axis=-1)
        pair = multivariate_normal(cov=[[1.0, correlation], [correlation, 1.0]])
        cells = np.maximum(np.diff(np.diff(pair.cdf(points), axis=0), axis=1), 1e-300)
        expected = float((cells * np.log(cells * n_bins**2)).sum())
        bias = (n_bins - 1) ** 2 / (2 * len(y))  # of counts in the place of shares
        assert score == pytest.approx(expected + bias, abs=0.01)
        assert expected <= limit + 1e-6


def test_the_order_of_features_is_that_of_neighbours():
    X = np.random.default_rng(0).standard_normal((300, 12))
    sizes = np.linspace(0.0, 1.5, 12)
    y = (np.abs(X) * sizes).sum(axis=1)  # which no correlation sees
    found = InfoGainSelector(discretize="frequency").fit(X, y).scores_
    of_neighbours = mutual_info_regression(X, y, random_state=0)
    assert spearmanr(found, of_neighbours)[0] > 0.6
    assert abs(np.corrcoef(X[:, -1], y)[0, 1]) < 0.15


def test_bad_parameters():
    X, y = make(0, n=300)
    with pytest.raises(ValueError, match="discretize must be one of 'mdl', 'frequency', 'std'"):
        InfoGainSelector(discretize="median").fit(X, y)
    with pytest.raises(ValueError, match="n_bins must be at most 256, got 1000"):
        InfoGainSelector(n_bins=1000).fit(X, y)
    with pytest.raises(ValueError, match="column 0 has 300 different values"):
        InfoGainSelector(discretize=None).fit(X, y)
