"""The corrected proximal map of the gap penalty against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsieve.penalties import row_norms
from sparsieve.penalties.concave import TopKGap, largest


def objective(penalty, V, W, step):
    return 0.5 * float(((W - V) ** 2).sum()) + step * penalty.value(W)


def brute_force(penalty, V, step):
    """The best over all sets of rows that count as the K largest."""
    norms = row_norms(V)
    best = np.inf
    for chosen in combinations(range(len(V)), penalty.k):
        slopes = np.full(len(V), penalty.alpha + penalty.rho)
        slopes[list(chosen)] = penalty.alpha
        factor = np.maximum(1 - step * slopes / np.maximum(norms, 1e-300), 0)
        best = min(best, objective(penalty, V, V * factor[:, None], step))
    return best


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 6),
    rho=st.floats(0, 3),
    alpha=st.floats(0, 1),
    step=st.floats(0.01, 2),
    data=st.data(),
)
def test_prox_equals_brute_force(seed, rows, rho, alpha, step, data):
    k = data.draw(st.integers(1, rows))
    V = np.random.default_rng(seed).standard_normal((rows, 2))
    penalty = TopKGap(k, rho, alpha)
    W = penalty.prox(V, step)
    assert objective(penalty, V, W, step) <= brute_force(penalty, V, step) + 1e-10


def test_prox_is_not_beaten_nearby():
    rng = np.random.default_rng(0)
    penalty = TopKGap(2, 0.7, 0.2)
    V = rng.standard_normal((5, 3))
    value = objective(penalty, V, penalty.prox(V, 0.9), 0.9)
    for _ in range(500):
        W = penalty.prox(V, 0.9) + 0.3 * rng.standard_normal(V.shape)
        assert value <= objective(penalty, V, W, 0.9)


def test_the_case_that_the_printed_formula_gets_wrong():
    V = np.array([[2.0], [0.3]])
    penalty = TopKGap(1, 1.0)
    W = penalty.prox(V, 1.0)
    assert W.ravel().tolist() == [2.0, 0.0]
    printed = np.array([[2.0], [-0.7]])  # (1 - alpha / ||u||) u without the positive part
    assert objective(penalty, V, W, 1.0) == pytest.approx(0.045)
    assert objective(penalty, V, printed, 1.0) == pytest.approx(1.20)


def test_value_is_zero_exactly_for_few_rows():
    W = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]])
    assert TopKGap(2, 5.0).value(W) == 0.0
    assert TopKGap(1, 5.0).value(W) == pytest.approx(5 * np.sqrt(5))
    assert TopKGap(7, 5.0).value(W) == 0.0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 31))
def test_largest_takes_ties_in_order(norms, k):
    norms = np.array(norms, dtype=float)
    expected = sorted(sorted(range(len(norms)), key=lambda j: (-norms[j], j))[:k])
    assert largest(norms, k).tolist() == expected
