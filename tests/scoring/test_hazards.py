"""Hazard ratios against scikit-survival, numerical derivatives and known effects."""

from __future__ import annotations

import numpy as np
import pytest

from sparsieve.scoring.likelihood_models import hazard_ratios
from sparsieve.solvers.losses.cox import Cox
from sparsieve.validation.survival import as_survival, survival_parts


def censored(n, coef, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(coef))) * np.array([1.0, 10.0, 0.1])[: len(coef)] + 3.0
    time = rng.exponential(np.exp(-(X - 3.0) @ coef))
    end = rng.exponential(2.0, n)
    return X, np.minimum(time, end), time <= end


def test_coefficients_are_those_of_scikit_survival():
    sksurv = pytest.importorskip("sksurv.linear_model")
    X, time, event = censored(150, np.array([0.5, -0.05, 2.0]), 0)
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", "?"), ("time", "f8")])
    other = sksurv.CoxPHSurvivalAnalysis(ties="efron", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(np.log(hazard_ratios(X, y).ratio), other.coef_, rtol=1e-5)


def test_intervals_by_numerical_derivatives():
    """The information is the second derivative of the partial likelihood, here by differences."""
    X, time, event = censored(80, np.array([0.5, -0.05]), 1)
    found = hazard_ratios(X, (time, event))
    loss = Cox(survival_parts(as_survival((time, event))))
    top, steps = np.log(found.ratio), np.diag([1e-3, 1e-4])

    def value(coef):
        return loss.value((X @ coef)[:, None])

    H = np.empty((2, 2))
    for i, a in enumerate(steps):
        for j, b in enumerate(steps):
            corners = [value(top + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1)]
            H[i, j] = sum(corners) / (4 * a.sum() * b.sum())
    errors = np.sqrt(np.diag(np.linalg.inv(H)))
    np.testing.assert_allclose(np.log(found.high / found.low), 2 * 1.959964 * errors, rtol=1e-3)


def test_intervals_cover_the_true_ratio():
    coef = np.array([0.4, 0.0])
    hits = np.zeros(2)
    for seed in range(60):
        X, time, event = censored(100, coef, seed)
        found = hazard_ratios(X, (time, event))
        hits += (found.low <= np.exp(coef)) & (np.exp(coef) <= found.high)
    assert (hits >= 51).all()  # of 60, at 95 %: fewer in one of 10,000 runs


def test_what_has_no_estimate():
    X, time, event = censored(60, np.array([0.5, 0.0]), 2)
    twice = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(60)])
    found = hazard_ratios(twice, (time, event))
    assert np.isnan(found.ratio).tolist() == [False, False, True, True]
    np.testing.assert_allclose(found.ratio[:2], hazard_ratios(X, (time, event)).ratio)
    few = event & (np.cumsum(event) <= 2)
    assert np.isnan(hazard_ratios(X, (time, few)).ratio).all()
    apart = np.argsort(np.argsort(-time)).astype(float)[:, None]  # the order itself
    assert np.isnan(hazard_ratios(apart, (time, np.ones(60))).ratio).all()
