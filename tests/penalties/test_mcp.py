"""The minimax concave penalty against its definition."""

import numpy as np
import pytest

from sparsieve.penalties.concave import MCP
from sparsieve.penalties.convex import L21


def definition(t, alpha, curvature):
    """The integral of max(alpha - curvature s, 0) from 0 to t, by sums."""
    s = np.linspace(0.0, t, 20_001)
    slopes = np.maximum(alpha - curvature * s, 0.0)
    return float(((slopes[1:] + slopes[:-1]) * np.diff(s)).sum() / 2)


@pytest.mark.parametrize("length", [0.0, 0.3, 2.0, 9.0])
def test_the_value_is_the_integral_of_its_slope(length):
    penalty = MCP(alpha=1.5, gamma=3.0, n=0.8)
    w = length * np.array([[0.6, -0.8]])
    assert penalty.value(w) == pytest.approx(definition(length, 1.5, 1.6 / 3.0), abs=1e-6)
    slope = penalty.norm_slopes(np.array([length]), np.ones(1))[0]
    near = [penalty.norm_values(np.array([length + e]), np.ones(1))[0] for e in (0.0, 1e-6)]
    assert (near[1] - near[0]) / 1e-6 == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("gamma", [1.2, 3.0, 50.0])
@pytest.mark.parametrize("step", [0.3, 1.0, 4.0])
def test_the_prox_minimises_its_definition(gamma, step):
    penalty = MCP(alpha=0.7, gamma=gamma, n=0.5)
    grid = np.linspace(0.0, 6.0, 60_001)
    values = penalty.norm_values(grid, np.ones_like(grid))
    for length in (0.0, 0.2, 0.65, 0.71, 1.1, 2.0, 5.0):
        v = length * np.array([[0.6, -0.8]])
        cost = 0.5 * (grid - length) ** 2 + step * values
        found = np.linalg.norm(penalty.prox(v, step))
        here = 0.5 * (found - length) ** 2 + step * penalty.value(np.array([[found]]))
        assert here <= cost.min() + 1e-12
        assert here == pytest.approx(cost.min(), abs=1e-8)


def test_a_large_gamma_is_the_l21_norm(rng):
    W = rng.standard_normal((5, 3))
    assert MCP(2.0, gamma=1e9).value(W) == pytest.approx(L21(2.0).value(W), rel=1e-8)


def test_bad_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="gamma must be above 1, got 1"):
        MCP(gamma=1).check()
    with pytest.raises(ValueError, match="gamma must be a real number"):
        MCP(gamma="3").check()
