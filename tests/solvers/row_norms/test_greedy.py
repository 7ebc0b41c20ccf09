"""Supports under an l2,1 loss: growth, exchanges and the stack of all of them."""

from itertools import combinations

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.solvers.row_norms._all_supports import best_supports, can_try_all
from sparsieve.solvers.row_norms.greedy import RobustGreedy
from sparsieve.solvers.row_norms.on_support import exact_fit
from sparsieve.solvers.row_norms.problem import RobustData


def data(seed=0, n=40, d=9, intercept=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((n, 2))
    return RobustData(as_design(X), Y, rng.uniform(0.5, 2.0, n), intercept)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_stack_orders_supports_as_exact_fits_do(alpha, intercept):
    problem = data(intercept=intercept)
    every = np.ones(9, dtype=bool)
    assert can_try_all(problem, 9, 3)
    exact = {s: exact_fit(problem, np.array(s), alpha).objective for s in combinations(range(9), 3)}
    leading = best_supports(problem, alpha, every, 3, 5, steps=20)
    assert min(exact[tuple(support)] for support in leading) == pytest.approx(min(exact.values()))


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_a_path_serves_every_size(alpha):
    problem = data(1, n=50, d=60)
    search = RobustGreedy(problem, alpha, np.ones(60, dtype=bool))
    path, _ = search.path(8)
    assert [len(set(support)) for support in path.supports] == list(range(9))
    assert (np.diff(path.objective) < 1e-6).all()
    for support, objective in zip(path.supports, path.objective, strict=True):
        exact = exact_fit(problem, support, alpha)
        assert exact.converged
        assert exact.objective <= objective <= 1.01 * exact.objective


def test_only_eligible_features_enter():
    problem = data(2, d=20)
    eligible = np.arange(20) >= 2
    path, pulls = RobustGreedy(problem, 0.5, eligible).path(5)
    assert len(path) == 5
    assert min(path.features) >= 2
    assert pulls.shape == (20,)


def test_improving_never_raises_the_objective():
    problem = data(3, n=40, d=50)
    search = RobustGreedy(problem, 0.3, np.ones(50, dtype=bool))
    poor = search.fit(np.arange(40, 46))
    better, _ = search.improve(poor)
    assert better.objective < poor.objective
    assert len(better.features) == 6


def test_all_supports_are_tried_only_where_their_residuals_are_few(rng):
    design = as_design(rng.standard_normal((400, 20)))
    for n_outputs, few in ((1, True), (200, False)):
        data = RobustData(design, rng.standard_normal((400, n_outputs)), np.ones(400), True)
        assert can_try_all(data, 20, 3) is few
