"""Forward selection with prescribed signs, against every addition fitted by SciPy."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.preprocessing import StandardScaler

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.solvers import Greedy

PLAIN = {"nonnegative": True, "clip": None, "max_correlation": None}


def make(seed, n=30, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    X[:, 0] = X[:, 1] + X[:, 2] + 0.7 * X[:, 3]  # the best one, until the other two are in
    return X, X[:, 1] + X[:, 2] + 0.3 * X[:, 5] - X[:, 6] / 2 + 0.3 * rng.standard_normal(n)


def each_addition_tried(X, y, k, ridge):
    """Features, and (objective, coefficients) after every step."""
    d, order, used, found = X.shape[1], [], [], []
    A, b = np.vstack([X, np.sqrt(ridge) * np.eye(d)]), np.append(y, np.zeros(d))
    length = np.linalg.norm(b)
    for _ in range(k):
        tried = {j: nnls(A[:, [*used, j]], b)[1] for j in range(d) if j not in order}
        best = min(tried, key=tried.get)
        if tried[best] > length * (1 - 1e-10):
            break
        order.append(best)
        w, length = nnls(A[:, order], b)
        used = [j for j, weight in zip(order, w, strict=True) if weight > 0]
        found.append((length**2, w))
    return order, found


@pytest.mark.parametrize("ridge", [0.0, 0.02, 1.0])
def test_every_step_is_the_best_addition(ridge):
    some_lost_their_weight = 0
    for seed in range(6):
        X, y = make(seed)
        Z = StandardScaler().fit_transform(X)
        order, found = each_addition_tried(Z, y - y.mean(), 5, ridge * len(y))
        selector = RidgeForwardSelector(len(order), ridge=ridge, **PLAIN).fit(X, y)
        assert selector.path_.features.tolist() == order
        for t, (objective, w) in enumerate(found, start=1):
            scaled = selector.at(t).coef_[0] * X.std(axis=0)
            assert_allclose(scaled[order[:t]], w, atol=1e-9)
            assert selector.path_.objective[t] == pytest.approx(objective)
            some_lost_their_weight += (w == 0).sum()
        assert_allclose(selector.fit(sparse.csr_array(X), y).coef_, selector.coef_)
    assert some_lost_their_weight or ridge == 1.0  # which shares the weight


def test_columns_weights_covariates_and_copies():
    X, y = make(7)
    some = RidgeForwardSelector(6, nonnegative=[5, 6], always_keep=[3]).fit(X, -y)
    assert (some.coef_[0, [5, 6]] >= 0).all()
    assert some.coef_[0].min() < 0
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = RidgeForwardSelector(4, nonnegative=True).fit(X, y, sample_weight=weights)
    repeated = RidgeForwardSelector(4, nonnegative=True).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    copies = np.hstack([X, X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)])
    selector = RidgeForwardSelector(4, nonnegative=True).fit(copies, y)
    assert len(set(selector.path_.features % 12)) == 4
    assert selector.passed_over_
    single = RidgeForwardSelector(4, nonnegative=True).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    everything = RidgeForwardSelector(nonnegative=True).fit(X, y)
    assert 1 < everything.n_features_ < 12


def test_two_classes_and_features_that_only_speak_against():
    X, y = make(8)
    labels = np.where(y > y.mean(), "yes", "no")
    selector = RidgeForwardSelector(3, nonnegative=True).fit(X, labels)
    assert (selector.coef_[1] >= 0).all()
    assert selector.score(X, labels) > 0.8
    turned = RidgeForwardSelector(3, nonnegative=True).fit(-X, np.where(y > y.mean(), "a", "b"))
    assert_array_equal(turned.support_, selector.support_)
    with pytest.warns(UserWarning, match="No feature has a nonzero weight"):
        nothing = RidgeForwardSelector(2, nonnegative=True).fit(np.exp(X), -np.exp(X).sum(axis=1))
    assert not nothing.coef_.any()
    with pytest.warns(UserWarning, match="No feature has a nonzero weight"):
        nothing = L20Selector(2, nonnegative=True).fit(np.exp(X), -np.exp(X).sum(axis=1))
    assert not nothing.coef_.any()


def test_refusals_say_what_to_do():
    X, y = make(9)
    with pytest.raises(ValueError, match="needs two classes or one column of numbers, but y has 2"):
        RidgeForwardSelector(2, nonnegative=True).fit(X, np.column_stack([y, X[:, 0]]))
    with pytest.raises(ValueError, match="must be True, False or a list of column indices"):
        RidgeForwardSelector(2, nonnegative=1).fit(X, y)
    with pytest.raises(ValueError, match="leave nonnegative or feature_groups out"):
        RidgeForwardSelector(2, nonnegative=True, feature_groups=np.arange(12) // 2).fit(X, y)
    with pytest.raises(ValueError, match="fit it without nonnegative"):
        RidgeForwardSelector(2, nonnegative=True).fit(X, y).certify(X, y)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_exchanges_find_the_best_supports(ridge):
    missed = 0
    for seed in range(2):
        X, y = make(seed)
        Z, b = StandardScaler().fit_transform(X), y - y.mean()
        A = np.vstack([Z, np.sqrt(ridge * len(y)) * np.eye(12)])
        b = np.append(b, np.zeros(12))
        selector = L20Selector(3, ridge=ridge, nonnegative=True).fit(X, y)
        forward = L20Selector(3, ridge=ridge, nonnegative=True, solver=Greedy(swaps=0)).fit(X, y)
        plain = RidgeForwardSelector(3, ridge=ridge, **PLAIN).fit(X, y)
        assert_array_equal(forward.support_, plain.support_)
        assert_allclose(forward.coef_, plain.coef_, atol=1e-9)
        for k in range(1, len(selector.path_) + 1):
            best = min(nnls(A[:, some], b)[1] for some in combinations(range(12), k)) ** 2 / 2
            at = selector.at(k)
            scaled = at.coef_[0] * X.std(axis=0)
            reached = np.sum((b - A @ scaled) ** 2) / 2
            assert (scaled >= 0).all()
            assert at.objective_ == pytest.approx(reached)
            assert best <= reached * (1 + 1e-12) <= forward.at(k).objective_ * (1 + 1e-9)
            missed += reached > best * (1 + 1e-9)
    assert not missed


def test_exchanges_with_classes_weights_covariates_prices_and_copies():
    X, y = make(7)
    labels = np.where(y > y.mean(), "yes", "no")
    classes = L20Selector(3, nonnegative=True).fit(X, labels)
    assert (classes.coef_[1] >= 0).all()
    some = L20Selector(6, nonnegative=[5, 6], always_keep=[3]).fit(X, -y)
    assert (some.coef_[0, [5, 6]] >= 0).all()
    assert some.support_[3]
    assert some.coef_[0].min() < 0
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = L20Selector(4, nonnegative=True).fit(X, y, sample_weight=weights)
    repeated = L20Selector(4, nonnegative=True).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    copies = np.hstack([X, X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)])
    apart = L20Selector(4, nonnegative=True, max_correlation=0.99).fit(copies, y)
    assert len(set(np.flatnonzero(apart.support_) % 12)) == 4
    priced = L20Selector(lam=0.5, nonnegative=True).fit(X, y)
    assert priced.objective_ <= L20Selector(lam=0.5, nonnegative=True).fit(X, y).at(1).objective_
    assert 1 < L20Selector(nonnegative=True).fit(X, y).n_features_ < 12
    for wrong, words in (
        ({"solver": "exact"}, 'needs solver="greedy"'),
        ({"feature_groups": np.arange(12) // 2}, "leave nonnegative or feature_groups out"),
        ({"feature_groups": range(12), "group_costs": np.ones(12)}, "group_costs out"),
    ):
        with pytest.raises(ValueError, match=words):
            L20Selector(2, nonnegative=True, **wrong).fit(X, y)
    with pytest.raises(ValueError, match="fit it without nonnegative"):
        classes.certify(X, labels)
