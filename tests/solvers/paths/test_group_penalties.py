"""Penalties on groups of rows other than the l2,1 norm, against independent computations."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import SparseDesign, as_design
from sparsieve.penalties.concave import MCP
from sparsieve.penalties.convex import L21, SparseGroup
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD, GroupL21


def data(seed, n, sizes, n_outputs):
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    X = rng.normal(size=(n, ends[-1])) + 0.5 * rng.normal(size=(n, 1))
    Y = X[:, :4] @ rng.normal(size=(4, n_outputs)) + rng.normal(size=(n, n_outputs))
    groups = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return X - X.mean(axis=0), Y - Y.mean(axis=0), groups


CASES = [(40, [2, 3, 1, 5, 4, 2, 7], 1), (25, [3] * 15, 3), (60, [1] * 30, 2)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("n", "sizes", "n_outputs"), CASES)
@pytest.mark.parametrize("l1_ratio", [0.2, 0.8])
def test_sparse_groups_against_a_cone_solver(n, sizes, n_outputs, l1_ratio):
    X, Y, groups = data(0, n, sizes, n_outputs)
    weights = np.sqrt(sizes)
    solver, penalty = GroupL21(groups, weights, tol=1e-9), SparseGroup(1.0, l1_ratio)
    largest = solver.entry_strengths(2.0 * X.T @ Y, 1, penalty).max()
    alphas = largest * np.array([1.001, 0.5, 0.1, 0.02])
    found = list(solver.path(LeastSquares(as_design(X), Y, penalty), alphas))
    assert not found[0].solution.W.any()
    for alpha, one in zip(alphas, found, strict=True):
        assert one.converged
        W = cp.Variable((X.shape[1], n_outputs))
        norms = sum(c * cp.norm(W[some], "fro") for c, some in zip(weights, groups, strict=True))
        rows = cp.sum(cp.norm(W, 2, axis=1))
        price = alpha * (l1_ratio * rows + (1.0 - l1_ratio) * norms)
        value = cp.Problem(cp.Minimize(cp.sum_squares(X @ W - Y) + price)).solve(solver=cp.CLARABEL)
        assert one.objective == pytest.approx(value, rel=1e-6)
        # The objective from the coefficients alone, and that the gap is one.
        own = one.solution.W
        plain = ((X @ own - Y) ** 2).sum() + alpha * (
            l1_ratio * np.linalg.norm(own, axis=1).sum()
            + (1.0 - l1_ratio)
            * sum(c * np.linalg.norm(own[some]) for c, some in zip(weights, groups, strict=True))
        )
        assert one.objective == pytest.approx(plain, rel=1e-9)
        assert one.objective * (1.0 - one.optimality) <= value * (1.0 + 1e-7)


def stationarity(X, Y, groups, weights, W, alpha, gamma, n):
    """The largest violation of the conditions of a stationary point, over alpha, written out."""
    G, worst = 2.0 * X.T @ (Y - X @ W), 0.0
    for c, some in zip(weights, groups, strict=True):
        length = np.linalg.norm(W[some])
        if length == 0.0:
            worst = max(worst, np.linalg.norm(G[some]) / c - alpha)
        else:
            slope = max(alpha * c - 2.0 * n / gamma * length, 0.0)
            worst = max(worst, np.linalg.norm(G[some] - slope * W[some] / length) / c)
    return worst / alpha


@pytest.mark.parametrize("gamma", [1.5, 3.0])
@pytest.mark.parametrize(("n", "sizes", "n_outputs"), CASES)
def test_concave_penalties_end_at_stationary_points(n, sizes, n_outputs, gamma):
    X, Y, groups = data(1, n, sizes, n_outputs)
    weights = np.sqrt(sizes)
    solver, penalty = GroupL21(groups, weights, tol=1e-7), MCP(1.0, gamma, n=n)
    largest = solver.strengths(2.0 * X.T @ Y).max()
    alphas = largest * np.geomspace(1.0, 0.02, 12)[1:]
    found = list(solver.path(LeastSquares(as_design(X), Y, penalty), alphas))
    for alpha, one in zip(alphas, found, strict=True):
        W = one.solution.W
        off = stationarity(X, Y, groups, weights, W, alpha, gamma, n)
        assert one.converged
        assert off <= 1.01e-7
        assert one.optimality == pytest.approx(max(off, 0.0), abs=1e-9)
        lengths = [np.linalg.norm(W[some]) for some in groups]
        value = ((X @ W - Y) ** 2).sum()
        value += MCP(alpha, gamma, n=n).norm_values(np.array(lengths), weights).sum()
        assert one.objective == pytest.approx(value, rel=1e-10)
    # Each begins at the last: from there the objective has only fallen.
    for before, alpha, one in zip(found, alphas[1:], found[1:], strict=False):
        lengths = np.array([np.linalg.norm(before.solution.W[some]) for some in groups])
        start = ((X @ before.solution.W - Y) ** 2).sum()
        start += MCP(alpha, gamma, n=n).norm_values(lengths, weights).sum()
        assert one.objective <= start * (1.0 + 1e-12)


def test_without_curvature_it_is_the_convex_problem():
    X, Y, groups = data(2, 40, [3] * 10, 2)
    solver = GroupL21(groups, np.ones(10), tol=1e-8)
    alphas = solver.strengths(2.0 * X.T @ Y).max() * np.array([0.5, 0.1])
    problem = LeastSquares(as_design(X), Y, L21(1.0))
    for one, other in zip(
        solver.path(problem, alphas),
        solver.path(LeastSquares(problem.design, Y, MCP(1.0, 1e12)), alphas),
        strict=True,
    ):
        assert other.objective == pytest.approx(one.objective, rel=1e-7)


@pytest.mark.parametrize("penalty", [MCP(1.0, 3.0, n=200), SparseGroup(1.0, 0.5)])
def test_sparse_columns_give_the_same(penalty):
    X = sparse.random(200, 60, density=0.02, random_state=0, format="csc")
    Y = X[:, :5] @ np.ones((5, 1)) + 0.1 * np.random.default_rng(0).normal(size=(200, 1))
    groups = list(np.arange(60).reshape(-1, 3))
    solver = GroupL21(groups, np.ones(20), tol=1e-8)
    alphas = solver.strengths(2.0 * np.asarray(X.T @ Y)).max() * np.array([0.6, 0.3, 0.1])
    designs = SparseDesign(X), as_design(X.toarray())
    assert designs[0].is_very_sparse
    one, other = (
        [fit.solution.W for fit in solver.path(LeastSquares(design, Y, penalty), alphas)]
        for design in designs
    )
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_a_penalty_without_what_a_working_set_needs_is_refused_in_words():
    class Nothing:
        alpha = 1.0
        dual_norms = dual_bound = None

    X, Y, _ = data(3, 20, [1] * 5, 1)
    with pytest.raises(TypeError, match="BlockCD needs a penalty with row_strengths"):
        BlockCD().solve(LeastSquares(as_design(X), Y, Nothing()))
