"""Targets that features predict perfectly, and odd sizes: an optimum, or one sentence."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from sparsieve import (
    L21Selector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    LInfSelector,
    RFSSelector,
)

N, D = 40, 6
X = np.random.default_rng(0).standard_normal((N, D))
Z = (X - X.mean(axis=0)) / X.std(axis=0)
ORDERED = np.array([(True, 10.0 - x) for x in X[:, 0]], dtype=[("died", "?"), ("months", "f8")])
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])

pytestmark = pytest.mark.filterwarnings("error")


def cox(f):
    """(value, gradient) of a sample without ties in which everybody dies, by its definition."""
    order = np.argsort(ORDERED["months"])
    value, gradient = 0.0, -np.ones(N)
    for place, i in enumerate(order):
        at_risk = order[place:]
        total = logsumexp(f[at_risk])
        value += total - f[i]
        gradient[at_risk] += np.exp(f[at_risk] - total)
    return value, gradient


@pytest.mark.parametrize("ridge", [1e-2, 1e-6])
def test_cox_with_a_ridge_where_a_feature_orders_all_times(ridge):
    selector = LikelihoodForwardSelector(2, ridge=ridge).fit(X, ORDERED)
    assert selector.converged_
    chosen, rho = selector.path_.supports[2], ridge * N

    def objective(w):
        value, gradient = cox(Z[:, chosen] @ w)
        return value + rho / 2 * w @ w, Z[:, chosen].T @ gradient + rho * w

    found = minimize(objective, np.zeros(2), jac=True, method="L-BFGS-B", tol=1e-14)
    assert selector.objective_ <= found.fun * (1 + 1e-9)
    assert selector.objective_ == pytest.approx(found.fun, rel=1e-4)


@pytest.mark.parametrize("alpha", [0.1, 1e-3, 1e-5])
def test_cox_with_a_penalty_where_a_feature_orders_all_times(alpha):
    selector = LikelihoodL21Selector(alpha=alpha).fit(X, ORDERED)
    assert selector.converged_
    assert selector.optimality_ <= 1e-6
    w = selector.coef_[0] * X.std(axis=0)
    value, gradient = cox(Z @ w)
    assert selector.objective_ == pytest.approx(value + alpha * np.abs(w).sum(), rel=1e-6)
    slopes = Z.T @ gradient
    assert (np.abs(slopes) <= alpha * (1 + 1e-3)).all()
    np.testing.assert_allclose(slopes[w != 0], -alpha * np.sign(w[w != 0]), rtol=2e-3)


def test_survival_that_is_certain_is_predicted():
    """The baseline overflows at 0, where nobody is; at the samples it does not."""
    selector = LikelihoodForwardSelector(1, ridge=1e-9).fit(X, ORDERED)
    assert selector.baseline_hazard_[-1] == np.inf
    order = np.argsort(ORDERED["months"])
    found = selector.predict_survival(X, ORDERED["months"][order])
    risk = X @ selector.coef_[0] + selector.intercept_[0]
    jumps = [-logsumexp(risk[order[place:]]) for place in range(N)]
    logs = np.array([logsumexp(jumps[: place + 1]) for place in range(N)])
    with np.errstate(over="ignore"):
        expected = np.exp(-np.exp(logs + risk[:, None]))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
def test_classes_that_are_separable(alpha):
    selector = LikelihoodL21Selector(alpha=alpha).fit(X, CLASSES)
    assert selector.converged_
    assert selector.n_iter_ <= 30
    assert (selector.predict(X) == CLASSES).all()


@pytest.mark.parametrize("y", [CLASSES, X[:, 0] > 0, ORDERED], ids=["classes", "two", "survival"])
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_that_make_a_ridge_next_to_nothing_or_everything(y, unit):
    selector = LikelihoodForwardSelector(2, standardize=False).fit(unit * X, y)
    assert selector.converged_
    assert selector.support_[0]
    # The same model in usual units.
    ridge = 0.1 / unit**2
    same = LikelihoodForwardSelector(2, standardize=False, ridge=ridge).fit(X, y)
    assert selector.path_.objective[1] == pytest.approx(same.path_.objective[1], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("size", [1, 10**6, 10**12])
def test_large_counts(size):
    y = size * np.random.default_rng(0).poisson(np.exp(1.5 * X[:, 1]))
    selector = LikelihoodL21Selector(2, loss="negative-binomial").fit(X, y)
    assert selector.converged_
    assert selector.support_[1]
    forward = LikelihoodForwardSelector(1, loss="negative-binomial").fit(X, y)
    assert forward.converged_
    assert forward.support_[1]
    assert forward.predict(X).sum() == pytest.approx(y.sum(), rel=0.5)


def test_a_small_dispersion_is_a_poisson_model():
    y = np.random.default_rng(0).poisson(np.exp(1.5 * X[:, 1]))
    poisson = LikelihoodL21Selector(alpha=2.0, loss="poisson", tol=1e-9).fit(X, y)
    for dispersion in (1e-6, 1e-10):
        other = LikelihoodL21Selector(
            alpha=2.0, loss="negative-binomial", dispersion=dispersion, tol=1e-9
        ).fit(X, y)
        np.testing.assert_allclose(other.coef_, poisson.coef_, atol=1e-3)


@pytest.mark.parametrize("selector", [LikelihoodForwardSelector, LikelihoodL21Selector])
@pytest.mark.parametrize("y", [CLASSES, X[:, 0] > 0, ORDERED], ids=["classes", "two", "survival"])
def test_covariates_that_predict_perfectly_are_refused(selector, y):
    with pytest.raises(ValueError, match="columns of always_keep predict the target perfectly"):
        selector(2, always_keep=[0]).fit(X, y)


@pytest.mark.parametrize(
    "selector", [LikelihoodL21Selector(), L21Selector(), LInfSelector(), RFSSelector()]
)
def test_a_path_where_no_feature_says_anything_is_empty(selector):
    for table in (np.ones((N, 2)), np.zeros((N, 2))):
        path = selector.path(table, np.arange(N) % 2, n_alphas=3)
        assert not path.n_features.any()
        assert len(path.n_features) == 4
        assert not any(coef.nnz for coef in path.coefs)
    if not isinstance(selector, RFSSelector):
        with pytest.raises(ValueError, match="ratio must be at most 1, got 2"):
            selector.path(X, np.arange(N) % 2, ratio=2)


def test_what_does_not_converge_is_said():
    with pytest.warns(UserWarning, match="LikelihoodL21Selector stopped after 1 iter"):
        LikelihoodL21Selector(alpha=1e-6, max_iter=1).fit(X, ORDERED)


@pytest.mark.parametrize("count", [8, pytest.param(400, marks=pytest.mark.slow)])
def test_ill_posed_problems_of_all_kinds(count):
    """Copies, whole numbers, odd units and weights, late entry: no foreign warnings, an optimum."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 40))
        A = rng.standard_normal((n, 4))
        A = np.hstack([A, A[:, :1]]) if seed % 3 == 0 else np.round(A) if seed % 3 == 1 else A
        signal = 2 * A[:, 0] + (seed % 2) * rng.standard_normal(n)
        how, params = {}, {"standardize": bool(seed % 4)}
        if seed % 5 == 0:
            y = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
        elif seed % 5 == 1:
            y = signal > np.median(signal)
        elif seed % 5 == 2:
            y, params["loss"] = rng.poisson(np.exp(signal / 2)) * 10 ** (seed % 4), "poisson"
            y[0] = 1
        else:
            time = np.exp(-signal / 2) + 1.0
            y = np.array(list(zip(rng.random(n) < 0.8, time, strict=True)), dtype=ORDERED.dtype)
            y["died"][0] = True
            how["entry"] = np.where(rng.random(n) < 0.4, 0.9 * time, 0.0)
        if len(np.unique(y)) < 2:
            continue
        weights = 10.0 ** rng.uniform(-2, 2, n) if seed % 7 == 0 else None
        forward = LikelihoodForwardSelector(2, ridge=10.0 ** -(seed % 9), **params)
        assert forward.fit(10.0 ** (seed % 3 * 4) * A, y, weights, **how).converged_, seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = LikelihoodL21Selector(**params).fit(A, y, weights, **how)
        strength = first.alpha_ * 10.0 ** -(seed % 7)
        lasso = LikelihoodL21Selector(alpha=strength, **params).fit(A, y, weights, **how)
        assert lasso.converged_, seed
