"""The l0 surrogates against their definitions and numeric derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsieve.penalties.concave import SURROGATES, surrogate

THETAS = (0.1, 1.0, 5.0, 100.0)


def definition(name, t, theta, a=3.7):
    """delta(t), written out case by case for one number."""
    t = abs(t)
    if name == "exp":
        return 1.0 - np.exp(-theta * t)
    if name == "log":
        return np.log(1.0 + theta * t) / np.log(1.0 + theta)
    if name == "capped_l1":
        return min(1.0, theta * t)
    if name == "l1":
        return t
    if theta * t <= 1.0:
        return 2.0 * theta * t / (a + 1.0)
    if theta * t < a:
        return (-(theta**2) * t**2 + 2.0 * a * theta * t - 1.0) / (a**2 - 1.0)
    return 1.0


def grid(theta):
    """Points on both sides of zero and of the kinks, none of them on a kink."""
    t = np.array([0.013, 0.31, 0.97, 1.04, 2.2, 3.6, 3.8, 9.0]) / theta
    return np.concatenate([-t, t])


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("name", SURROGATES)
def test_value_is_the_definition(name, theta):
    t = np.append(grid(theta), 0.0)
    expected = [definition(name, x, theta) for x in t]
    np.testing.assert_allclose(surrogate(name, theta).value(t), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("name", SURROGATES)
def test_weight_is_the_derivative(name, theta):
    delta = surrogate(name, theta)
    t = np.abs(grid(theta))
    step = 1e-6 / theta
    numeric = [
        (definition(name, x + step, theta) - definition(name, x - step, theta)) / (2 * step)
        for x in t
    ]
    np.testing.assert_allclose(delta.weight(t), numeric, rtol=1e-6, atol=1e-8 * theta)
    np.testing.assert_allclose(delta.weight(-t), delta.weight(t))


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("name", SURROGATES)
def test_slope_at_zero(name, theta):
    delta = surrogate(name, theta)
    step = 1e-8 / theta
    assert definition(name, step, theta) / step == pytest.approx(delta.slope_at_zero, rel=1e-6)
    assert float(delta.weight(0.0)) == pytest.approx(delta.slope_at_zero)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("name", SURROGATES)
def test_dc_split(name, theta):
    """phi2 = s0 t - delta is convex and concave_gradient is its derivative."""
    delta = surrogate(name, theta)
    t = np.linspace(0.0, 6.0 / theta, 400)
    phi2 = delta.slope_at_zero * t - delta.value(t)
    assert np.diff(phi2, 2).min() >= -1e-12
    gradient = delta.concave_gradient(t)
    slopes = np.diff(phi2) / np.diff(t)
    # The mean slope over a step lies between the gradients at its ends.
    assert (slopes >= gradient[:-1] - 1e-9 * theta).all()
    assert (slopes <= gradient[1:] + 1e-9 * theta).all()


@pytest.mark.parametrize("name", [name for name in SURROGATES if name != "l1"])
def test_counts_nonzeros_in_the_limit(name):
    w = np.array([0.0, 0.5, -2.0, 0.0, 1e-3])
    errors = [abs(surrogate(name, theta).total(w) - 3.0) for theta in (1e2, 1e5, 1e30, 1e300)]
    assert errors[-1] < 0.02
    assert errors == sorted(errors, reverse=True)


@given(
    st.sampled_from(SURROGATES),
    st.floats(0.01, 100),
    st.floats(-10, 10),
    st.floats(-10, 10),
)
def test_weighted_l1_majorises(name, theta, current, other):
    delta = surrogate(name, theta)
    bound = delta.value(current) + delta.weight(current) * (abs(other) - abs(current))
    assert delta.value(other) <= bound + 1e-9 * (1 + abs(bound))


def test_keeps_single_precision():
    w = np.array([0.0, 0.1, -3.0], dtype=np.float32)
    for name in SURROGATES:
        assert surrogate(name, 2.0).value(w).dtype == np.float32
        assert surrogate(name, 2.0).weight(w).dtype == np.float32


def test_unknown_name():
    with pytest.raises(ValueError, match=r"surrogate must be one of 'exp', .* got 'l2'"):
        surrogate("l2")


@pytest.mark.parametrize("theta", [0.0, -1.0, np.nan, "5", None])
def test_bad_theta(theta):
    with pytest.raises(ValueError, match="theta must be positive"):
        surrogate("exp", theta)
