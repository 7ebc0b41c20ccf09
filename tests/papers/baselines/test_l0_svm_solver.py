"""Machines that count features: critical points, against programs and small searches."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hinge_reference import dense, hinge_minimum, small_problem
from sparsieve.design import DenseDesign
from sparsieve.papers.baselines.solvers.column_generation import ColumnStore, Hinge
from sparsieve.papers.baselines.solvers.l0_svm import L0SVM, ExactPenaltySVM, SurrogateSVM
from sparsieve.penalties.concave import surrogate


def machine(X, y, C, bound=np.inf):
    design = DenseDesign(X)
    return Hinge(design, y, np.full(len(y), C), ColumnStore(design), np.ones(X.shape[1]), bound)


@pytest.mark.parametrize("name", ["exp", "capped_l1", "log", "scad"])
def test_a_surrogate_ends_in_a_point_that_solves_its_own_program(name):
    X, y = small_problem(1, n_features=40)
    problem = SurrogateSVM(machine(X, y, 1.0), surrogate(name, 2.0))
    result = L0SVM().solve(problem)
    plane = result.solution
    assert result.converged
    assert (np.diff(result.trace) <= 1e-9).all()
    assert problem.value(plane) == pytest.approx(result.objective, rel=1e-9)
    costs = problem.costs(plane)
    assert np.array_equal(costs, plane.costs)
    here = costs @ np.abs(dense(plane, 40)) + problem.hinge.loss(plane)
    best = hinge_minimum(X, y, problem.hinge.C, costs)
    assert here == pytest.approx(best, rel=2e-6)
    assert L0SVM().solve(problem, result).objective <= result.objective * (1 + 1e-9)


def test_the_l1_norm_is_one_program():
    X, y = small_problem(2, n_features=40)
    problem = SurrogateSVM(machine(X, y, 0.5), surrogate("l1", 1.0))
    best = hinge_minimum(X, y, problem.hinge.C, np.ones(40))
    assert L0SVM().solve(problem).objective == pytest.approx(best, rel=1e-6)


def exact_penalty_minimum(X, y, C, bound, penalty):
    """The best of all sets of switches, each of which is one linear program."""
    d, off = X.shape[1], (1.0 + penalty) / bound
    values = []
    for size in range(d + 1):
        for on in combinations(range(d), size):
            costs = np.full(d, off)
            costs[list(on)] = 0.0
            values.append(size + hinge_minimum(X, y, np.full(len(y), C), costs, bound))
    return min(values)


@pytest.mark.parametrize(("seed", "n_on"), [(0, 1), (1, 0), (2, 1)])
def test_switches_of_the_exact_penalty(seed, n_on):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=25) > 0, 1.0, -1.0)
    problem = ExactPenaltySVM(machine(X, y, 0.4, bound=2.0), penalty=3.0)
    result = L0SVM().solve(problem)
    plane = result.solution
    assert result.converged
    assert problem.value(plane) == pytest.approx(result.objective, rel=1e-9)
    assert (np.abs(plane.weights) <= 2.0 * (1 + 1e-9)).all()
    best = exact_penalty_minimum(X, y, 0.4, 2.0, 3.0)
    assert len(plane.switched) == n_on
    assert result.objective >= best * (1 - 1e-7)
    assert (result.objective <= best * (1 + 1e-7)) == (n_on > 0)  # zero is a critical point, too
    # With these switches the weights are the best ones.
    costs = np.full(4, problem.cost)
    costs[plane.switched] = 0.0
    own = len(plane.switched) + hinge_minimum(X, y, problem.hinge.C, costs, 2.0)
    assert result.objective == pytest.approx(own, rel=2e-6)


def test_the_limit_of_iterations_is_kept():
    X, y = small_problem(4, n_features=40)
    problem = SurrogateSVM(machine(X, y, 2.0), surrogate("log", 5.0))
    result = L0SVM(max_iter=1).solve(problem)
    assert result.n_iter == 1
    assert not result.converged
