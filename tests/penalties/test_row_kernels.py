import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsieve.penalties._row_kernels import shrink_row


def shrink(v, p, q, guess=0.0):
    w = v.copy()
    shrink_row(w, p, q, guess)
    return w


def value(w, v, p, q):
    return 0.5 * ((w - v) ** 2).sum() + p * np.linalg.norm(w) + q * np.abs(w).sum() ** 2


@given(
    v=st.lists(st.floats(-20, 20), min_size=1, max_size=6),
    p=st.floats(0, 10),
    q=st.floats(0, 10),
)
@settings(max_examples=300, deadline=None)
@pytest.mark.long("many points for every penalty")
def test_no_nearby_point_is_better(v, p, q):
    v = np.array(v)
    w = shrink(v, p, q)
    best = value(w, v, p, q)
    assert best <= value(np.zeros_like(v), v, p, q) + 1e-12
    rng = np.random.default_rng(0)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(10):
            step = scale * rng.standard_normal(v.shape) * (rng.random(v.shape) < 0.7)
            assert value(w + step, v, p, q) >= best - 1e-9 * (1 + best)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.0), (0.0, 0.3), (0.4, 0.2), (2.0, 0.1)])
def test_equals_a_convex_solver(p, q, rng):
    for _ in range(3):
        v = 2 * rng.standard_normal(4)
        w = cp.Variable(4)
        objective = 0.5 * cp.sum_squares(w - v) + p * cp.norm(w) + q * cp.square(cp.norm(w, 1))
        optimum = cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
        ours = shrink(v, p, q)
        assert value(ours, v, p, q) == pytest.approx(optimum, rel=1e-7)
        np.testing.assert_allclose(ours, w.value, atol=1e-3)


@given(
    v=st.lists(st.floats(-20, 20), min_size=1, max_size=6),
    p=st.floats(0, 10),
    q=st.floats(0, 10),
    guess=st.floats(0, 30),
)
@settings(max_examples=300, deadline=None)
def test_a_guess_does_not_change_the_answer(v, p, q, guess):
    v = np.array(v)
    cold, warm = shrink(v, p, q), shrink(v, p, q, guess)
    np.testing.assert_allclose(warm, cold, rtol=0, atol=1e-10 * (1 + np.abs(v).max()))
