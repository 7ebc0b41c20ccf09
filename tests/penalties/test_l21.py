import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparsieve.penalties import require, row_norms
from sparsieve.penalties.convex import L21, ExclusiveL21

matrices = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.floats(-50, 50)
)


@given(V=matrices, alpha=st.floats(0, 20), step=st.floats(0.01, 5))
@settings(max_examples=200, deadline=None)
def test_prox_minimises_its_definition(V, alpha, step):
    penalty = ExclusiveL21(alpha, 0.0)
    W = penalty.prox(V, step)

    def value(Z):
        return 0.5 * ((Z - V) ** 2).sum() + step * penalty.value(Z)

    best = value(W)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(5):
            assert value(W + scale * rng.standard_normal(V.shape)) >= best - 1e-9 * (1 + best)
    # The subgradient condition itself: V - W is in step times the subdifferential at W.
    slopes = (V - W) / step
    active = W.any(axis=1)
    slopes[active] -= alpha * W[active] / row_norms(W[active])[:, None]
    allowed = np.where(active, 0.0, alpha)
    assert (row_norms(slopes) <= allowed + 1e-6 * (1 + np.abs(V).max() / step)).all()


@given(V=matrices, U=matrices, alpha=st.floats(0, 20))
@settings(max_examples=100, deadline=None)
def test_prox_is_nonexpansive_and_keeps_directions(V, U, alpha):
    penalty = ExclusiveL21(alpha, 0.0)
    W = penalty.prox(V, 1.0)
    norms = row_norms(V)
    assert (W[norms <= alpha] == 0).all()
    np.testing.assert_allclose(row_norms(W), np.maximum(norms - alpha, 0), atol=1e-9)
    if U.shape == V.shape:
        assert np.linalg.norm(W - penalty.prox(U, 1.0)) <= np.linalg.norm(V - U) + 1e-9


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), scale=st.floats(0, 100), alpha=st.floats(0.01, 50))
@settings(max_examples=200, deadline=None)
def test_dual_bound_stays_below_the_objective_of_any_other_point(seed, scale, alpha):
    """Weak duality: the bound from an arbitrary W is below the objective at arbitrary points."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((6, 9)), rng.standard_normal((6, 2))
    penalty = L21(alpha)
    W = scale * rng.standard_normal((9, 2)) * (rng.random((9, 1)) < 0.5)
    R = Y - X @ W
    bound = penalty.dual_bound(Y, R, 2 * X.T @ R)
    V = np.zeros((9, 2))
    step = 0.5 / np.linalg.norm(X, 2) ** 2
    for _ in range(300):
        objective = ((X @ V - Y) ** 2).sum() + penalty.value(V)
        V = ExclusiveL21(alpha, 0.0).prox(V - step * 2 * X.T @ (X @ V - Y), step)
    assert bound <= objective + 1e-8 * (1 + objective)


def test_dual_bound_at_a_perfect_fit():
    assert L21(1.0).dual_bound(np.ones((3, 1)), np.zeros((3, 1)), np.zeros((4, 1))) == 0.0


def test_a_missing_capability_is_named():
    with pytest.raises(TypeError, match=r"BlockCD needs a penalty with missing\(\)"):
        require(L21(1.0), "value", "missing", solver="BlockCD")


def test_prox_keeps_float32():
    assert ExclusiveL21(0.1, 0.0).prox(np.ones((3, 2), dtype=np.float32), 1.0).dtype == np.float32
