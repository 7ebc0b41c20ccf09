"""Many samples: smoothed Newton steps against the interior-point method and its certificate."""

import numpy as np
import pytest

from sparsieve.solvers.row_norms import interior_point
from sparsieve.solvers.row_norms.interior_point import constant_column, minimise_row_norms
from sparsieve.solvers.row_norms.row_norm_problem import RowNormProblem
from sparsieve.solvers.row_norms.smoothed_newton import SmoothedNewton, suits


def many_samples(rng, *, exact=0, intercept=True, weighted=False):
    n, d, c = 1100, 20, 3
    X = rng.standard_normal((n, d))
    Y = X[:, :4] @ rng.standard_normal((4, c)) + 0.5 * rng.standard_normal((n, c))
    X[:exact], Y[:exact] = 0.0, 0.0
    weights = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    return RowNormProblem(X, Y, np.full(d, 60.0), weights, constant_column(n, intercept))


@pytest.mark.parametrize(
    "kind",
    [{}, {"intercept": False, "weighted": True}, {"exact": 300, "intercept": False}],
    ids=["plain", "weighted", "exact samples"],
)
def test_agrees_with_the_interior_point_method(rng, kind, monkeypatch):
    problem = many_samples(rng, **kind)
    assert suits(problem)
    smoothed = SmoothedNewton(problem).run(1e-7, 100)
    monkeypatch.setattr(interior_point, "suits", lambda problem: False)
    expected = minimise_row_norms(problem, tol=1e-9)
    point = smoothed.solution
    assert smoothed.converged
    assert smoothed.objective == pytest.approx(expected.objective, rel=2e-7)
    assert smoothed.objective == pytest.approx(problem.objective(point.W, point.B), rel=1e-12)
    np.testing.assert_array_equal(point.vanishing, expected.solution.vanishing)


def test_the_bound_is_below_the_optimum_at_every_accuracy(rng):
    problem = many_samples(rng)
    best = minimise_row_norms(problem, tol=1e-8).objective
    for tol in (0.3, 1e-2, 1e-4):
        point = SmoothedNewton(problem).run(tol, 100).solution
        assert point.bound <= best * (1 + 1e-9)
        assert (np.linalg.norm(point.dual, axis=1) <= problem.weights * (1 + 1e-9)).all()
        pulls = np.linalg.norm(problem.X.T @ point.dual, axis=1)
        assert (pulls <= problem.strengths * (1 + 1e-9)).all()


def test_starts_from_a_similar_problem_and_from_a_known_bound(rng):
    problem = many_samples(rng)
    cold = SmoothedNewton(problem).run(1e-6, 100)
    warm = SmoothedNewton(problem, cold.solution.rows).run(1e-6, 100, cold.solution.bound)
    assert warm.converged
    assert warm.n_iter < cold.n_iter


def test_few_samples_and_single_outputs_are_left_to_the_interior_point_method(rng):
    problem = many_samples(rng)
    few = RowNormProblem(
        problem.X[:500],
        problem.Y[:500],
        problem.strengths,
        problem.weights[:500],
        problem.free[:500],
    )
    assert not suits(few)
    single = RowNormProblem(
        problem.X, problem.Y[:, :1], problem.strengths, problem.weights, problem.free
    )
    assert not suits(single)


def test_nothing_to_explain_and_no_features(rng):
    problem = many_samples(rng)
    empty = RowNormProblem(
        problem.X[:, :0], problem.Y, problem.strengths[:0], problem.weights, problem.free
    )
    result = minimise_row_norms(empty, tol=1e-6)
    assert result.converged
    zero = RowNormProblem(
        problem.X, np.zeros_like(problem.Y), problem.strengths, problem.weights, problem.free
    )
    result = minimise_row_norms(zero, tol=1e-6)
    assert result.converged
    assert result.objective == 0.0
