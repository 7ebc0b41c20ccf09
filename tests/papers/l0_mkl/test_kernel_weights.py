"""Kernel weights of more features than samples, where Newton's method needs them to be fewer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsieve.papers.l0_mkl._kernels import reduce_weights
from sparsieve.papers.l0_mkl.alternating_dca import AlternatingMKL, MKLModel
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_weights import solve_weights
from sparsieve.papers.l0_mkl.kernels import SigmoidKernel
from sparsieve.penalties.concave import surrogate


def rows(kind, n_features, n_samples, rng):
    """Rows P and prices, of the kinds that kernels give."""
    P = rng.standard_normal((n_features, n_samples)) * rng.random((n_features, 1))
    prices = rng.random(n_features)
    if kind in ("copies", "near copies"):
        same = rng.integers(0, n_samples, n_features)
        P, prices = P[same], prices[same]
    if kind == "near copies":
        P = P * (1.0 + 1e-9 * rng.standard_normal(P.shape))
    if kind == "zeros":
        P[::3] = 0.0
    if kind == "one direction":
        P = np.outer(rng.standard_normal(n_features), rng.standard_normal(n_samples))
    return np.ascontiguousarray(P), prices


KINDS = ("any", "copies", "near copies", "zeros", "one direction")


@pytest.mark.parametrize("bound", [1.0, 0.01, np.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_reduced_weights_do_the_same_at_no_higher_price(kind, bound):
    rng = np.random.default_rng(0)
    P, prices = rows(kind, 200, 15, rng)
    d = min(bound, 2.0) * rng.random(200)
    before = d.copy()
    chosen = np.flatnonzero(rng.random(200) < 0.9)
    reduce_weights(P, prices, bound, d, chosen, np.full(15, -1), np.eye(15), np.empty(15))
    # Copies to nine digits count as copies.
    error = 1e-5 if kind == "near copies" else 1e-12
    assert_allclose(d @ P, before @ P, atol=error * np.abs(before @ P).max())
    assert prices @ d <= prices @ before + error
    assert ((d >= 0) & (d <= bound)).all()
    others = np.setdiff1d(np.arange(200), chosen)
    assert_allclose(d[others], before[others], rtol=0, atol=0)
    rank = 1 if kind == "one direction" else 15
    assert np.count_nonzero((d[chosen] > 0) & (d[chosen] < bound)) <= rank


@pytest.mark.parametrize("bound", [1.0, 0.02])
@pytest.mark.parametrize("kind", KINDS[:4])
def test_more_features_than_samples_against_a_convex_solver(kind, bound):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(1)
    P, prices = rows(kind, 120, 12, rng)
    prices *= 1e-3
    s, border = np.ones(12), np.where(rng.random(12) < 0.5, -1.0, 1.0)
    tol = 1e-9 * 2.0 * np.abs(P @ s).max()
    d, _, residual = solve_weights(P, prices, bound, border, s, np.zeros(120), 0.0, tol)
    found = prices @ d + np.sum(np.maximum(0.0, residual) ** 2)
    weights, b = cvxpy.Variable(120), cvxpy.Variable()
    loss = cvxpy.sum_squares(cvxpy.pos(s - P.T @ weights - border * b))
    limits = [weights >= 0, weights <= bound]
    problem = cvxpy.Problem(cvxpy.Minimize(prices @ weights + loss), limits)
    problem.solve(solver=cvxpy.CLARABEL)
    assert found == pytest.approx(problem.value, rel=1e-6, abs=1e-9)
    assert np.count_nonzero((d > 0) & (d < bound)) <= 12


def test_nearly_constant_kernels_at_a_price_near_zero_have_an_answer():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((600, 24))
    y = np.where(np.arange(24) % 2 == 0, -1.0, 1.0)
    X[:5] += 1.5 * y
    bank = KernelBank(X, SigmoidKernel(10.0, -40.0))
    model = MKLModel(bank, y, 1.0, 1e-4, surrogate("l1"), 1.0)
    found = AlternatingMKL(max_iter=20).solve(model)
    assert 0.0 < found.objective < 0.5 * model.without_features()
    assert all(b <= a * (1 + 1e-9) for a, b in zip(found.trace, found.trace[1:], strict=False))
