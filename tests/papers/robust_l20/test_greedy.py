"""Supports under an l2,1 loss: growth and exchanges."""

from itertools import combinations

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.robust_l20.greedy import GreedyExchange, SupportPath
from sparsieve.solvers.base import Path, Result
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.robust.working_set import RobustRefit


def exact_fit(problem, features):
    return RobustRefit().solve(problem.restrict(features))


def data(seed=0, n=40, d=9, intercept=True, **limits):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((n, 2))
    return RobustRegression(as_design(X), Y, rng.uniform(0.5, 2.0, n), intercept, **limits)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.long("against exhaustive search")
def test_the_search_finds_the_best_support_of_a_small_problem(alpha, intercept):
    problem = data(intercept=intercept, alpha=alpha, k=3)
    best = min(exact_fit(problem, np.array(s)).objective for s in combinations(range(9), 3))
    found = GreedyExchange().solve(problem).solution.path.features
    assert exact_fit(problem, found).objective == pytest.approx(best)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_a_path_serves_every_size(alpha):
    problem = data(1, n=50, d=60, alpha=alpha, k=8)
    path = GreedyExchange().solve(problem).solution.path
    assert [len(set(support)) for support in path.supports] == list(range(9))
    assert (np.diff(path.objective) < 1e-6).all()
    for support, objective in zip(path.supports, path.objective, strict=True):
        exact = exact_fit(problem, support)
        assert exact.converged
        assert exact.objective <= objective <= 1.01 * exact.objective


def test_only_eligible_features_enter():
    problem = data(2, d=20, alpha=0.5, k=5, eligible=np.arange(20) >= 2)
    found = GreedyExchange().solve(problem)
    assert found.n_iter == len(found.solution.path) == 5
    assert min(found.solution.path.features) >= 2
    assert found.solution.correlations.shape == (20,)


def test_improving_never_raises_the_objective():
    problem = data(3, n=40, d=50, alpha=0.3)
    poor = exact_fit(problem, np.arange(40, 46))
    path = SupportPath(Path.from_order(np.arange(40, 46)), np.zeros(50))
    better = GreedyExchange().solve(problem, Result(path, poor.objective, 0.0, 1, True))
    assert better.objective < poor.objective
    assert len(better.solution.path.features) == 6
