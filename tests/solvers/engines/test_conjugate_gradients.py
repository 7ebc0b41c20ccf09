"""Conjugate gradients against a direct solve."""

import numpy as np

from sparsieve.solvers.engines.conjugate_gradients import conjugate_gradients


def system(rng, size=30):
    root = rng.standard_normal((size, size))
    return root @ root.T + np.eye(size), rng.standard_normal((size, 3))


def test_agrees_with_a_direct_solve(rng):
    A, B = system(rng)
    scale = 1.0 / np.diag(A)[:, None]
    x = conjugate_gradients(lambda v: A @ v, B, lambda r: scale * r, tol=1e-12, max_steps=1000)
    np.testing.assert_allclose(x, np.linalg.solve(A, B), atol=1e-8)


def test_stops_at_the_limit_and_starts_where_told(rng):
    A, B = system(rng)
    calls = []

    def apply(v):
        calls.append(v)
        return A @ v

    exact = np.linalg.solve(A, B)
    limit = np.full_like(B, 1e-3)
    x = conjugate_gradients(apply, B, lambda r: r, limit=limit, max_steps=1000)
    assert np.abs(A @ x - B).max() <= 1e-3 * (1 + 1e-9)
    needed = len(calls)
    calls.clear()
    near = conjugate_gradients(apply, B, lambda r: r, limit=limit, start=exact, max_steps=1000)
    np.testing.assert_array_equal(near, exact)
    assert len(calls) == 1 < needed


def test_an_operator_that_is_not_positive_or_not_a_number_ends_it(rng):
    B = rng.standard_normal((5, 2))
    for factor in (-1.0, np.nan):
        x = conjugate_gradients(lambda v, f=factor: f * v, B, lambda r: r, max_steps=10**9)
        assert not x.any()
    bad = conjugate_gradients(lambda v: v, np.full(3, np.nan), lambda r: r, max_steps=10**9)
    assert bad.shape == (3,)


def test_knows_products_with_the_inverse_of_the_preconditioner(rng):
    A = rng.standard_normal((12, 12))
    own, coupling = np.diag(rng.uniform(1.0, 5.0, 12)), 0.02 * (A + A.T)
    target = rng.standard_normal((12, 2))
    found = conjugate_gradients(
        lambda V: coupling @ V,
        target,
        lambda V: np.linalg.solve(own, V),
        tol=1e-12,
        max_steps=100,
        on_top=True,
    )
    np.testing.assert_allclose(found, np.linalg.solve(own + coupling, target), atol=1e-10)
