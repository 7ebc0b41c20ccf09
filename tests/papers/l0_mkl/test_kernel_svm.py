"""The coefficient step against cvxpy."""

import numpy as np
import pytest

from sparsieve.papers.l0_mkl import kernel_svm as newton
from sparsieve.papers.l0_mkl.kernel_svm import KernelMachine, KernelSVM, SemismoothNewton
from sparsieve.solvers.base import Result

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
    found = SemismoothNewton().solve(KernelSVM(A, y, s, strength, shift))
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
    found = SemismoothNewton().solve(KernelSVM(A, y, s, 0.5, 0.0, R, slope))
    assert found.objective == pytest.approx(by_cvxpy(A, R, 0.5, y, s, slope), rel=1e-6)


def test_products_instead_of_a_hessian(monkeypatch):
    A, shift, y, s = problem(3)
    dense = SemismoothNewton().solve(KernelSVM(A, y, s, 0.3, shift))
    monkeypatch.setattr(newton, "MAX_DENSE_HESSIAN", 10)
    lean = SemismoothNewton().solve(KernelSVM(A, y, s, 0.3, shift))
    assert lean.objective == pytest.approx(dense.objective, rel=1e-9)


def test_warm_start_is_at_once_optimal():
    A, shift, y, s = problem(4)
    first = SemismoothNewton().solve(KernelSVM(A, y, s, 0.3, shift))
    again = SemismoothNewton().solve(KernelSVM(A, y, s, 0.3, shift), first)
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_end_at_once(bad):
    A, shift, y, s = problem(5)
    for broken in ({"A": np.full_like(A, bad)}, {"strength": bad}, {"slope": np.full(25, bad)}):
        given = {"A": A, "shift": shift, "strength": 0.3, "y": y, "s": s, **broken}
        with np.errstate(all="ignore"):
            start = Result(KernelMachine(np.ones(25), 0.0), np.inf, np.inf, 0, False)
            found = SemismoothNewton().solve(KernelSVM(**given), start)
        assert found.n_iter == 0
        assert found.optimality == np.inf
        assert not found.converged
