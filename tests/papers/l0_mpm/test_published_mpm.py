"""The published DC algorithm of L0-MPM against a plain loop written from the paper."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from tests.mpm_reference import ACCURATE, moments, random_problem

from sparsieve import L0MPMSelector, SparseKernelMPMClassifier
from sparsieve.design import as_design
from sparsieve.papers.l0_mpm.solvers.moments import SampleGroup, TwoClassMoments
from sparsieve.papers.l0_mpm.solvers.problem import Minimax
from sparsieve.papers.l0_mpm.solvers.published import _StepProgram
from sparsieve.penalties.concave import surrogate

DELTA = 0.4


def plain_step(X, y, alpha, v, ridge):
    """Equations (42) to (46): weights and offset."""
    mu1, mu2, Z1, Z2 = moments(X, y)
    d, kappa = X.shape[1], np.sqrt(DELTA / (1.0 - DELTA))
    C1, C2 = (np.vstack([Z, np.sqrt(ridge) * np.eye(d)]) for Z in (Z1, Z2))
    w, b, t = cp.Variable(d), cp.Variable(), cp.Variable(d)
    constraints = [
        w @ mu1 - b >= kappa * cp.norm(C1 @ w),
        b - w @ mu2 >= kappa * cp.norm(C2 @ w),
        w @ mu1 - b >= 1,
        b - w @ mu2 >= 1,
        -t <= w,
        w <= t,
    ]
    problem = cp.Problem(cp.Minimize(alpha * cp.sum(t) - v @ w), constraints)
    problem.solve(solver="CLARABEL", **ACCURATE)
    return np.append(w.value, b.value), problem.value


def plain_loop(X, y, alpha, tol, max_iter, ridge):
    """Algorithm 1 with the slopes of equation (40), from zero weights."""
    x, objectives = np.zeros(X.shape[1] + 1), []
    for _ in range(max_iter):
        w = x[:-1]
        rising = alpha * (1.0 - np.exp(-alpha * np.abs(w)))
        new, _ = plain_step(X, y, alpha, np.where(w >= 0, rising, -rising), ridge)
        objectives.append(float((1.0 - np.exp(-alpha * np.abs(new[:-1]))).sum()))
        moved, x = np.linalg.norm(new - x), new
        if len(objectives) > 1 and (moved < tol or objectives[-1] >= objectives[-2] - tol):
            break
    return x, objectives


def problem_of(seed, n, d):
    X, y = random_problem(seed, n, d)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize(
    ("seed", "n", "d", "alpha", "ridge"),
    [(0, 120, 8, 5.0, 0.0), (1, 60, 12, 1.0, 0.1), (2, 200, 10, 10.0, 0.0), (3, 30, 40, 2.0, 0.5)],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_step_is_that_of_the_paper(seed, n, d, alpha, ridge):
    X, y = problem_of(seed, n, d)
    for max_iter in (1, 2, 30):
        x, objectives = plain_loop(X, y, alpha, 1e-4, max_iter, ridge)
        found = L0MPMSelector(
            delta=DELTA, theta=alpha, ridge=ridge, solver="published", max_iter=max_iter
        ).fit(X, y)
        assert found.n_iter_ == len(objectives)
        np.testing.assert_allclose(found.history_, objectives, rtol=1e-4)
        np.testing.assert_allclose(found.coef_[0], x[:-1], atol=2e-4 * np.abs(x).max())
        np.testing.assert_allclose(-found.intercept_[0], x[-1], atol=2e-4 * (1 + abs(x[-1])))
    assert found.converged_
    assert np.all(np.diff(found.history_) <= 1e-6)
    assert found.worst_case_accuracy_ >= DELTA - 1e-6


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_a_change_of_sign_costs_more(ridge):
    """A step from weights of the wrong signs, where a weighted l1 norm gives another answer."""
    X, y = problem_of(4, 80, 6)
    alpha = 3.0
    mu1, mu2, _, _ = moments(X, y)
    v = -0.9 * alpha * np.sign(mu1 - mu2)
    groups = (SampleGroup.from_rows(np.flatnonzero(y == label)) for label in (1, 0))
    ours = Minimax(
        TwoClassMoments(as_design(X), *groups, ridge),
        level=DELTA,
        surrogate=surrogate("exp", alpha),
    )
    plane = _StepProgram(ours, np.full(6, alpha)).solve(v)
    x, value = plain_step(X, y, alpha, v, ridge)
    np.testing.assert_allclose(plane.weights, x[:-1], atol=1e-4 * np.abs(x).max())
    symmetric = (alpha - np.abs(v)) @ np.abs(plane.weights)
    assert value > 2.0 * symmetric  # what the same weights would cost there


def test_kept_columns_cost_nothing_and_out_of_reach_is_said():
    X, y = load_wine(return_X_y=True)
    two = y < 2
    keep = L0MPMSelector(delta=0.6, solver="published", always_keep=[3]).fit(X[two], y[two])
    assert keep.support_[3]
    several = L0MPMSelector(delta=0.5, solver="published").fit(X, y)
    assert several.coef_.shape == (3, 13)
    with pytest.raises(ValueError, match="delta"):
        L0MPMSelector(delta=0.9999, solver="published").fit(X[two], y[two])
    with pytest.warns(ConvergenceWarning):
        L0MPMSelector(delta=0.6, solver="published", max_iter=1).fit(X[two], y[two])


def test_the_kernel_version_takes_the_same_steps_with_weights_of_samples():
    X, y = problem_of(5, 24, 3)
    machine = SparseKernelMPMClassifier(
        gamma=0.5, delta=DELTA, ridge=0.01, theta=2.0, standardize=False, solver="published"
    ).fit(X, y)
    x, objectives = plain_loop(rbf_kernel(X, gamma=0.5), y, 2.0, 1e-4, 100, 0.01)
    assert machine.n_iter_ == len(objectives)
    np.testing.assert_allclose(machine.history_, objectives, rtol=1e-4)
    weights = np.zeros(len(y))
    weights[machine.support_] = machine.dual_coef_[0]
    np.testing.assert_allclose(weights, x[:-1], atol=2e-4 * np.abs(x).max())
    assert 0 < len(machine.support_) < len(y)


def test_the_published_steps_are_those_of_l0():
    X, y = problem_of(5, 24, 3)
    with pytest.raises(ValueError, match="the published steps are those of norm="):
        SparseKernelMPMClassifier(norm="l1", solver="published").fit(X, y)
    with pytest.raises(ValueError, match="solver must be one of"):
        SparseKernelMPMClassifier(solver="exact").fit(X, y)
