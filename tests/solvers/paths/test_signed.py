"""Coefficients of prescribed signs, against convex solvers, scikit-learn and the conditions."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from sklearn.linear_model import Lasso

from sparsieve import L21Selector, LikelihoodL21Selector
from sparsieve.solvers.paths.signed import one_sided, signed_minimum


def make(seed, n=40, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    y = X[:, :4] @ [1.0, 2.0, -1.5, 0.5] + rng.standard_normal(n)
    return X, y, rng.integers(1, 4, n).astype(float)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 8))
def test_the_quadratic_minimum_meets_its_conditions(seed, n, d):
    """Also of dependent columns, with columns of price and sign 0 among them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    b, signs = X.T @ rng.standard_normal(n), rng.integers(-1, 2, d)
    prices = rng.random(d) + 0.01
    w = signed_minimum(X.T @ X, b, prices, signs, np.zeros(d))
    left = b - X.T @ (X @ w)
    assert (signs * w >= 0).all()
    assert_allclose(left[w != 0], (prices * np.sign(w))[w != 0], atol=1e-8)
    assert (one_sided(left, signs) <= prices + 1e-8).all()


def test_without_a_price_it_is_nonnegative_least_squares():
    X, y, _ = make(0)
    w = signed_minimum(X.T @ X, X.T @ y, np.full(12, 1e-12), np.ones(12), np.zeros(12))
    assert_allclose(w, nnls(X, y)[0], atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 12), (20, 50)])
def test_least_squares_is_the_positive_lasso(shape):
    X, y, weights = make(1, *shape)
    for alpha in (3.0, 30.0):
        selector = L21Selector(alpha=alpha, nonnegative=True, standardize=False)
        selector.fit(X, y, sample_weight=weights)
        share = alpha / (2 * weights.sum())
        lasso = Lasso(alpha=share, positive=True, tol=1e-12, max_iter=10**6)
        lasso.fit(X, y, sample_weight=weights)
        assert_allclose(selector.coef_[0], lasso.coef_, atol=1e-8)
        assert_allclose(selector.intercept_, lasso.intercept_)
        assert selector.optimality_ < 1e-10
        thin = L21Selector(alpha=alpha, nonnegative=True, standardize=False)
        thin.fit(sparse.csr_array(X), y, sample_weight=weights)
        assert_allclose(thin.coef_, selector.coef_, atol=1e-10)


def test_some_signs_and_free_covariates():
    X, y, _ = make(2)
    selector = L21Selector(
        alpha=4.0, nonnegative=[0, 2, 5], always_keep=[3], standardize=False, fit_intercept=False
    ).fit(X, -y)
    w = cp.Variable(12)
    value = cp.sum_squares(X @ w + y) + 4.0 * cp.norm1(w[[j for j in range(12) if j != 3]])
    problem = cp.Problem(cp.Minimize(value), [w[[0, 2, 5]] >= 0])
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11)
    assert_allclose(selector.coef_[0], w.value, atol=1e-5)
    assert selector.coef_[0, 3] < 0
    assert selector.coef_[0, 1] < 0
    assert selector.objective_ == pytest.approx(problem.value, rel=1e-7)


def objective(kind, F, y, weights):
    if kind == "classification":
        return weights @ (cp.logistic(F) - cp.multiply(y, F))
    if kind == "counts":
        return weights @ (cp.exp(F) - cp.multiply(y, F))
    earlier = np.where(y >= y[:, None], 0.0, -60.0)  # all events, no ties
    sums = cp.log_sum_exp(np.ones((len(y), 1)) @ cp.reshape(F, (1, len(y)), "C") + earlier, axis=1)
    return cp.sum(sums - F)


@pytest.mark.parametrize("kind", ["classification", "counts", "survival"])
def test_likelihoods_reach_the_optimum_of_a_convex_solver(kind):
    X, y, weights = make(3, n=20)
    X /= 2.0
    if kind == "classification":
        y = (y > 0).astype(float)
    elif kind == "counts":
        y = np.random.default_rng(0).poisson(np.exp(0.5 * y / y.std())).astype(float)
    else:
        y, weights = np.exp(-y) + 1e-3 * np.arange(20), np.ones(20)
    target = np.rec.fromarrays([np.ones(20, bool), y], names="event,time")
    selector = LikelihoodL21Selector(
        alpha=1.5, nonnegative=[0, 2, 4, 5, 6], always_keep=[7], standardize=False, task=kind
    ).fit(X, target if kind == "survival" else y, sample_weight=weights)
    w, intercept = cp.Variable(12), cp.Variable()
    F = X @ w + (0.0 if kind == "survival" else intercept)
    paid = [j for j in range(12) if j != 7]
    value = objective(kind, F, y, weights) + 1.5 * cp.norm1(w[paid])
    problem = cp.Problem(cp.Minimize(value), [w[[0, 2, 4, 5, 6]] >= 0])
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    assert selector.converged_
    assert selector.objective_ == pytest.approx(problem.value, rel=1e-6)
    assert_allclose(selector.coef_[0], w.value, atol=2e-3)
    assert problem.value >= selector.objective_ - selector.duality_gap_ - 1e-7


@pytest.mark.parametrize("cls", [L21Selector, LikelihoodL21Selector])
def test_features_of_two_classes_speak_for_the_second(cls):
    X, y, _ = make(4)
    labels = np.where(y > 0, "ill", "alive")
    selector = cls(3, nonnegative=True).fit(X, labels)
    assert selector.classes_[1] == "ill"
    assert (selector.coef_[-1] >= 0).all()
    assert selector.coef_[-1].any()
    assert selector.score(X, labels) > 0.7
    turned = cls(3, nonnegative=True).fit(-X, np.where(y > 0, "alive", "ill"))
    assert_array_equal(turned.support_, selector.support_)
    path = cls(nonnegative=True).path(X, labels, n_alphas=3)
    assert all((coef.toarray()[-1] >= 0).all() for coef in path.coefs)


def test_features_of_the_wrong_sign_do_not_enter():
    X, y, _ = make(5)
    target = -np.abs(X).sum(axis=1)
    nothing = L21Selector(nonnegative=True).fit(np.abs(X), target)
    assert not nothing.coef_.any()
    copies = np.hstack([X, X])
    selector = L21Selector(alpha=5.0, nonnegative=True).fit(copies, y)
    assert selector.converged_
    assert (selector.coef_ >= 0).all()


@pytest.mark.parametrize("cls", [L21Selector, LikelihoodL21Selector])
def test_refusals_say_what_to_do(cls):
    X, y, _ = make(6)
    classes = np.digitize(y, [-1, 1])
    with pytest.raises(ValueError, match=r"needs two classes or one column .* y has 3 classes"):
        cls(2, nonnegative=True).fit(X, classes)
    with pytest.raises(ValueError, match="signs of coefficients in feature_groups; leave"):
        cls(2, nonnegative=True, feature_groups=np.arange(12) // 2).fit(X, y > 0)
    with pytest.raises(ValueError, match="nonnegative: 'age' is a name, but X has no column names"):
        cls(2, nonnegative=["age"]).fit(X, y > 0)
    with pytest.raises(ValueError, match='needs penalty="l21"'):
        L21Selector(penalty="mcp", nonnegative=True).fit(X, y)
    with pytest.raises(ValueError, match="cannot prove anything about"):
        LikelihoodL21Selector(2, nonnegative=True).fit(X, y > 0).certify(X, y > 0)
