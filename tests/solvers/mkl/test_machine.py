"""The coefficient step against cvxpy."""

import numpy as np
import pytest

from sparsieve.solvers.mkl import machine as newton
from sparsieve.solvers.mkl.machine import solve_kernel_machine

cvxpy = pytest.importorskip("cvxpy")


def problem(seed, n=25, indefinite=True):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, 4))
    A = B @ np.diag([3.0, 1.0, 0.5, -0.4 if indefinite else 0.2]) @ B.T / 5
    y = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    s = np.sqrt(rng.uniform(0.5, 3.0, size=n))
    return A, max(0.0, -np.linalg.eigvalsh(A)[0]), y, s


def by_cvxpy(A, R, strength, y, s, slope):
    u, b = cvxpy.Variable(len(y)), cvxpy.Variable()
    loss = cvxpy.sum_squares(cvxpy.pos(s - cvxpy.multiply(y, A @ u) - (s * y) * b))
    quadratic = cvxpy.quad_form(u, cvxpy.psd_wrap(R))
    objective = cvxpy.Minimize(strength * quadratic - slope @ u + loss)
    return cvxpy.Problem(objective).solve(solver=cvxpy.CLARABEL)


@pytest.mark.parametrize("indefinite", [True, False])
@pytest.mark.parametrize("strength", [0.01, 1.0])
def test_agrees_with_cvxpy(indefinite, strength):
    A, shift, y, s = problem(0, indefinite=indefinite)
    found = solve_kernel_machine(A, shift, strength, y, s)
    best = by_cvxpy(A, A + shift * np.eye(25), strength, y, s, np.zeros(25))
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.optimality < 1e-8
    assert found.n_iter == len(found.trace) < 30
    assert found.trace[-1] == found.objective


def test_with_a_linear_term_and_another_regulariser():
    A, _, y, s = problem(1)
    values, vectors = np.linalg.eigh(A)
    R = (vectors * np.maximum(values, 0.0)) @ vectors.T + 0.1 * np.eye(25)
    slope = np.random.default_rng(2).normal(size=25)
    found = solve_kernel_machine(A, 0.0, 0.5, y, s, slope=slope, regulariser=R)
    assert found.objective == pytest.approx(by_cvxpy(A, R, 0.5, y, s, slope), rel=1e-6)


def test_products_instead_of_a_hessian(monkeypatch):
    A, shift, y, s = problem(3)
    dense = solve_kernel_machine(A, shift, 0.3, y, s)
    monkeypatch.setattr(newton, "DENSE_LIMIT", 10)
    lean = solve_kernel_machine(A, shift, 0.3, y, s)
    assert lean.objective == pytest.approx(dense.objective, rel=1e-9)


def test_warm_start_is_at_once_optimal():
    A, shift, y, s = problem(4)
    first = solve_kernel_machine(A, shift, 0.3, y, s)
    again = solve_kernel_machine(A, shift, 0.3, y, s, first.solution.u, first.solution.bias)
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_end_at_once(bad):
    A, shift, y, s = problem(5)
    for broken in ({"A": np.full_like(A, bad)}, {"strength": bad}, {"slope": np.full(25, bad)}):
        given = {"A": A, "shift": shift, "strength": 0.3, "y": y, "s": s, **broken}
        with np.errstate(all="ignore"):
            found = solve_kernel_machine(**given, u0=np.ones(25))
        assert found.n_iter == 0
        assert found.optimality == np.inf
        assert not found.converged
