"""Every loss: derivatives by differences, bounds and dual values by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve.solvers.losses.base import Loss
from sparsieve.solvers.losses.multinomial import Multinomial
from sparsieve.solvers.losses.separable import (
    STRAIGHT_CURVATURE,
    Huber,
    Logistic,
    NegativeBinomial,
    Poisson,
    spread,
)

N = 12
RNG = np.random.default_rng(0)
S = 1.0 + np.arange(N) % 3
COUNTS = np.array([0, 1, 3, 0, 7, 2, 1, 0, 4, 30, 1, 2])
LOSSES = {
    "logistic": Logistic(np.arange(N) % 3 == 0, S),
    "multinomial": Multinomial(np.arange(N) % 4, 4, S),
    "poisson": Poisson(COUNTS, S),
    "negative-binomial": NegativeBinomial(COUNTS, 1.7, S),
    "huber": Huber(COUNTS / 3.0, 0.8, S),
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def predictors(loss: Loss) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((N, loss.n_outputs))


def plain_value(loss: Loss, F: np.ndarray) -> float:
    """Log-likelihoods by the formulas of the distributions."""
    total = 0.0
    for i, f in enumerate(F):
        if isinstance(loss, Logistic):
            p = 1.0 / (1.0 + np.exp(-f[0]))
            term = -np.log(p if loss.y[i] else 1.0 - p)
        elif isinstance(loss, Multinomial):
            term = -np.log(np.exp(f[loss.codes[i]]) / np.exp(f).sum())
        elif isinstance(loss, Poisson):
            term = np.exp(f[0]) - loss.y[i] * f[0]
        elif isinstance(loss, Huber):
            r, d = abs(f[0] - loss.y[i]), loss.scale
            term = r * r / 2.0 if r <= d else d * r - d * d / 2.0
        else:
            assert isinstance(loss, NegativeBinomial)
            mu, r, y = np.exp(f[0]), loss.size, loss.y[i]
            term = -(y * np.log(mu / (mu + r)) + r * np.log(r / (mu + r)))
        total += loss.weights[i] * term
    return float(total)


@each_loss
def test_value_is_the_log_likelihood(loss):
    F = predictors(loss)
    assert loss.value(F) == pytest.approx(plain_value(loss, F), rel=1e-13)


@each_loss
def test_derivatives_by_differences(loss):
    F, V = predictors(loss), RNG.standard_normal((N, loss.n_outputs))
    h = 1e-5
    slope = (loss.value(F + h * V) - loss.value(F - h * V)) / (2 * h)
    assert np.vdot(loss.gradient(F), V) == pytest.approx(slope, rel=1e-7)
    bend = (loss.gradient(F + h * V) - loss.gradient(F - h * V)) / (2 * h)
    # Straight parts are taken to bend a little.
    off = STRAIGHT_CURVATURE * np.abs(S[:, None] * V) if isinstance(loss, Huber) else 0.0
    assert (np.abs(loss.hessian_product(F, V) - bend) <= 1e-6 * np.abs(bend) + 1e-7 + off).all()
    several = loss.hessian_product(F, np.stack((V, 2 * V), axis=2))
    np.testing.assert_allclose(several[:, :, 1], 2 * loss.hessian_product(F, V), rtol=1e-13)


@each_loss
def test_hessian_of_columns_is_its_products_and_below_the_curvature(loss):
    F, X, m = predictors(loss), RNG.standard_normal((N, 3)), loss.n_outputs
    H = loss.hessian(F, X)
    np.testing.assert_allclose(H, Loss.hessian(loss, F, X), rtol=1e-12, atol=1e-12)
    W = RNG.standard_normal((3, m))
    product = X.T @ loss.hessian_product(F, X @ W)
    np.testing.assert_allclose(H @ W.ravel(), product.ravel(), rtol=1e-12, atol=1e-12)
    D = loss.curvature(F)
    assert H.shape == (3 * m, 3 * m)
    full = np.zeros((3, m, 3, m))
    for k in range(m):
        full[:, k, :, k] = X.T @ (D[:, [k]] * X)
    assert np.linalg.eigvalsh(full.reshape(3 * m, 3 * m) - H).min() > -1e-12


@each_loss
@pytest.mark.parametrize("n_columns", [2, 11])
def test_products_with_the_hessian_of_columns(loss, n_columns, monkeypatch):
    monkeypatch.setattr("sparsieve.solvers.losses.multinomial.CACHED_NUMBERS", 20)
    X, V = RNG.standard_normal((N, n_columns)), RNG.standard_normal((n_columns, loss.n_outputs))
    F = predictors(loss)
    expected = loss.hessian(F, X) @ V.ravel()
    np.testing.assert_allclose(loss.curvature_operator(F, X)(V).ravel(), expected, atol=1e-12)


@each_loss
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_dual_value_is_the_conjugate(loss, t):
    # -L*(u) = min over F of L(F) - <u, F> at u = t grad L.
    F = predictors(loss)
    u = t * loss.gradient(F)

    def shifted(flat: np.ndarray) -> tuple[float, np.ndarray]:
        G = flat.reshape(F.shape)
        return loss.value(G) - float(np.vdot(u, G)), (loss.gradient(G) - u).ravel()

    if t > 0.0:
        found = minimize(shifted, F.ravel(), jac=True, options={"gtol": 1e-9}).fun
        assert loss.dual_value(F, t) == pytest.approx(found, rel=1e-9)
    elif isinstance(loss, Logistic | Multinomial):
        assert loss.dual_value(F, t) == pytest.approx(0.0, abs=1e-12)
    elif isinstance(loss, Poisson):
        y = COUNTS[COUNTS > 0]
        assert loss.dual_value(F, t) == pytest.approx(float(S[COUNTS > 0] @ (y - y * np.log(y))))


@each_loss
def test_fenchel_young_holds_with_equality_at_the_point_itself(loss):
    F = predictors(loss)
    expected = loss.value(F) - float(np.vdot(loss.gradient(F), F))
    assert loss.dual_value(F, 1.0) == pytest.approx(expected, rel=1e-12)


@each_loss
def test_null_model_is_the_best_constant(loss):
    intercepts, value = loss.null()
    F = np.tile(intercepts, (N, 1))
    assert value == pytest.approx(loss.value(F), rel=1e-13)
    np.testing.assert_allclose(loss.gradient(F).sum(axis=0), 0.0, atol=1e-12)


def test_two_classes_are_the_multinomial_of_half_the_predictor():
    y, F = np.arange(N) % 3 == 0, predictors(LOSSES["logistic"])
    two = Multinomial(y.astype(int), 2, S)
    assert two.value(np.hstack((-F / 2, F / 2))) == pytest.approx(Logistic(y, S).value(F))


@pytest.mark.parametrize("size", [800.0, -800.0])
@each_loss
def test_far_predictors_overflow_to_infinity_and_never_to_nan(loss, size):
    F = predictors(loss) + size * np.eye(loss.n_outputs)[0]
    assert not np.isnan(loss.value(F))
    assert not np.isnan(loss.gradient(F)).any()
    assert (loss.curvature(F) >= 0).all()


def test_confident_predictions_keep_their_digits():
    loss, F = Logistic(np.ones(1)), np.array([[40.0]])
    assert loss.gradient(F)[0, 0] == pytest.approx(-np.exp(-40.0), rel=1e-10)
    multi = Multinomial(np.zeros(1, dtype=int), 2)
    assert multi.gradient(np.array([[40.0, 0.0]]))[0, 0] == pytest.approx(-np.exp(-40.0), rel=1e-10)


def test_the_spread_counts_weights_as_copies(rng):
    y, copies = rng.standard_t(2, 40), rng.integers(1, 4, 40)
    again = np.repeat(y, copies)
    assert spread(y, copies.astype(float)) == pytest.approx(spread(again, np.ones(len(again))))
    away = np.abs(again - np.median(again))
    assert spread(y, copies.astype(float)) == pytest.approx(np.median(away) / 0.67448975)
    assert spread(np.array([1.0, 1.0, 1.0, 5.0]), np.ones(4)) == 1.0  # the mean distance
    assert spread(np.zeros(3), np.ones(3)) == 1.0


def test_what_a_multinomial_loss_remembers_is_of_all_samples(rng):
    """Predictors that differ in the last of several blocks of samples are others."""
    codes = rng.integers(0, 50, 3000)
    F = rng.normal(size=(3000, 50))
    loss, changed = Multinomial(codes, 50), F.copy()
    changed[-1, 0] += 1.0
    assert len(list(loss._parts())) > 1
    loss.value(F)
    assert loss.value(changed) == Multinomial(codes, 50).value(changed)
    np.testing.assert_array_equal(loss.gradient(F), Multinomial(codes, 50).gradient(F))
