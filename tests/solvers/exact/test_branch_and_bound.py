"""The exact search against exhaustive search."""

from itertools import combinations

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.solvers.exact import branch_and_bound as exact
from sparsieve.solvers.exact.best_subsets import BestSubsetSearch
from sparsieve.solvers.exact.bounds import BoundSearch
from sparsieve.solvers.exact.branch_and_bound import TooManySupports, Tree


def best_support(X, Y, ridge, k, start, **options):
    return Tree(BoundSearch(as_design(X), Y, ridge), k, start, **options).run()


def problem(seed):
    rng = np.random.default_rng(seed)
    d, n, c = int(rng.integers(4, 11)), int(rng.integers(8, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)))
    Y = X[:, :3] @ rng.standard_normal((3, c)) + rng.standard_normal((n, c))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), float(n * rng.choice([0.01, 0.1, 1.0]))


def exhaustive(X, Y, k, ridge):
    """The least objective of k features; residuals, not normal equations."""

    def value(support):
        A = np.vstack([X[:, list(support)], np.sqrt(ridge) * np.eye(k)])
        B = np.vstack([Y, np.zeros((k, Y.shape[1]))])
        return float(((B - A @ np.linalg.lstsq(A, B, rcond=None)[0]) ** 2).sum())

    return min(value(s) for s in combinations(range(X.shape[1]), k))


WAYS = {  # all of them at once, leaps and bounds down to single supports, the relaxation
    "as usual": {},
    "leaps": {"MAX_ENUMERATED": 0, "WEAK_BOUND_SHARE": np.inf, "MAX_LEAVES": 1},
    "relaxation": {"MAX_ENUMERATED": 0, "WEAK_BOUND_SHARE": 0.0, "LEAPS_MAX_FEATURES": 0},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(exact, name, value)
    return request.param


@pytest.mark.thinned(6)
@pytest.mark.parametrize("seed", range(12))
def test_every_size_equals_exhaustive_search(seed, way):
    X, Y, ridge = problem(seed)
    d = X.shape[1]
    # Deliberately poor starts: the search has to find the best itself.
    starts = [np.arange(d)[::-1][:k] for k in range(d + 1)]
    search = BoundSearch(as_design(X), Y, ridge)
    path = BestSubsetSearch(starts).solve(search).solution.path
    for k in range(1, d + 1):
        assert path.objective[k] == pytest.approx(exhaustive(X, Y, k, ridge), rel=1e-10)
        assert path.optimality[k] == 0.0
        assert len(path.supports[k]) == k


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("way", ["as usual", "leaps"], indirect=True)
def test_without_a_ridge(seed, way):
    X, Y, _ = problem(seed)
    X = np.column_stack([X, X[:, 0]])  # a copy: with it there are ties
    for k in (1, 2, 3):
        found = best_support(X, Y, 0.0, k, np.arange(k))
        expected = exhaustive(X, Y, k, 0.0)
        assert found.objective == pytest.approx(expected, rel=1e-10, abs=1e-20)
        if k == 1:  # with more, nobody knows here whether the copy is exact
            assert found.optimality <= 1e-9


def test_leaps_and_bounds_prove_what_nobody_would_try_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 40))
    Y = X[:, :6].sum(axis=1, keepdims=True) + rng.standard_normal((200, 1))
    start = np.r_[np.arange(5), 39]
    found = best_support(X, Y, 0.0, 6, start)
    assert found.optimality == 0.0
    assert found.solution.support.tolist() == list(range(6))
    assert found.n_iter < 10_000  # of 3.8 million supports


