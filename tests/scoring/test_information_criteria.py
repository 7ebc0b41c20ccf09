"""Likelihoods at their maximum and criteria, against SciPy and scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import comb
from scipy.stats import norm, poisson
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import log_loss

from sparsieve.scoring.likelihood_models import criterion_value, likelihood_fit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [1.0, 30.0, 0.1]
F = X[:, 0] + X[:, 1] / 30


def test_numbers():
    y = F + RNG.normal(size=120)
    errors = y - LinearRegression().fit(X, y).predict(X)
    expected = -2 * norm.logpdf(errors, scale=np.sqrt(np.mean(errors**2))).sum()
    found = likelihood_fit(X, y, "regression")
    assert found == (pytest.approx(expected), 5, 120)  # slopes, an intercept and a variance
    both = likelihood_fit(X, np.column_stack([y, 3 * y]), "regression")
    assert both[0] == pytest.approx(2 * expected + 2 * 120 * np.log(3))
    assert both[1] == 10


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes):
    y = np.digitize(F + RNG.logistic(size=120), [0.0, 1.0][: n_classes - 1])
    exact = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000)
    Z = X / X.std(axis=0)
    expected = 2 * log_loss(y, exact.fit(Z, y).predict_proba(Z), normalize=False)
    found = likelihood_fit(X, y, "classification")
    assert found == (pytest.approx(expected, rel=1e-5), 4 * (n_classes - 1), 120)
    shares = np.bincount(y) / 120
    assert likelihood_fit(X[:, :0], y, "classification")[0] == pytest.approx(
        -2 * 120 * np.sum(shares * np.log(shares))
    )


def test_counts():
    y = RNG.poisson(np.exp(0.5 * F))
    Z = X / X.std(axis=0)
    means = PoissonRegressor(alpha=0, tol=1e-9, max_iter=10_000).fit(Z, y).predict(Z)
    found = likelihood_fit(X, y, "counts")
    assert found == (pytest.approx(-2 * poisson.logpmf(y, means).sum(), rel=1e-6), 4, 120)


def test_survival_times():
    time, event = RNG.exponential(np.exp(-F)), RNG.random(120) < 0.7
    y = np.rec.fromarrays([event, time], names="event,time")
    Z = X / X.std(axis=0)

    def loss(w):
        f = Z @ w
        at_risk = time[None] >= time[:, None]
        return -np.sum((f - np.log(at_risk @ np.exp(f)))[event])

    expected = 2 * minimize(loss, np.zeros(3), tol=1e-10).fun
    found = likelihood_fit(X, y, "survival")
    assert found == (pytest.approx(expected, rel=1e-6), 3, event.sum())
    assert likelihood_fit(X[:, :0], y, "survival")[0] == pytest.approx(2 * loss(np.zeros(3)))


def test_copies_of_columns_are_no_coefficients():
    y = F + RNG.normal(size=120)
    twice = np.hstack([X, X[:, :1]])
    assert likelihood_fit(twice, y, "regression")[:2] == (
        pytest.approx(likelihood_fit(X, y, "regression")[0]),
        5,
    )


def test_the_criteria_are_those_of_the_papers():
    assert criterion_value("aic", 50.0, 4, 100, 3, 20) == 58.0
    assert criterion_value("bic", 50.0, 4, 100, 3, 20) == pytest.approx(50 + 4 * np.log(100))
    expected = 50 + 4 * np.log(100) + 2 * np.log(comb(20, 3))
    assert criterion_value("ebic", 50.0, 4, 100, 3, 20) == pytest.approx(expected)
