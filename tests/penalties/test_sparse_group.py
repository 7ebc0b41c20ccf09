"""The strength at which a group enters under the sparse group penalty."""

import numpy as np
import pytest
from scipy.optimize import brentq

from sparsieve.penalties.convex import L21, SparseGroup


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 0.95])
def test_groups_enter_where_the_prox_of_their_gradient_ceases_to_be_zero(l1_ratio, rng):
    lengths = rng.exponential(size=(9, 2))
    starts, sizes = np.array([0, 1, 4]), [1, 3, 5]
    weights = np.array([1.0, 1.5, 2.0])
    found = SparseGroup(1.0, l1_ratio).entering(lengths**2, starts, weights)
    for point in range(2):
        for g, (start, size, weight) in enumerate(zip(starts, sizes, weights, strict=True)):
            own = lengths[start : start + size, point]

            def rest(a, own=own, weight=weight):
                left = np.maximum(own - a * l1_ratio, 0.0)
                return np.linalg.norm(left) - a * (1.0 - l1_ratio) * weight

            assert found[point, g] == pytest.approx(brentq(rest, 0.0, 1e3, xtol=1e-13), rel=1e-10)


def test_the_value_is_the_sum_of_both_norms(rng):
    W = rng.standard_normal((5, 3))
    penalty = SparseGroup(2.0, 0.3)
    assert penalty.value(W) == pytest.approx(L21(2.0).value(W), rel=1e-14)  # rows are groups
    norms = penalty.norm_values(np.array([np.linalg.norm(W)]), np.array([1.5])).sum()
    expected = 2.0 * (0.7 * 1.5 * np.linalg.norm(W) + 0.3 * np.linalg.norm(W, axis=1).sum())
    assert norms + penalty.row_value(W) == pytest.approx(expected, rel=1e-14)


def test_bad_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="l1_ratio must be at most 1"):
        SparseGroup(l1_ratio=1.5).check()
    with pytest.raises(ValueError, match="l1_ratio must be below 1"):
        SparseGroup(l1_ratio=1).check()