def test_too_many_supports_without_a_ridge_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 200))
    with pytest.raises(TooManySupports, match="use a ridge"):
        best_support(X, X[:, :1], 0.0, 10, np.arange(10))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_size_for_a_price(seed):
    X, Y, ridge = problem(seed)
    d = X.shape[1]
    starts = [np.arange(k) for k in range(d + 1)]
    values = [0.5 * (Y**2).sum()] + [0.5 * exhaustive(X, Y, k, ridge) for k in range(1, d + 1)]
    for price in (0.01 * values[0], 0.1 * values[0]):
        search = BoundSearch(as_design(X), Y, ridge, prices=2.0 * price)
        found = BestSubsetSearch(starts, any_size=True).solve(search).solution
        totals = 0.5 * found.path.objective + price * np.arange(d + 1)
        expected = np.array(values) + price * np.arange(d + 1)
        assert totals.min() == pytest.approx(expected.min(), rel=1e-10)
        for size, total in enumerate(totals):
            gap, finished = found.gap(size, any_size=True)
            assert total * (1.0 - gap) <= expected.min() * (1 + 1e-10)
            assert (gap == 0.0) == (size == np.argmin(expected))
            assert finished or gap > 0.0


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_one_price_for_all_is_that_price_for_every_group(ridge):
    """Whether it stays beside values or is part of them: sets cost the same in all."""
    X, Y, _ = problem(2)
    d, price = X.shape[1], 0.2 * float((Y**2).sum()) / 4
    starts = [np.arange(k) for k in range(d + 1)]
    single = [np.array([j]) for j in range(d)]
    searches = [
        BoundSearch(as_design(X), Y, ridge, prices=price),
        BoundSearch(as_design(X), Y, ridge, groups=single, prices=np.full(d, price)),
    ]
    found = [BestSubsetSearch(starts, any_size=True).solve(search).solution for search in searches]
    totals = [one.path.objective + one.beside for one in found]
    best = [int(np.argmin(total)) for total in totals]
    assert best[0] == best[1]
    assert totals[0][best[0]] == pytest.approx(totals[1][best[1]], rel=1e-12)
    np.testing.assert_allclose(searches[0].cheapest(), searches[1].cheapest(), rtol=1e-12)
    for search, one in zip(searches, found, strict=True):
        fits = [
            float(search.value(support).value[0]) - search.inside(support)
            for support in one.path.supports
        ]
        paid = one.beside + [search.inside(support) for support in one.path.supports]
        np.testing.assert_allclose(paid, price * np.arange(d + 1), rtol=1e-12)
        np.testing.assert_allclose(one.path.objective + one.beside, fits + paid, rtol=1e-12)
        assert one.gap(best[0], any_size=True)[0] == 0.0


def hard():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 120))
    Y = rng.standard_normal((60, 1))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def test_a_time_limit_leaves_the_best_found_and_its_gap(clock):
    X, Y = hard()
    found = best_support(X, Y, 5.0, 12, np.arange(12), time_limit=20)
    assert clock.seconds <= 23  # it ended at the first look beyond the limit
    assert not found.converged
    assert 0.0 < found.optimality < 1.0
    assert found.solution.bound < found.solution.low
    assert not found.solution.finished


def test_a_callback_sees_gap_and_nodes_and_can_stop():
    X, Y = hard()
    events = []

    def watch(event):
        events.append(event)
        return len(events) >= 10

    found = best_support(X, Y, 5.0, 8, np.arange(8), callback=watch)
    assert len(events) == 10
    assert not found.converged
    objectives = [event.objective for event in events]
    assert objectives == sorted(objectives, reverse=True)
    assert all(0.0 <= event.optimality <= 1.0 for event in events)


def test_the_best_so_far_is_known_after_an_interrupt():
    X, Y = hard()

    def interrupt(event):
        if event.n_iter > 5:
            raise KeyboardInterrupt

    solver = BestSubsetSearch([np.arange(k) for k in range(9)])
    with pytest.raises(KeyboardInterrupt):
        solver.solve(BoundSearch(as_design(X), Y, 5.0), callback=interrupt)
    path = solver.best.solution.path
    assert [len(support) for support in path.supports] == list(range(9))
