"""The l2,1 loss and its smoothing."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from sparsieve.papers.robust_l20.published import onto_balls, smoothed_norms


@pytest.fixture
def targets():
    rng = np.random.default_rng(0)
    return rng.standard_normal((7, 3)), rng.standard_normal((7, 3)), rng.uniform(0.5, 2.0, 7)


def l21_loss(R, weights, mu=0.0):
    return weights @ smoothed_norms(np.linalg.norm(R, axis=1), mu)


def gradient(R, weights, mu):
    return weights[:, None] * onto_balls(R, mu)


def test_value_is_the_weighted_sum_of_norms(targets):
    Y, Z, weights = targets
    expected = sum(w * np.linalg.norm(z - y) for w, y, z in zip(weights, Y, Z, strict=True))
    assert l21_loss(Z - Y, weights) == pytest.approx(expected)


@pytest.mark.parametrize("mu", [0.01, 0.5, 10.0])
def test_smoothing_stays_below_by_at_most_half_mu(targets, mu):
    Y, Z, weights = targets
    exact = l21_loss(Z - Y, weights)
    smooth = l21_loss(Z - Y, weights, mu)
    assert smooth <= exact <= smooth + 0.5 * mu * weights.sum()


@pytest.mark.parametrize("mu", [0.0, 0.5, 10.0])
def test_gradient_matches_differences(targets, mu):
    Y, Z, weights = targets
    error = check_grad(
        lambda z: l21_loss(z.reshape(Y.shape) - Y, weights, mu),
        lambda z: gradient(z.reshape(Y.shape) - Y, weights, mu).ravel(),
        Z.ravel(),
    )
    assert error < 1e-5


def test_gradient_is_lipschitz_with_the_curvature(targets):
    Y, Z, weights = targets
    other = Z + 1e-3 * np.random.default_rng(1).standard_normal(Z.shape)
    change = np.linalg.norm(gradient(other - Y, weights, 0.3) - gradient(Z - Y, weights, 0.3))
    assert change <= weights.max() / 0.3 * np.linalg.norm(other - Z)


def test_zero_residuals_have_a_zero_subgradient():
    assert not onto_balls(np.zeros((2, 2)), 0.0).any()
