"""Forward selection with prescribed signs, against every addition fitted by SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.preprocessing import StandardScaler

from sparsieve import RidgeForwardSelector

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
