"""The cone solver on programs with known answers."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.papers.l0_mpm.solvers.cones import ConeProgram


def norm_ball(direction, radius=1.0):
    """min direction'x s.t. ||x|| <= radius, which is -radius ||direction||."""
    k = len(direction)
    A = sparse.csc_matrix(np.vstack([np.zeros(k), -np.eye(k)]))
    return ConeProgram(direction, A, np.append(radius, np.zeros(k)), 0, [k + 1])


def test_norm_ball():
    c = np.array([3.0, -4.0, 12.0])
    answer = norm_ball(c, 2.0).solve()
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(-26.0, rel=1e-8)
    assert answer.dual_objective == pytest.approx(-26.0, rel=1e-8)
    np.testing.assert_allclose(answer.x, -2.0 * c / 13.0, atol=1e-6)


def test_linear_rows_come_first():
    # min x + y s.t. x >= 1, y >= 2, ||(x, y)|| <= 5
    A = np.array([[-1.0, 0.0], [0.0, -1.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]])
    b = np.array([-1.0, -2.0, 5.0, 0.0, 0.0])
    answer = ConeProgram(np.ones(2), sparse.csc_matrix(A), b, 2, [3]).solve()
    np.testing.assert_allclose(answer.x, [1.0, 2.0], atol=1e-7)
    np.testing.assert_allclose(answer.z[:2], [1.0, 1.0], atol=1e-6)


def test_new_cost_on_the_same_rows():
    program = norm_ball(np.array([1.0, 0.0]))
    assert program.solve().objective == pytest.approx(-1.0, rel=1e-7)
    assert program.solve(np.array([0.0, 7.0])).objective == pytest.approx(-7.0, rel=1e-7)


def test_infeasible_and_unbounded():
    A = sparse.csc_matrix([[1.0], [-1.0]])
    # x <= -1 and x >= 1
    assert ConeProgram(np.ones(1), A, np.array([-1.0, -1.0]), 2, []).solve().status == "infeasible"
    # min -x s.t. x >= 0
    A = sparse.csc_matrix([[-1.0]])
    assert ConeProgram(-np.ones(1), A, np.zeros(1), 1, []).solve().status == "unbounded"
