"""Programs on a few columns, primal, dual and by few samples, against one dense program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from hinge_reference import hinge_minimum, hinge_value
from sparsieve.papers.baselines.solvers import linear_program
from sparsieve.papers.baselines.solvers.linear_program import (
    HighsSolver,
    LinearProgram,
    central_bias,
)


def overlapping(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.2, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n), rng.uniform(1.0, 4.0, d)


@pytest.mark.parametrize("fit_bias", [True, False])
@pytest.mark.parametrize("bound", [np.inf, 0.1])
@pytest.mark.parametrize(("n", "d"), [(20, 15), (80, 6)], ids=["primal", "dual"])
def test_both_forms_find_the_minimum(n, d, bound, fit_bias):
    X, y, C, costs = overlapping(n, n, d)
    costs[1] = 0.0
    program = LinearProgram.from_columns(X, y, C, costs, np.full(d, bound), fit_bias)
    found = HighsSolver().solve(program)
    plane = found.solution
    best = hinge_minimum(X, y, C, costs, bound, fit_bias)
    assert found.objective == pytest.approx(best, rel=1e-7)
    value = hinge_value(X, y, C, costs, plane.weights, plane.bias)
    assert value == pytest.approx(best, rel=1e-7)
    assert (np.abs(plane.weights) <= bound * (1 + 1e-9)).all()
    # The dual variables prove it: feasible, and of the same value where there are no bounds.
    assert (plane.alpha >= 0).all()
    assert (plane.alpha <= C).all()
    assert plane.alpha @ y == pytest.approx(0.0, abs=1e-7) or not fit_bias
    excess = np.maximum(np.abs((plane.alpha * y) @ X) - costs, 0.0)
    bounded = bound if np.isfinite(bound) else 0.0
    assert plane.alpha.sum() - bounded * excess.sum() == pytest.approx(best, rel=1e-6)
    assert found.converged or np.isfinite(bound)


def test_few_samples_at_a_time_give_the_whole_program(monkeypatch):
    X, y, C, costs = overlapping(2, 600, 4)
    program = LinearProgram.from_columns(X, y, C, 10.0 * costs, np.full(4, np.inf))
    whole = HighsSolver().solve(program)
    monkeypatch.setattr(linear_program, "MIN_NEAR_SAMPLES", 40)
    monkeypatch.setattr(linear_program, "NEAR_SAMPLES_PER_FEATURE", 10)
    parts = HighsSolver().solve(program)
    assert whole.objective == pytest.approx(hinge_minimum(X, y, C, 10.0 * costs), rel=1e-7)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-9)
    assert parts.converged
    # A start that is far away costs time, but not the answer.
    away = replace(parts, solution=replace(parts.solution, weights=np.full(4, -5.0)))
    again = HighsSolver().solve(program, away)
    assert again.objective == pytest.approx(whole.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_bias_is_the_middle_of_the_best_ones(seed):
    rng = np.random.default_rng(seed)
    scores, y = rng.normal(size=12).round(1), np.where(rng.random(12) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    C = np.ones(12)
    grid = np.linspace(-6, 6, 12001)
    losses = np.maximum(0.0, 1.0 - y * (scores + grid[:, None])) @ C
    best = grid[losses <= losses.min() + 1e-9]
    bias = central_bias(scores, y, C)
    assert bias == pytest.approx(0.5 * (best[0] + best[-1]), abs=2e-3)


def test_too_large_a_cost_of_samples_is_named(monkeypatch):
    def failing(*arguments, **options):
        return OptimizeResult(x=None, message="no")

    monkeypatch.setattr(linear_program, "linprog", failing)
    X, y, C, costs = overlapping(0, 40, 3)
    program = LinearProgram.from_columns(X, y, 1e9 * C, costs, np.full(3, np.inf))
    with pytest.raises(ValueError, match=r"C times sample_weight reaches .*lower C"):
        HighsSolver().solve(program)


def test_columns_of_mostly_equal_entries_are_solved_as_sparse_ones(rng, monkeypatch):
    X = rng.poisson(0.2, (60, 30)) * 1.0
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.standard_normal(60) > 0.3, 1.0, -1.0)
    X -= X.mean(axis=0)
    program = LinearProgram.from_columns(X, y, np.ones(60), np.full(30, 0.7), np.full(30, np.inf))
    assert (linear_program._mostly_zero(X) == 0).mean() > 0.5
    found = HighsSolver().solve(program)
    weights, bias = found.solution.weights, found.solution.bias
    monkeypatch.setattr(linear_program, "_mostly_zero", lambda columns: columns)
    same = LinearProgram.from_columns(X, y, program.C, program.costs, program.bounds)
    plain = HighsSolver().solve(same).solution

    def value(w, b):
        return 0.7 * np.abs(w).sum() + np.maximum(0, 1 - y * (X @ w + b)).sum()

    assert value(weights, bias) == pytest.approx(value(plain.weights, plain.bias), rel=1e-9)
    assert value(weights, bias) == pytest.approx(found.solution.alpha.sum(), rel=1e-9)
    assert value(weights, bias) == pytest.approx(found.objective, rel=1e-12)
    assert found.converged
    dense = rng.standard_normal((9, 4))
    np.testing.assert_array_equal(linear_program._mostly_zero(dense), dense)


@pytest.mark.parametrize("n_failures", [1, 2, 3, 4])
def test_a_program_that_seems_unbounded_is_solved_in_another_way(monkeypatch, n_failures):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.where(rng.normal(size=40) > 0, 1.0, -1.0)
    program = LinearProgram.from_columns(X, y, np.ones(40), np.full(6, 0.5), np.full(6, np.inf))
    expected = HighsSolver().solve(program).solution
    original, calls = linear_program.linprog, []

    def failing(*arguments, **options):
        calls.append(options["method"])
        if len(calls) <= n_failures:
            return OptimizeResult(x=None, message="The problem is unbounded.")
        return original(*arguments, **options)

    monkeypatch.setattr(linear_program, "linprog", failing)
    if n_failures == 4:
        with pytest.raises(RuntimeError, match=r"unbounded.*standardize=True"):
            HighsSolver().solve(program)
        return
    found = HighsSolver().solve(program).solution
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)
    assert found.bias == pytest.approx(expected.bias, abs=1e-6)
    assert 0 <= found.alpha.min() <= found.alpha.max() <= 1
