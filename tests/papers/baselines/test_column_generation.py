"""Linear programs on a working set of columns against one program of all columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hinge_reference import dense, hinge_minimum, hinge_value, small_problem
from sparsieve.design import DenseDesign, SparseDesign
from sparsieve.papers.baselines.solvers.column_generation import (
    ColumnGeneration,
    ColumnStore,
    Hinge,
)


def machine(X, y, C, costs, *more, **options):
    design = DenseDesign(X)
    return Hinge(design, y, C, ColumnStore(design), costs, *more, **options)


@pytest.mark.parametrize("bound", [np.inf, 0.15])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_agrees_with_one_program_of_all_columns(bound, kind):
    X, y = small_problem()
    rng = np.random.default_rng(1)
    C, costs = rng.uniform(0.5, 2.0, size=30), rng.uniform(2.0, 6.0, size=80)
    costs[[3, 40]] = 0.0
    bounds = np.full(80, bound)
    design = DenseDesign(X) if kind == "dense" else SparseDesign(sparse.csr_array(X))
    svm = Hinge(design, y, C, ColumnStore(design), costs, bound)
    result = ColumnGeneration().solve(svm)
    assert ColumnGeneration().solve(svm, result) is result
    plane = result.solution
    value = costs @ np.abs(dense(plane, 80)) + svm.loss(plane)
    assert value == pytest.approx(hinge_minimum(X, y, C, costs, bounds), rel=1e-6)
    assert result.objective == pytest.approx(value, rel=1e-9)
    assert result.optimality < 1e-6
    assert result.converged
    assert (np.diff(result.trace) <= 1e-9).all()
    assert (np.abs(plane.weights) <= bound * (1 + 1e-9)).all()


def test_column_generation_reads_few_columns():
    X, y = small_problem(n_features=3000)
    design = DenseDesign(X)
    svm = Hinge(design, y, np.ones(30), ColumnStore(design), np.full(3000, 3.0))
    result = ColumnGeneration().solve(svm)
    assert len(svm.columns) < 300
    assert result.optimality < 1e-6


@pytest.mark.parametrize("fit_bias", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_unpenalised_features_have_neither_cost_nor_bound(seed, fit_bias):
    X, y = small_problem(seed, n_features=50)
    C, free = np.full(30, 0.3), np.array([3, 20])
    svm = machine(X, y, C, np.ones(50), 0.05, fit_bias, free)
    svm = replace(svm, costs=svm.uniform_costs(1.0))
    bounds = np.full(50, 0.05)
    bounds[free] = np.inf
    result = ColumnGeneration().solve(svm)
    best = hinge_minimum(X, y, C, svm.costs, bounds, fit_bias)
    assert result.objective == pytest.approx(best, rel=1e-6)
    assert result.converged
    plane = result.solution
    value = hinge_value(X, y, C, svm.costs, dense(plane, 50), plane.bias)
    assert value == pytest.approx(best, rel=1e-6)
    assert svm.penalty_mask(plane).tolist() == [j not in free for j in plane.features]
    none = np.zeros(50)
    none[free] = np.inf
    alone = hinge_minimum(X, y, C, svm.costs, none, fit_bias)
    assert svm.unpenalised_loss() == pytest.approx(alone, rel=1e-6)


def test_the_working_set_is_a_warm_start():
    X, y = small_problem(3, n_features=400)
    C = np.ones(30)
    first = ColumnGeneration().solve(machine(X, y, C, np.full(400, 3.0)))
    costs = np.full(400, 3.0)
    costs[first.solution.features] = 0.5
    svm = machine(X, y, C, costs)
    warm = ColumnGeneration().solve(svm, first)
    assert warm.objective == pytest.approx(hinge_minimum(X, y, C, costs), rel=1e-6)
    assert warm.converged
    before = first.solution.working.features
    assert np.array_equal(warm.solution.working.features[: len(before)], before)


@pytest.mark.parametrize(("balance", "fit_bias"), [(20, True), (15, True), (20, False)])
def test_the_plane_without_features(balance, fit_bias):
    X, _ = small_problem()
    y = np.where(np.arange(30) < balance, 1.0, -1.0)
    svm = machine(X, y, np.ones(30), np.full(80, 1e6), fit_bias=fit_bias)
    best = hinge_minimum(X, y, svm.C, svm.costs, 0.0, fit_bias)
    assert svm.loss(svm.origin()) == pytest.approx(best, rel=1e-9)
    assert ColumnGeneration().solve(svm).objective == pytest.approx(best, rel=1e-9)
