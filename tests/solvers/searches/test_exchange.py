"""Exchanges against exhaustive search, and the bookkeeping of every change of a support."""

import itertools

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.searches import exchange as swaps
from sparsieve.solvers.searches.exchange import ExchangeSearch
from sparsieve.solvers.searches.forward import ForwardSelection


def ridge_objective(X, Y, support, ridge):
    A = np.vstack([X[:, support], np.sqrt(ridge) * np.eye(len(support))])
    B = np.vstack([Y, np.zeros((len(support), Y.shape[1]))])
    residual = B - A @ np.linalg.lstsq(A, B, rcond=None)[0]
    return float((residual**2).sum())


def exhaustive(X, Y, ridge, largest):
    """The best objective of every size up to ``largest``, by enumeration."""
    gram, corr = X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y
    best = [float((Y**2).sum())]
    for k in range(1, largest + 1):
        S = np.array(list(itertools.combinations(range(X.shape[1]), k)))
        W = np.linalg.solve(gram[S[:, :, None], S[:, None, :]], corr[S])
        best.append(best[0] - (corr[S] * W).sum(axis=(1, 2)).max())
    return np.array(best)


def random_problem(rng, number):
    """Independent, mixed, one-factor and low-rank columns; targets of signal and of noise."""
    d, n, c = int(rng.integers(8, 15)), int(rng.integers(12, 40)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d))
    if number % 4 == 1:
        X = X @ (np.eye(d) + 0.9 * rng.standard_normal((d, d)))
    elif number % 4 == 2:
        X += 2 * rng.standard_normal((n, 1))
    elif number % 4 == 3:
        X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.3 * X
    Y = rng.standard_normal((n, c))
    if number % 8 < 4:
        Y += X[:, :4] @ rng.standard_normal((4, c))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), 0.0 if number % 3 else float(n)


def searched(X, Y, ridge, n_steps, **options):
    problem = LeastSquares(as_design(X), Y.astype(X.dtype), ridge=ridge)
    start = ForwardSelection(n_steps).solve(problem)
    better = ExchangeSearch(n_steps, **options).solve(problem, start)
    return start.solution.path, better.solution.path


def share_exact(n_problems, seed):
    rng = np.random.default_rng(seed)
    exact = 0
    for number in range(n_problems):
        X, Y, ridge = random_problem(rng, number)
        _, found = searched(X, Y, ridge, 6)
        exact += bool((found.objective <= (1 + 1e-6) * exhaustive(X, Y, ridge, 6)).all())
    return exact / n_problems


@pytest.mark.slow
def test_exchanges_nearly_always_find_the_exhaustive_optimum():
    assert share_exact(48, seed=0) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_exchanges_find_the_optimum_of_95_percent_of_200_problems(seed):
    assert share_exact(200, seed) >= 0.95


@pytest.mark.parametrize("small", [0, 32])
@pytest.mark.parametrize("ridge", [0.0, 20.0])
def test_reported_objectives_belong_to_the_reported_supports(monkeypatch, small, ridge):
    monkeypatch.setattr(swaps, "MAX_THOROUGH_FEATURES", small)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((25, 5)) @ rng.standard_normal((5, 30)) + rng.standard_normal((25, 30))
    Y = rng.standard_normal((25, 2))
    start, found = searched(X, Y, ridge, 15, n_swaps=5)
    assert (found.objective <= start.objective + 1e-12).all()
    assert (found.objective[3:] < start.objective[3:] - 1e-6).any()
    for k, support in enumerate(found.supports):
        assert len(set(support.tolist())) == k
        assert found.objective[k] == pytest.approx(ridge_objective(X, Y, support, ridge), rel=1e-8)


@pytest.mark.parametrize("small", [0, 32])
@pytest.mark.parametrize("ridge", [0.0, 20.0])
def test_remaining_is_what_each_feature_would_gain_beyond_the_longest(monkeypatch, small, ridge):
    monkeypatch.setattr(swaps, "MAX_THOROUGH_FEATURES", small)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 5)) @ rng.standard_normal((5, 20)) + rng.standard_normal((25, 20))
    Y = rng.standard_normal((25, 2))
    problem = LeastSquares(as_design(X), Y, ridge=ridge)
    start = ForwardSelection(8).solve(problem).solution
    found = ExchangeSearch(8, n_swaps=9).solve(problem).solution
    support = found.path.features
    assert set(support) != set(start.path.features)
    for j in range(20):
        gain = 0.0
        if j not in support:
            gain = found.path.objective[-1] - ridge_objective(X, Y, [*support, j], ridge)
        assert found.remaining[j] == pytest.approx(gain, abs=1e-9)


def test_a_single_exchange_is_optimal_when_all_are_allowed(monkeypatch):
    monkeypatch.setattr(swaps, "MAX_THOROUGH_FEATURES", 0)
    rng = np.random.default_rng(4)
    X, Y = (
        rng.standard_normal((30, 12)) + rng.standard_normal((30, 1)),
        rng.standard_normal((30, 2)),
    )
    _, found = searched(X, Y, 3.0, 5, n_swaps=50)
    for support, value in zip(found.supports[1:], found.objective[1:], strict=True):
        for place in range(len(support)):
            for feature in set(range(12)) - set(support.tolist()):
                other = support.copy()
                other[place] = feature
                assert ridge_objective(X, Y, other, 3.0) >= value * (1 - 1e-9)


def test_duplicates_and_constants_are_never_selected_twice():
    rng = np.random.default_rng(5)
    base = rng.standard_normal((40, 20))
    X = np.hstack([base, base, np.zeros((40, 2))])
    X -= X.mean(axis=0)
    Y = X[:, :3] @ rng.standard_normal((3, 1)) + 0.1 * rng.standard_normal((40, 1))
    _, found = searched(X, Y, 0.0, 42)
    longest = found.supports[-1]
    assert len(longest) <= 20
    assert len(set((longest % 20).tolist())) == len(longest)
    assert longest.max() < 40


def test_single_precision_stays_close_to_double():
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((60, 80)), rng.standard_normal((60, 3))
    _, double = searched(X, Y, 60.0, 10)
    _, single = searched(X.astype(np.float32), Y, 60.0, 10)
    np.testing.assert_allclose(single.objective, double.objective, rtol=1e-3)
