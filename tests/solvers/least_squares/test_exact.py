"""The exact search against exhaustive search."""

import time
from itertools import combinations

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.solvers.least_squares.best_subsets import (
    TooManySupports,
    best_subsets,
    every_support,
)
from sparsieve.solvers.least_squares.exact import best_support


def problem(seed):
    rng = np.random.default_rng(seed)
    d, n, c = int(rng.integers(4, 13)), int(rng.integers(8, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)))
    Y = X[:, :3] @ rng.standard_normal((3, c)) + rng.standard_normal((n, c))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), float(n * rng.choice([0.01, 0.1, 1.0]))


def exhaustive(X, Y, k, ridge):
    def value(support):
        S = X[:, list(support)]
        system = S.T @ S + ridge * np.eye(k)
        solved = np.linalg.lstsq(system, S.T @ Y, rcond=None)[0]
        return float((Y**2).sum() - (S.T @ Y * solved).sum())

    return min(value(s) for s in combinations(range(X.shape[1]), k))


@pytest.mark.parametrize("seed", range(25))
def test_every_size_equals_exhaustive_search(seed):
    X, Y, ridge = problem(seed)
    d = X.shape[1]
    # Deliberately poor starts: the search has to find the best itself.
    starts = [np.arange(d)[::-1][:k] for k in range(d + 1)]
    found = best_subsets(as_design(X), Y, ridge, starts, tol=1e-9, time_limit=60.0)
    for k in range(1, d + 1):
        expected = exhaustive(X, Y, k, ridge)
        assert found.solution.objective[k] == pytest.approx(expected, rel=1e-8)
        assert found.solution.optimality[k] <= 1e-9
        assert len(found.solution.supports[k]) == k


@pytest.mark.parametrize("seed", range(5))
def test_without_a_ridge_every_support_is_tried(seed):
    X, Y, _ = problem(seed)
    X = np.column_stack([X, X[:, 0]])  # a copy: least squares is singular with both
    for k in (1, 2, 3):
        found = every_support(as_design(X), Y, k)
        assert found.objective == pytest.approx(exhaustive(X, Y, k, 0.0), rel=1e-8, abs=1e-8)


def test_too_many_supports_without_a_ridge_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 200))
    with pytest.raises(TooManySupports, match="give a ridge"):
        every_support(as_design(X), X[:, :1], 10)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_size_for_a_price(seed):
    X, Y, ridge = problem(seed)
    d = X.shape[1]
    starts = [np.arange(k) for k in range(d + 1)]
    values = [0.5 * (Y**2).sum()] + [0.5 * exhaustive(X, Y, k, ridge) for k in range(1, d + 1)]
    for price in (0.01 * values[0], 0.1 * values[0]):
        path = best_subsets(
            as_design(X), Y, ridge, starts, price=price, tol=1e-9, time_limit=60.0
        ).solution
        totals = 0.5 * path.objective + price * np.arange(d + 1)
        expected = np.array(values) + price * np.arange(d + 1)
        assert totals.min() == pytest.approx(expected.min(), rel=1e-8)


def hard():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 120))
    Y = rng.standard_normal((60, 1))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def test_a_time_limit_leaves_the_best_found_and_its_gap():
    X, Y = hard()
    begun = time.monotonic()
    found = best_support(as_design(X), Y, 5.0, 12, np.arange(12), time_limit=0.5)
    assert time.monotonic() - begun < 5.0
    assert not found.converged
    assert 0.0 < found.optimality < 1.0
    assert found.solution.bound < found.objective


def test_a_callback_sees_gap_and_nodes_and_can_stop():
    X, Y = hard()
    events = []

    def watch(event):
        events.append(event)
        return len(events) >= 10

    found = best_support(as_design(X), Y, 5.0, 8, np.arange(8), callback=watch)
    assert len(events) == 10
    assert not found.converged
    objectives = [event.objective for event in events]
    assert objectives == sorted(objectives, reverse=True)
    assert all(0.0 <= event.optimality <= 1.0 for event in events)


def test_an_interrupt_carries_the_best_so_far():
    X, Y = hard()

    def interrupt(event):
        if event.n_iter > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        best_subsets(
            as_design(X),
            Y,
            5.0,
            [np.arange(k) for k in range(9)],
            tol=1e-9,
            time_limit=60.0,
            callback=interrupt,
        )
    path = caught.value.best.solution
    assert [len(support) for support in path.supports] == list(range(9))
