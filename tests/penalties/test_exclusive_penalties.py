"""The exclusive l2,1 and squared l2,1 penalties: the paper's numbers, prox maps, dual bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sparsieve.penalties.concave import L20
from sparsieve.penalties.convex import ExclusiveL21, SquaredL21, soft_levels


@pytest.mark.parametrize(
    ("lam", "expected"),
    [(0.1, (1.75, 0.75)), (1.0, (1.0, 0.0)), (10.0, (2 / 11, 0.0)), (1000.0, (2 / 1001, 0.0))],
)
def test_worked_example_in_two_dimensions(lam, expected):
    # The paper minimises ||w - a||^2 + lam ||w||_1^2, twice the proximal objective.
    w = ExclusiveL21(0.0, lam).prox(np.array([[2.0, 1.0]]), 0.5)
    np.testing.assert_allclose(w, [expected], atol=1e-12)


@pytest.mark.parametrize("lam", [0.5, 2.0, 50.0])
def test_worked_example_in_one_dimension(lam):
    w = ExclusiveL21(0.0, lam).prox(np.array([[1.0]]), 0.5)
    np.testing.assert_allclose(w, [[1 / (1 + lam)]])


def test_theorem_5_by_its_formula():
    rng = np.random.default_rng(0)
    for _ in range(40):
        a, lam = rng.standard_normal(6), float(rng.uniform(0.05, 3))
        ordered = -np.sort(-np.abs(a))
        taus = np.arange(1, 7)
        cuts = lam * np.cumsum(ordered) / (1 + lam * taus)
        cut = cuts[np.flatnonzero(ordered > cuts)[-1]]
        expected = np.sign(a) * np.maximum(np.abs(a) - cut, 0)
        np.testing.assert_allclose(
            ExclusiveL21(0.0, lam).prox(a[None], 0.5)[0], expected, atol=1e-12
        )


rows = st.lists(st.floats(-5, 5), min_size=1, max_size=6).map(np.array)


@given(rows, st.floats(0, 3), st.floats(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_prox_is_not_beaten_by_its_neighbours(v, alpha, beta, random):
    penalty = ExclusiveL21(alpha, beta)
    w = penalty.prox(v[None], 1.0)[0]

    def objective(x):
        return 0.5 * ((x - v) ** 2).sum() + penalty.value(x[None])

    best = objective(w)
    rng = np.random.default_rng(random.randint(0, 2**31))
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            assert objective(w + scale * rng.standard_normal(len(v))) >= best - 1e-10
            assert objective(w * rng.uniform(0, 2, len(v))) >= best - 1e-10


@given(rows, st.floats(0.01, 3))
@settings(max_examples=200, deadline=None)
def test_soft_level_is_the_least(g, alpha):
    theta = soft_levels(g[None], alpha)[0][0]

    def norm(level):
        return np.linalg.norm(np.maximum(np.abs(g) - level, 0))

    assert norm(theta) <= alpha * (1 + 1e-9) + 1e-12
    if theta > 1e-9:
        assert norm(theta * (1 - 1e-6)) >= alpha * (1 - 1e-9)


@pytest.mark.slow
def test_conjugate_matches_a_numerical_supremum():
    rng = np.random.default_rng(1)
    penalty = ExclusiveL21(0.7, 0.4)
    for _ in range(10):
        g = rng.standard_normal(3) * 2

        def negative(w, g=g):
            return penalty.value(w[None]) - g @ w

        starts = [rng.standard_normal(3) for _ in range(8)] + [np.zeros(3)]
        best = max(
            -minimize(
                negative,
                w,
                method="Nelder-Mead",
                options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
            ).fun
            for w in starts
        )
        theta = soft_levels(g[None], 0.7)[0][0]
        assert theta**2 / (4 * 0.4) == pytest.approx(best, abs=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 5.0]), st.sampled_from([0.0, 0.1, 2.0]))
@settings(max_examples=60, deadline=None)
def test_dual_bounds_stay_below_every_objective(seed, alpha, beta):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((6, 9)), rng.standard_normal((6, 3))
    penalties = [ExclusiveL21(alpha, beta), SquaredL21(0.1 + beta)]
    candidates = [rng.standard_normal((9, 3)) * s for s in (0, 0.1, 0.3, 1)]
    for penalty in penalties:
        if isinstance(penalty, ExclusiveL21) and alpha + beta == 0:
            continue
        values, bounds = [], []
        for W in candidates:
            R = Y - X @ W
            values.append((R**2).sum() + penalty.value(W))
            bounds.append(penalty.dual_bound(Y, R, 2 * X.T @ R))
        assert max(bounds) <= min(values) * (1 + 1e-12)


def test_prox_meets_its_optimality_conditions():
    rng = np.random.default_rng(3)
    V = rng.standard_normal((20, 4))
    W = ExclusiveL21(0.8, 0.3).prox(V, 1.0)
    for v, w in zip(V, W, strict=True):
        if not w.any():
            assert np.linalg.norm(v) <= 0.8 + 1e-12
            continue
        left = v - w - 0.8 * w / np.linalg.norm(w)
        level = 2 * 0.3 * np.abs(w).sum()
        np.testing.assert_allclose(left[w != 0], level * np.sign(w[w != 0]), atol=1e-9)
        assert (np.abs(left[w == 0]) <= level + 1e-9).all()


def test_l20_keeps_or_drops():
    assert L20(0.5).value(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])) == 0.5
    assert L20(0.5).surviving_rows(
        np.array([[0.6, 0.0], [3.0, 4.0], [0.0, 0.0]]), 1.0
    ).tolist() == [1]
    assert L20(0.0).surviving_rows(np.zeros((2, 1)), 1.0).tolist() == []  # a zero row is never kept
