import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.searches.forward import ForwardSelection


def forward_path(design, Y, *, n_steps, stop=None, **options):
    return ForwardSelection(n_steps, stop).solve(LeastSquares(design, Y, **options)).solution


def ridge_optimum(X, Y, ridge):
    k = X.shape[1]
    W = np.linalg.solve(X.T @ X + ridge * np.eye(k), X.T @ Y)
    return ((Y - X @ W) ** 2).sum() + ridge * (W**2).sum(), W


def plain_forward(X, Y, ridge, n_steps):
    """Forward stepwise selection by refitting every candidate: slow and obvious."""
    chosen, values = [], [(Y**2).sum()]
    for _ in range(n_steps):
        trials = {
            j: ridge_optimum(X[:, [*chosen, j]], Y, ridge)[0]
            for j in range(X.shape[1])
            if j not in chosen
        }
        best = min(trials, key=trials.get)
        chosen.append(best)
        values.append(trials[best])
    return chosen, np.array(values)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(8, 30),
    d=st.integers(3, 14),
    c=st.integers(1, 4),
    ridge=st.sampled_from([1e-9, 0.1, 5.0, 100.0]),
)
@settings(max_examples=40, deadline=None)
def test_equals_refitting_every_candidate(seed, n, d, c, ridge):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, c))
    steps = min(d, 5)
    path = forward_path(as_design(X), Y, ridge=ridge, n_steps=steps)
    order, values = plain_forward(X, Y, ridge, steps)
    assert path.path.features.tolist() == order
    np.testing.assert_allclose(path.path.objective, values, rtol=1e-8)
    np.testing.assert_allclose(path.gains, -np.diff(values), rtol=1e-6, atol=1e-8 * values[0])
    for k in range(1, steps + 1):
        _, W = ridge_optimum(X[:, order[:k]], Y, ridge)
        np.testing.assert_allclose(path.coefficients(k), W, atol=1e-8)


def test_no_ridge_is_exact_forward_stepwise_and_stops_at_the_rank(rng):
    X = rng.standard_normal((12, 6))
    X = np.hstack([X, X[:, :2], X[:, [0]] - X[:, [1]], np.zeros((12, 1))])
    Y = rng.standard_normal((12, 2))
    path = forward_path(as_design(X), Y, ridge=0.0, n_steps=10)
    _, values = plain_forward(X[:, :9], Y, 1e-12, 6)
    assert len(path.path.features) == 6
    np.testing.assert_allclose(path.path.objective, values, rtol=1e-7)


def test_remaining_is_what_each_feature_would_gain(rng):
    X, Y = rng.standard_normal((20, 8)), rng.standard_normal((20, 2))
    path = forward_path(as_design(X), Y, ridge=3.0, n_steps=3)
    chosen = path.path.features.tolist()
    left = ridge_optimum(X[:, chosen], Y, 3.0)[0]
    for j in range(8):
        gain = 0.0 if j in chosen else left - ridge_optimum(X[:, [*chosen, j]], Y, 3.0)[0]
        assert path.remaining[j] == pytest.approx(gain, abs=1e-9)


def test_long_paths_stay_exact(rng):
    X, Y = rng.standard_normal((40, 120)), rng.standard_normal((40, 3))
    path = forward_path(as_design(X), Y, ridge=10.0, n_steps=100)
    assert len(set(path.path.features.tolist())) == 100
    value, W = ridge_optimum(X[:, path.path.features], Y, 10.0)
    assert path.path.objective[-1] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(path.coefficients(100), W, atol=1e-9)


def test_sparse_dense_and_float32_agree(rng):
    X, Y = rng.standard_normal((30, 50)), rng.standard_normal((30, 2))
    X[np.abs(X) < 1] = 0
    expected = forward_path(as_design(X), Y, ridge=30.0, n_steps=10)
    from_sparse = forward_path(as_design(sparse.csr_array(X)), Y, ridge=30.0, n_steps=10)
    from_f32 = forward_path(
        as_design(X.astype(np.float32)), Y.astype(np.float32), ridge=30.0, n_steps=10
    )
    assert (
        from_sparse.path.features.tolist()
        == expected.path.features.tolist()
        == from_f32.path.features.tolist()
    )
    np.testing.assert_allclose(from_f32.gains, expected.gains, rtol=1e-4)


def test_eligible_and_stop_are_respected(rng):
    X, Y = rng.standard_normal((30, 5)), rng.standard_normal((30, 1))
    eligible = np.array([True, False, True, False, True])
    path = forward_path(as_design(X), Y, ridge=1.0, n_steps=5, eligible=eligible)
    assert sorted(path.path.features.tolist()) == [0, 2, 4]
    short = forward_path(
        as_design(X), Y, ridge=1.0, n_steps=5, stop=lambda now: now.n_selected == 2
    )
    assert len(short.path.features) == 2


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_an_end_rule_is_told_how_the_path_stands(rng, ridge):
    X, Y = rng.standard_normal((30, 9)), rng.standard_normal((30, 2))
    told = []
    found = forward_path(
        as_design(X), Y, ridge=ridge, n_steps=6, stop=lambda now: told.append(now) or False
    )
    for now in told:
        chosen = found.path.features[: now.n_selected]
        A, left = X[:, chosen], np.delete(X, chosen, axis=1)
        hat = A @ np.linalg.solve(A.T @ A + ridge * np.eye(len(chosen)), A.T)
        R = Y - hat @ Y
        nu = np.einsum("ij,ij->j", left, left - hat @ left)
        np.testing.assert_allclose(now.mean_gain, (((left.T @ R) ** 2).sum(axis=1) / nu).mean())
        np.testing.assert_allclose(now.freedom, np.trace(hat), atol=1e-12)
        np.testing.assert_allclose(now.residual, (R**2).sum())
        np.testing.assert_allclose(now.gain, found.gains[now.n_selected])


def test_the_result_tells_every_step_and_a_callback_may_end_it(rng):
    X, Y = rng.standard_normal((30, 9)), rng.standard_normal((30, 2))
    events = []
    result = ForwardSelection(6).solve(
        LeastSquares(as_design(X), Y, ridge=1.0),
        callback=lambda e: events.append(e) or e.n_iter == 4,
    )
    path = result.solution.path
    assert (result.n_iter, len(path), result.converged, result.optimality) == (4, 4, True, 0.0)
    np.testing.assert_array_equal(result.trace, path.objective[1:])
    np.testing.assert_allclose([e.objective for e in events], result.trace)
    assert events[-1].note == f"feature {path.features[-1]} entered"
    assert [e.n_features for e in events] == [1, 2, 3, 4]
