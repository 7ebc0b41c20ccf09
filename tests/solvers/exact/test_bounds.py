"""Lower bounds on what k features can reach, against a conic solver and exhaustive search."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.design.views import Scaled
from sparsieve.solvers.exact.bounds import BoundSearch
from sparsieve.solvers.exact.relaxation import GramProblem, relax


def problem(seed, n=20, d=8, c=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.standard_normal((d, d)))
    Y = X[:, :3] @ rng.standard_normal((3, c)) + rng.standard_normal((n, c))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def objective(X, Y, support, ridge):
    S = X[:, list(support)]
    W = np.linalg.solve(S.T @ S + ridge * np.eye(S.shape[1]), S.T @ Y)
    return float(((Y - S @ W) ** 2).sum() + ridge * (W**2).sum())


def best(X, Y, k, ridge):
    return min(objective(X, Y, s, ridge) for s in combinations(range(X.shape[1]), k))


def relaxation_value(X, Y, k, ridge):
    """The perspective relaxation as a conic program, written from its definition."""
    W, z = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable(X.shape[1])
    terms = [cp.quad_over_lin(W[j], z[j]) for j in range(X.shape[1])]
    value = cp.sum_squares(Y - X @ W) + ridge * sum(terms)
    task = cp.Problem(cp.Minimize(value), [z >= 0, z <= 1, cp.sum(z) <= k])
    return task.solve(solver="CLARABEL")


@pytest.mark.parametrize("seed", range(6))
def test_the_relaxation_reaches_the_conic_solver(seed):
    X, Y = problem(seed, c=1 + seed % 3)
    ridge = [2.0, 20.0][seed % 2]
    search = BoundSearch(as_design(X), Y, ridge)
    for k in (1, 2, 4, 7):
        solution = search.solve(k, tol=1e-8).solution
        found, dual = solution.relaxed, solution.dual
        expected = relaxation_value(X, Y, k, ridge)
        assert found.value == pytest.approx(expected, rel=1e-6)
        assert dual.bounds(k, ridge)[-1] == pytest.approx(expected, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0), st.integers(1, 3))
def test_no_support_goes_below_the_bound_wherever_it_comes_from(seed, ridge, c):
    X, Y = problem(seed, n=12, d=6, c=c)
    rng = np.random.default_rng(seed)
    search = BoundSearch(as_design(X), Y, ridge)
    search._add_units(np.arange(6))
    exact = [best(X, Y, k, ridge) if k else float((Y**2).sum()) for k in range(7)]
    for scale in (0.0, 0.1, 1.0, 10.0):  # weights that no solver would end with
        dual = search.certify(scale * rng.standard_normal((6, c)))
        assert (dual.bounds(6, ridge) <= np.array(exact) * (1 + 1e-12)).all()


def test_one_product_bounds_every_size():
    X, Y = problem(3)
    search = BoundSearch(as_design(X), Y, 20.0)
    dual = search.solve(3, tol=1e-6).solution.dual
    bounds = dual.bounds(8, 20.0)
    assert len(bounds) == 9
    assert (np.diff(bounds) <= 0).all()
    for k in range(1, 9):
        assert bounds[k] <= best(X, Y, k, 20.0)


def test_newton_ends_where_no_direction_descends():
    X, Y = problem(5, n=30, d=12, c=3)
    task = GramProblem(X.T @ X, X.T @ Y, float((Y**2).sum()), 5.0)
    found = relax(task, np.zeros(12), 4.0, tol=1e-8)
    assert found.z.sum() == pytest.approx(4.0)
    assert (found.z >= 0).all()
    assert (found.z <= 1).all()
    assert found.gap <= 1e-8 * found.value


def test_equal_columns_and_constants_do_not_hurt():
    X, Y = problem(7)
    X = np.column_stack([X, X[:, 0], X[:, 0], np.zeros(len(X))])
    search = BoundSearch(as_design(X), Y, 10.0)
    for k in (1, 3, 9):
        solution = search.solve(k, tol=1e-6).solution
        found, dual = solution.relaxed, solution.dual
        assert dual.bounds(k, 10.0)[-1] == pytest.approx(found.value, rel=1e-5)


def test_features_that_may_not_be_used_do_not_count():
    X, Y = problem(8)
    eligible = np.ones(8, dtype=bool)
    eligible[[0, 1]] = False
    search = BoundSearch(as_design(X), Y, 10.0, eligible)
    left = X[:, 2:]
    alone = BoundSearch(as_design(left), Y, 10.0)
    for k in (1, 3):
        with_mask = search.solve(k, tol=1e-8).objective
        assert with_mask == pytest.approx(alone.solve(k, tol=1e-8).objective, rel=1e-6)


@pytest.mark.parametrize("kind", ["float32", "sparse", "scaled"])
def test_other_designs_are_read_in_double_precision(kind):
    X, Y = problem(9, n=40, d=15)
    if kind == "sparse":
        X[np.abs(X) < 1.0] = 0.0
        design = as_design(sparse.csr_array(X))
    elif kind == "scaled":
        shift = np.full(15, 1e6)
        design = Scaled(as_design(X + shift), shift, np.full(15, 1.0))
        X = (X + shift) - shift
    else:
        design = as_design(X.astype(np.float32))
        X = X.astype(np.float32).astype(float)
    search = BoundSearch(design, Y, 40.0)
    expected = BoundSearch(as_design(X), Y, 40.0)
    for k in (2, 5):
        bound = search.solve(k, tol=1e-6).solution.dual.bounds(k, 40.0)[-1]
        exact = expected.solve(k, tol=1e-6).solution.dual.bounds(k, 40.0)[-1]
        assert bound == pytest.approx(exact, rel=1e-4)
        assert bound <= best(X, Y, k, 40.0)
