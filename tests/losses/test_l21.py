import numpy as np
import pytest
from scipy.optimize import check_grad

from sparsieve.losses import L21Loss


@pytest.fixture
def targets():
    rng = np.random.default_rng(0)
    return rng.standard_normal((7, 3)), rng.standard_normal((7, 3)), rng.uniform(0.5, 2.0, 7)


def test_value_is_the_weighted_sum_of_norms(targets):
    Y, Z, weights = targets
    expected = sum(w * np.linalg.norm(z - y) for w, y, z in zip(weights, Y, Z, strict=True))
    assert L21Loss(weights=weights).value(Y, Z) == pytest.approx(expected)


@pytest.mark.parametrize("mu", [0.01, 0.5, 10.0])
def test_smoothing_stays_below_by_at_most_half_mu(targets, mu):
    Y, Z, weights = targets
    exact = L21Loss(weights=weights).value(Y, Z)
    smooth = L21Loss(mu, weights).value(Y, Z)
    assert smooth <= exact <= smooth + 0.5 * mu * weights.sum()


@pytest.mark.parametrize("mu", [0.0, 0.5, 10.0])
def test_gradient_matches_differences(targets, mu):
    Y, Z, weights = targets
    loss = L21Loss(mu, weights)
    error = check_grad(
        lambda z: loss.value(Y, z.reshape(Y.shape)),
        lambda z: loss.gradient(Y, z.reshape(Y.shape)).ravel(),
        Z.ravel(),
    )
    assert error < 1e-5


def test_gradient_is_lipschitz_with_the_curvature(targets):
    Y, Z, weights = targets
    loss = L21Loss(0.3, weights)
    other = Z + 1e-3 * np.random.default_rng(1).standard_normal(Z.shape)
    change = np.linalg.norm(loss.gradient(Y, other) - loss.gradient(Y, Z))
    assert change <= loss.curvature * np.linalg.norm(other - Z)
    assert L21Loss().curvature == np.inf


def test_zero_residuals_have_a_zero_subgradient():
    Y = np.ones((2, 2))
    assert not L21Loss().gradient(Y, Y).any()
