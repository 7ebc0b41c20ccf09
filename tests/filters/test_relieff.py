"""ReliefF against the definitions of Robnik-Sikonja and Kononenko (2003), written plainly."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsieve import ReliefFSelector
from sparsieve.filters import relieff, relieff_features

# -- the plain reference ---------------------------------------------------------------------


def expected_difference(column, members, other, discrete):
    """Mean difference between ``other`` and the known values of the members of a class."""
    known = [v for v in column[members] if not np.isnan(v)]
    if not known:
        known = [v for v in column if not np.isnan(v)]
    return np.mean([difference(v, other, discrete) for v in known])


def difference(u, v, discrete):
    return float(u != v) if discrete else abs(u - v)


def difference_table(X, groups, discrete):
    """diff[f, i, j], with missing values as in the paper."""
    X = np.array(X, dtype=float)
    n, d = X.shape
    table = np.zeros((d, n, n))
    for f in range(d):
        column = X[:, f].copy()
        known = column[~np.isnan(column)]
        if len(known) == 0 or known.max() == known.min():
            continue
        if not discrete[f]:
            column = (column - known.min()) / (known.max() - known.min())
        for i in range(n):
            for j in range(n):
                u, v = column[i], column[j]
                mine, theirs = groups == groups[i], groups == groups[j]
                if np.isnan(u) and np.isnan(v):
                    others = [w for w in column[theirs] if not np.isnan(w)]
                    if not others:
                        others = [w for w in column if not np.isnan(w)]
                    means = [expected_difference(column, mine, w, discrete[f]) for w in others]
                    table[f, i, j] = np.mean(means)
                elif np.isnan(u):
                    table[f, i, j] = expected_difference(column, mine, v, discrete[f])
                elif np.isnan(v):
                    table[f, i, j] = expected_difference(column, theirs, u, discrete[f])
                else:
                    table[f, i, j] = difference(u, v, discrete[f])
    return table


def nearest(distances, i, allowed, k):
    def key(j):
        return float(f"{distances[i, j]:.11g}"), j

    return sorted((j for j in allowed if j != i), key=key)[:k]


def rank_weights(count, sigma):
    ranks = np.arange(1, count + 1)
    weights = np.ones(count) if sigma is None else np.exp(-((ranks / sigma) ** 2))
    return weights / weights.sum()


def reference_relieff(X, y, k, *, discrete=None, queries=None, sigma=None):
    n, d = np.shape(X)
    classes, codes = np.unique(y, return_inverse=True)
    discrete = np.zeros(d, bool) if discrete is None else discrete
    table = difference_table(X, codes, discrete)
    distances = table.sum(axis=0)
    priors = np.bincount(codes) / n
    queries = range(n) if queries is None else queries
    W = np.zeros(d)
    for i in queries:
        for c in range(len(classes)):
            near = nearest(distances, i, np.flatnonzero(codes == c), k)
            if not near:
                continue
            factor = -1.0 if c == codes[i] else priors[c] / (1 - priors[codes[i]])
            for weight, j in zip(rank_weights(len(near), sigma), near, strict=True):
                W += factor * weight * table[:, i, j] / len(queries)
    return W


def reference_rrelieff(X, y, k, *, discrete=None, sigma=None):
    n, d = np.shape(X)
    discrete = np.zeros(d, bool) if discrete is None else discrete
    table = difference_table(X, np.zeros(n, int), discrete)
    distances = table.sum(axis=0)
    N_dC, N_dA, N_dCdA = 0.0, np.zeros(d), np.zeros(d)
    for i in range(n):
        near = nearest(distances, i, range(n), k)
        for weight, j in zip(rank_weights(len(near), sigma), near, strict=True):
            dy = abs(y[i] - y[j]) / np.ptp(y)
            N_dC += dy * weight
            N_dA += table[:, i, j] * weight
            N_dCdA += dy * table[:, i, j] * weight
    return N_dCdA / N_dC - (N_dA - N_dCdA) / (n - N_dC)


def make(seed, n=40, d=13, classes=3, levels=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, (n, d)) * 1.0
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    X[:, min(2, d - 1)] += y
    return X, y


# -- equality --------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 3, 10, 1000])
def test_equals_the_reference(seed, k):
    X, y = make(seed)
    scores = ReliefFSelector(n_neighbors=k).fit(X, y).scores_
    assert_allclose(scores, reference_relieff(X, y, k), atol=1e-13)


@pytest.mark.parametrize("levels", [2, 4, 10])
def test_equals_the_reference_where_distances_tie(levels):
    X, y = make(levels, levels=levels, d=5)
    scores = ReliefFSelector(n_neighbors=3).fit(X, y).scores_
    assert_allclose(scores, reference_relieff(X, y, 3), atol=1e-13)


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_rank_weights(sigma):
    X, y = make(0)
    scores = ReliefFSelector(n_neighbors=5, sigma=sigma).fit(X, y).scores_
    assert_allclose(scores, reference_relieff(X, y, 5, sigma=sigma), atol=1e-13)
    target = X[:, 2] + 0.1 * X[:, 0]
    scores = ReliefFSelector(n_neighbors=5, sigma=sigma).fit(X, target).scores_
    assert_allclose(scores, reference_rrelieff(X, target, 5, sigma=sigma), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_discrete_features(seed):
    X, y = make(seed, levels=5)
    X[:, ::3] = make(seed)[0][:, ::3]
    discrete = np.ones(X.shape[1], bool)
    discrete[::3] = False
    expected = reference_relieff(X, y, 4, discrete=discrete)
    for given in (discrete, np.flatnonzero(discrete), list(np.flatnonzero(discrete))):
        selector = ReliefFSelector(n_neighbors=4, discrete_features=given).fit(X, y)
        assert_allclose(selector.scores_, expected, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.long("against the plain formula, loop by loop")
def test_missing_values(seed):
    X, y = make(seed, n=25, d=8, levels=4)
    X[:, :3] = make(seed, n=25)[0][:, :3]
    discrete = np.arange(8) >= 5
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 0] = make(seed, n=25)[0][:, 0]  # one complete column
    X[y == 1, 6] = np.nan  # one class knows nothing about this feature
    selector = ReliefFSelector(n_neighbors=3, discrete_features=discrete).fit(X, y)
    assert_allclose(selector.scores_, reference_relieff(X, y, 3, discrete=discrete), atol=1e-13)
    target = X[:, 0] + rng.normal(size=25)
    selector.fit(X, target)
    assert_allclose(
        selector.scores_, reference_rrelieff(X, target, 3, discrete=discrete), atol=1e-13
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.long("against the plain formula, loop by loop")
def test_regression(seed):
    X, _ = make(seed)
    y = X[:, 4] - 0.5 * X[:, 1] + 0.1 * np.random.default_rng(seed).normal(size=len(X))
    selector = ReliefFSelector(n_neighbors=6).fit(X, y)
    assert_allclose(selector.scores_, reference_rrelieff(X, y, 6), atol=1e-13)
    assert selector.ranking_[4] == 1
    # Several targets: the same one twice changes nothing.
    assert_allclose(selector.fit(X, np.c_[y, 3 * y]).scores_, reference_rrelieff(X, y, 6))


def test_relief_is_the_special_case():
    """Kira and Rendell: nearest hit and nearest miss, plus one minus the other."""
    X, y = make(5, classes=2)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    W = np.zeros(X.shape[1])
    for i in range(len(X)):
        distances = np.abs(scaled - scaled[i]).sum(axis=1)
        distances[i] = np.inf
        hit = np.argmin(np.where(y == y[i], distances, np.inf))
        miss = np.argmin(np.where(y != y[i], distances, np.inf))
        W += (np.abs(scaled[i] - scaled[miss]) - np.abs(scaled[i] - scaled[hit])) / len(X)
    assert_allclose(ReliefFSelector(n_neighbors=1).fit(X, y).scores_, W, atol=1e-13)


def test_sampled_queries():
    X, y = make(1)
    selector = ReliefFSelector(n_neighbors=3, n_samples=11, random_state=4).fit(X, y)
    queries = np.random.RandomState(4).permutation(len(X))[:11]
    assert_allclose(selector.scores_, reference_relieff(X, y, 3, queries=queries), atol=1e-13)
    everyone = ReliefFSelector(n_neighbors=3, n_samples=len(X), random_state=0).fit(X, y)
    assert_array_equal(everyone.scores_, ReliefFSelector(n_neighbors=3).fit(X, y).scores_)


@pytest.mark.parametrize("n_samples", [None, 30])
def test_tiles_change_nothing(monkeypatch, n_samples):
    X, y = make(3, n=70, levels=6)
    X[:, 4:] = make(3, n=70)[0][:, 4:]
    options = {
        "n_neighbors": 4,
        "discrete_features": [0, 1],
        "n_samples": n_samples,
        "random_state": 0,
    }
    whole = ReliefFSelector(**options).fit(X, y).scores_
    monkeypatch.setattr(relieff, "TILE", 16)
    tiled = ReliefFSelector(**options, n_jobs=2).fit(X, y).scores_
    assert_array_equal(tiled, whole)
    monkeypatch.setattr(relieff_features, "TILE_COLUMNS", 4)
    monkeypatch.setattr(relieff_features, "BLOCK_VALUES", 1)
    assert_array_equal(ReliefFSelector(**options).fit(X, y).scores_, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_little_memory_is_needed_beside_X(dtype):
    X = np.random.default_rng(0).random((300, 4000), dtype=dtype)
    y = np.arange(300) % 2
    ReliefFSelector(n_samples=2, random_state=0).fit(X[:20], y[:20])  # what is loaded once
    tracemalloc.start()
    ReliefFSelector(n_samples=20, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * X.nbytes


def test_an_outlier_leaves_the_neighbours_of_the_others_alone():
    X, y = make(0, d=1)
    X[0] = 1e7
    scores = ReliefFSelector(n_neighbors=2).fit(X, y).scores_
    without = reference_relieff(X, y, 2)
    assert_allclose(scores, without, rtol=1e-9)


def test_threads_change_nothing():
    X, y = make(7, n=600, d=40)
    one = ReliefFSelector().fit(X, y).scores_
    assert_array_equal(ReliefFSelector(n_jobs=2).fit(X, y).scores_, one)


# -- properties ------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [None, 7])
def test_column_order_does_not_matter(levels):
    X, y = make(2, levels=levels)
    order = np.random.default_rng(0).permutation(X.shape[1])
    scores = ReliefFSelector(n_neighbors=3).fit(X, y).scores_
    assert_allclose(
        ReliefFSelector(n_neighbors=3).fit(X[:, order], y).scores_, scores[order], atol=1e-13
    )


def test_row_order_and_units_do_not_matter():
    X, y = make(2)
    order = np.random.default_rng(0).permutation(len(X))
    scores = ReliefFSelector(n_neighbors=3).fit(X, y).scores_
    assert_allclose(ReliefFSelector(n_neighbors=3).fit(X[order], y[order]).scores_, scores)
    scaled = ReliefFSelector(n_neighbors=3).fit(-100.0 * X + 7.0, np.array(list("abc"))[y])
    assert_allclose(scaled.scores_, scores)


def test_duplicated_and_constant_columns():
    X, y = make(4)
    X = np.c_[np.full(len(X), 3.0), X, X[:, 2], np.full(len(X), np.nan)]
    selector = ReliefFSelector(n_neighbors=3, n_features_to_select=2).fit(X, y)
    assert selector.scores_[0] == selector.scores_[-1] == 0.0
    assert selector.ranking_[0] == X.shape[1] - 1
    assert selector.ranking_[-1] == X.shape[1]
    # The copy scores the same as the column and comes after it.
    assert selector.scores_[3] == selector.scores_[-2]
    assert_array_equal(selector.get_support(indices=True), [3, X.shape[1] - 2])


def test_a_class_of_one_sample():
    X, y = make(6)
    y[y == 2] = 1
    y[0] = 2
    scores = ReliefFSelector(n_neighbors=4).fit(X, y).scores_
    assert_allclose(scores, reference_relieff(X, y, 4), atol=1e-13)


def test_single_precision_and_memory_order():
    X, y = make(8)
    single = X.astype(np.float32)
    expected = reference_relieff(single.astype(float), y, 3)
    for data in (single, np.asfortranarray(single)):
        selector = ReliefFSelector(n_neighbors=3).fit(data, y)
        assert_allclose(selector.scores_, expected, atol=1e-13)
        assert selector.transform(data).dtype == np.float32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"n_samples": 41}, "n_samples=41 is larger than the 40 samples of X"),
        ({"sigma": -1.0}, "sigma must be positive, got -1.0"),
        ({"discrete_features": [99]}, "between 0 and 12, got 99 to 99"),
        ({"discrete_features": "all"}, "discrete_features must be None"),
    ],
)
def test_bad_parameters(options, message):
    X, y = make(0)
    with pytest.raises(ValueError, match=message):
        ReliefFSelector(**options).fit(X, y)


def test_bad_data():
    X, y = make(0)
    with pytest.raises(ValueError, match="y is constant"):
        ReliefFSelector(task="regression").fit(X, np.full(len(X), 2.0))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinite values: 1 value in 1 column \(1\)"):
        ReliefFSelector().fit(X, y)


@pytest.mark.parametrize("how", [{}, {"n_samples": 30, "random_state": 0}, {"sigma": 3.0}])
def test_sparse_data_give_what_dense_data_give(how):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 40)) < 0.2, rng.standard_normal((300, 40)), 0.0)
    X[:, :3] = np.where(X[:, :3] == 0.0, 0.0, np.sign(X[:, :3]))
    X[:, 5] = 0.0
    y = (X[:, 7] + X[:, 8] > 0).astype(int)
    for target in (y, X[:, 7] + 0.1 * rng.standard_normal(300)):
        dense = ReliefFSelector(discrete_features=[0, 1, 2], **how).fit(X, target)
        for kind in (sparse.csr_array, sparse.csc_array):
            other = ReliefFSelector(discrete_features=[0, 1, 2], **how).fit(kind(X), target)
            np.testing.assert_array_equal(other.scores_, dense.scores_)
            np.testing.assert_array_equal(other.ranking_, dense.ranking_)
