"""The l1,inf norm against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from sparsieve.penalties.convex import L1Inf


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(0.01, 4))
def test_prox_is_the_best_of_all_cuts(row, step):
    V = np.array([row])
    penalty = L1Inf(1.5)
    W = penalty.prox(V, step)

    def value(level):
        cut = np.clip(V, -level, level)
        return ((cut - V) ** 2).sum() / 2 + step * penalty.value(cut)

    # For a given largest magnitude the best row is V cut there, so one number is searched.
    best = minimize_scalar(value, bounds=(0, 6), method="bounded", options={"xatol": 1e-10})
    assert ((W - V) ** 2).sum() / 2 + step * penalty.value(W) <= best.fun + 1e-8
    # Moreau: what is taken off lies in the l1 ball, on its surface where anything remains.
    assert np.abs(V - W).sum() <= 1.5 * step + 1e-9
    if W.any():
        assert_allclose(np.abs(V - W).sum(), 1.5 * step, rtol=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 3.0, 0.1, 1e-9, 1e9, 1 / 3, -2 / 3]), min_size=1),
    st.sampled_from([1e-12, 0.1, 1 / 3, 1.0, 2.0, 1e9]),
)
def test_the_compiled_sweep_cuts_at_the_same_level(row, alpha):
    from sparsieve.solvers.paths._block_cd_kernels import cut_row_epochs

    v = np.array(row)
    W, R = np.zeros((1, len(v))), v[:, None].copy()  # one sample, one feature of norm one
    cut_row_epochs(np.ones((1, 1)), np.ones(1), W, R, alpha, np.arange(1), 1, np.empty(len(v)))
    assert_allclose(W, L1Inf(alpha).prox(v[None], 0.5), rtol=1e-9, atol=1e-9 * np.abs(v).max())


def test_rows_and_precision():
    V = np.array([[3.0, -2.0, 0.5], [0.1, 0.1, 0.0]], dtype=np.float32)
    W = L1Inf(1.0).prox(V, 1.0)
    assert W.dtype == np.float32
    assert_allclose(W, [[2.0, -2.0, 0.5], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("alpha", [0.1, 30.0])
def test_the_bound_is_below_every_objective(alpha):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(15, 6)), rng.normal(size=(15, 3))
    penalty = L1Inf(alpha)
    values, bounds = [], []
    for scale in (0.0, 0.1, 0.3):
        W = scale * rng.normal(size=(6, 3))
        R = Y - X @ W
        values.append((R**2).sum() + penalty.value(W))
        bounds.append(penalty.dual_bound(Y, R, 2 * X.T @ R))
    assert max(bounds) <= min(values)
