"""The DC loop on programs whose convex steps have closed forms."""

import numpy as np
import pytest

from sparsieve.penalties.concave import surrogate
from sparsieve.solvers.engines.dca import DCA


class SparseApproximation:
    """min 1/2 ||x - a||^2 + lam sum delta(x_j); every convex step is soft thresholding."""

    def __init__(self, a, lam, name, theta):
        self.a, self.lam, self.delta = a, lam, surrogate(name, theta)

    def value(self, x):
        return 0.5 * np.sum((x - self.a) ** 2) + self.lam * self.delta.total(x)

    def linearise(self, x):
        return self.lam * self.delta.concave_gradient(x)

    def solve_convex(self, slope, x0):
        threshold = self.lam * self.delta.slope_at_zero - slope
        return np.sign(self.a) * np.maximum(np.abs(self.a) - threshold, 0.0)


class Scripted:
    """A program that visits given values in order."""

    def __init__(self, values):
        self.values = values

    def value(self, x):
        return self.values[x]

    def linearise(self, x):
        return None

    def solve_convex(self, slope, x0):
        return x0 + 1


@pytest.mark.parametrize("name", ["exp", "log", "capped_l1", "scad"])
def test_reaches_a_critical_point(name):
    a = np.random.default_rng(0).normal(size=30) * 2
    program = SparseApproximation(a, 0.3, name, 3.0)
    result = DCA(max_iter=500, tol=1e-12).solve(program, a.copy())
    assert result.converged
    assert (np.diff(result.trace) <= 0).all()
    assert result.objective == result.trace[-1] == program.value(result.solution)
    # Critical: x is the minimiser of the convex problem it defines itself.
    again = program.solve_convex(program.linearise(result.solution), result.solution)
    np.testing.assert_allclose(again, result.solution, atol=1e-5)


def test_first_step_from_zero_is_the_l1_problem():
    a = np.array([3.0, -0.5, 1.4])
    program = SparseApproximation(a, 0.3, "exp", 2.0)
    result = DCA(max_iter=1).solve(program, np.zeros(3))
    np.testing.assert_allclose(result.solution, [2.4, 0.0, 0.8])
    assert result.n_iter == 1
    assert not result.converged


def test_relative_stopping_rule():
    result = DCA(tol=1e-3).solve(Scripted([10.0, 5.0, 4.0, 3.999, 0.0]), 0)
    assert (result.solution, result.n_iter, result.converged) == (3, 3, True)
    assert result.optimality == pytest.approx(0.001 / 4.0)
    assert result.trace == [5.0, 4.0, 3.999]


def test_infeasible_start():
    result = DCA(tol=0.1).solve(Scripted([np.inf, 5.0, 4.9]), 0)
    assert (result.solution, result.converged, result.trace) == (2, True, [5.0, 4.9])


def test_nothing_feasible():
    result = DCA().solve(Scripted([np.inf, np.inf]), 0)
    assert not result.converged
    assert result.trace == []


@pytest.mark.parametrize(("rise", "converged"), [(1e-8, True), (1e-3, False)])
def test_a_rise_is_never_accepted(rise, converged):
    result = DCA(tol=1e-12).solve(Scripted([10.0, 5.0, 5.0 * (1 + rise)]), 0)
    assert (result.solution, result.objective, result.converged) == (1, 5.0, converged)
    assert result.trace == [5.0]


def test_a_failed_convex_step_keeps_the_last_point():
    result = DCA().solve(Scripted([10.0, 5.0, np.nan]), 0)
    assert (result.solution, result.converged) == (1, False)


def test_waits_until_settled():
    program = Scripted([10.0, 5.0, 5.0, 5.0, 5.0])
    program.has_same_support = lambda old, new: new >= 4
    assert DCA().solve(program, 0).solution == 4


def test_callback_sees_every_step_and_stops():
    seen = []

    def callback(event):
        seen.append((event.n_iter, event.solution, event.objective))
        return event.n_iter == 2

    result = DCA().solve(Scripted([10.0, 5.0, 4.0, 3.0]), 0, callback)
    assert seen == [(1, 1, 5.0), (2, 2, 4.0)]
    assert (result.solution, result.converged) == (2, False)
