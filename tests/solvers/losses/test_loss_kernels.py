"""Compiled losses against the losses themselves."""

import numpy as np
import pytest
from numba import njit

from sparsieve.solvers.losses._loss_kernels import exponential, log_above_one
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.expansion import CompiledExpansion, Expansion
from sparsieve.solvers.losses.separable import Logistic, NegativeBinomial, Poisson

N = 25
RNG = np.random.default_rng(0)
S = 0.5 + RNG.random(N)
COUNTS = RNG.poisson(2.0, N)
TIMES = Survival(np.ceil(6 * RNG.random(N)), RNG.random(N) < 0.7)  # with ties
STRATA = Survival(TIMES.time, TIMES.event, strata=RNG.integers(0, 3, N))
LOSSES = {
    "logistic": Logistic(RNG.random(N) < 0.4, S),
    "poisson": Poisson(COUNTS, S),
    "negative-binomial": NegativeBinomial(COUNTS, 1.7, S),
    "efron": Cox(TIMES, S, "efron"),
    "breslow": Cox(TIMES, S, "breslow"),
    "strata": Cox(STRATA, S, "efron"),
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@each_loss
@pytest.mark.parametrize("size", [1e-3, 1.0, 8.0])
def test_values_and_derivatives_are_those_of_the_loss(loss, size):
    F = size * np.random.default_rng(1).standard_normal((N, 1))
    here = CompiledExpansion(loss, F)
    assert here.value == pytest.approx(loss.value(F), rel=1e-12)
    np.testing.assert_allclose(here.gradient, loss.gradient(F), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(here.curvature, loss.diagonal(F)[:, 0], rtol=1e-10, atol=1e-12)


@each_loss
@pytest.mark.parametrize("t", [0.0, 0.4, 1.0])
def test_dual_values_are_those_of_the_loss(loss, t):
    F = np.random.default_rng(2).standard_normal((N, 1))
    found = CompiledExpansion(loss, F).dual_value(t)
    assert found == pytest.approx(loss.dual_value(F, t), rel=1e-10, abs=1e-10)


@each_loss
def test_hessians_are_those_of_the_loss(loss):
    rng = np.random.default_rng(3)
    F, X = rng.standard_normal((N, 1)), rng.standard_normal((N, 4))
    here, rows = CompiledExpansion(loss, F), np.ascontiguousarray(X.T)
    expected = loss.hessian_product(F, X[:, None, :])[:, 0, :]
    np.testing.assert_allclose(here.hessian_rows(rows).T, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(here.hessian(X), X.T @ expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        here.at(F).cross_hessian(rows, 1), (X.T @ expected)[:, 1:], rtol=1e-9
    )
    np.testing.assert_allclose(
        Expansion(loss, F).cross_hessian(rows, 1), (X.T @ expected)[:, 1:], rtol=1e-9
    )
    if isinstance(loss, Cox):
        ordered = np.ascontiguousarray(X[loss.compiled.order])
        np.testing.assert_allclose(here.squares(ordered), (X * expected).sum(axis=0), rtol=1e-9)


@njit
def applied(x, e):
    """Parts of compiled code are called by compiled code alone."""
    powers, logarithms = np.empty_like(x), np.empty_like(e)
    for i in range(len(x)):
        powers[i] = exponential(x[i])
    for i in range(len(e)):
        logarithms[i] = log_above_one(e[i])
    return powers, logarithms


def test_exponentials_and_logarithms_are_exact_to_rounding():
    x = np.linspace(-700.0, 700.0, 4001)
    e = np.append(0.0, np.geomspace(1e-300, 1.0, 2001))
    powers, logarithms = applied(x, e)
    np.testing.assert_allclose(powers, np.exp(x), rtol=4e-15)
    np.testing.assert_allclose(logarithms, np.log1p(e), rtol=2e-15)
    np.testing.assert_array_equal(applied(np.array([-800.0, 800.0]), e)[0], [0.0, np.inf])
