"""The fewest features that reach a level, against all supports solved by a conic solver."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpm_reference import mpm, random_problem
from sparsieve.design import as_design
from sparsieve.papers.l0_mpm.solvers.l0_mpm import BestSubset, TooManyFeatures, _Search
from sparsieve.papers.l0_mpm.solvers.moments import SampleGroup, TwoClassMoments
from sparsieve.papers.l0_mpm.solvers.mpm import MPM
from sparsieve.papers.l0_mpm.solvers.problem import Minimax, worst_case_accuracy


def moments_of(X, y, ridge=0.0):
    groups = [SampleGroup.from_rows(np.flatnonzero(y == label)) for label in (1, 0)]
    return TwoClassMoments(as_design(X), *groups, ridge)


def solve_mpm(moments):
    return MPM().solve(Minimax(moments))


def fewest_features(moments, level, free=(), **settings):
    costs = np.ones(moments.n_features)
    costs[list(free)] = 0.0
    return BestSubset(**settings).solve(Minimax(moments, costs, level))


def exhaustive(X, y, level, ridge, free=()):
    """Least number of features beside the free ones, each support a cone program."""
    others = [j for j in range(X.shape[1]) if j not in free]
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            support = [*free, *chosen]
            if support and worst_case_accuracy(1.0 / mpm(X[:, support], y, ridge)) >= level * (
                1 - 1e-7
            ):
                return size
    raise AssertionError("the level is out of reach")


@pytest.mark.thinned(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.6, 0.9, 0.99])
def test_as_few_as_exhaustive_search_finds(seed, share):
    X, y = random_problem(seed, 60, 6)
    X = X @ (np.eye(6) + 0.4 * np.random.default_rng(seed).normal(size=(6, 6)))
    ridge = [0.0, 0.3][seed % 2]
    free = np.array([[], [4]][seed // 3], dtype=np.int64)
    moments = moments_of(X, y, ridge)
    level = share * solve_mpm(moments).solution.accuracy
    found = fewest_features(moments, level, free)
    assert found.converged
    assert found.objective == exhaustive(X, y, level, ridge, tuple(free))
    assert found.solution.bound == found.objective
    assert len(found.solution.support) == found.objective + len(free)
    support = found.solution.support
    assert worst_case_accuracy(1.0 / mpm(X[:, support], y, ridge)) >= level * (1 - 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_no_support_is_above_the_bound_of_the_piece_that_holds_its_t(seed, one, other):
    X, y = random_problem(seed, 40, 5)
    moments = moments_of(X, y)
    search = _Search(Minimax(moments, np.ones(5), 0.5), 60.0, None)
    ends = sorted([0.0, 1.0, *(t for t in (one, other) if 0.01 < t < 0.99)])
    rng = np.random.default_rng(seed)
    support = np.flatnonzero(rng.random(5) < 0.6)
    if len(support) == 0 or len(set(ends)) != len(ends):
        return
    accuracy = solve_mpm(moments.restrict(support)).solution.accuracy
    powers = []
    for low, high in pairwise(ends):
        M = (search.spread[0] / high + search.spread[1] / (1.0 - low))[np.ix_(support, support)]
        d = moments.difference[support]
        powers.append(float(d @ np.linalg.solve(M, d)))
    assert accuracy / (1.0 - accuracy) <= max(powers) * (1 + 1e-9)


def test_equal_columns_are_counted_once():
    X, y = random_problem(3, 80, 4)
    moments = moments_of(np.column_stack([X, X]), y, 1e-9)
    level = 0.95 * solve_mpm(moments_of(X, y)).solution.accuracy
    found = fewest_features(moments, level)
    assert found.objective == exhaustive(X, y, level, 0.0)


def test_features_that_determine_each_other_are_searched_without_bounds():
    X, y = random_problem(4, 80, 4)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(80)])
    moments = moments_of(X, y)
    level = 0.9 * solve_mpm(moments).solution.accuracy
    found = fewest_features(moments, level)
    assert found.converged
    assert found.objective == exhaustive(X[:, :5], y, level, 0.0)


def test_a_time_limit_leaves_a_bound_on_the_size(clock):
    X, y = random_problem(5, 400, 28, shift=0.25)
    moments = moments_of(X, y)
    level = 0.95 * solve_mpm(moments).solution.accuracy
    found = fewest_features(moments, level, time_limit=2000)
    assert clock.seconds <= 2003  # it ended at the first look beyond the limit
    assert not found.converged
    assert 0 < found.solution.bound < found.objective
    assert found.optimality == (found.objective - found.solution.bound) / found.objective


def test_more_features_are_refused():
    X, y = random_problem(0, 60, 31)
    with pytest.raises(TooManyFeatures, match="up to 30 features, but X has 31"):
        fewest_features(moments_of(X, y), 0.1, time_limit=1.0)
