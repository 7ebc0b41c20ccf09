"""The bounds of stability selection against linear programs and a plain optimiser."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from sparsieve.meta.halves import r_concave_bound, r_concave_tail, unimodal_bound, worst_case_bound


def largest_unimodal_tail(mean, count, n):
    """Maximise P(X >= count/n) over unimodal X on 0, 1/n, ..., 1 with at most this mean."""
    best = 0.0
    for mode in range(n + 1):
        rising = [np.eye(n + 1)[i] - np.eye(n + 1)[i + 1] for i in range(mode)]
        falling = [np.eye(n + 1)[i + 1] - np.eye(n + 1)[i] for i in range(mode, n)]
        constraints = np.array([*rising, *falling, np.arange(n + 1) / n])
        found = linprog(
            -(np.arange(n + 1) >= count).astype(float),
            A_ub=constraints,
            b_ub=np.append(np.zeros(n), mean),
            A_eq=np.ones((1, n + 1)),
            b_eq=[1.0],
        )
        if found.status == 0:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("theta", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("threshold", [0.7, 0.75, 0.8, 1.0])
def test_unimodal_bound_is_the_linear_program(theta, threshold):
    n_pairs, p = 10, 1000
    q = round(theta * p)
    exact = largest_unimodal_tail(theta**2, round((2 * threshold - 1) * n_pairs), n_pairs)
    np.testing.assert_allclose(unimodal_bound(q, p, threshold, n_pairs), p * exact, rtol=1e-6)


def largest_r_concave_tail(mean, count, n, r, rng):
    """The same over r-concave X by a general optimiser from random starts."""

    def g(x):  # f^r: starts at 1, slopes rise by exp(x)
        slopes = x[0] + np.append(0.0, np.cumsum(np.exp(np.clip(x[1:], -30, 30))))
        return np.append(1.0, 1.0 + np.cumsum(slopes))

    def f(x):
        weights = np.maximum(g(x), 1e-6) ** (1 / r)
        return weights / weights.sum()

    constraints = [
        {"type": "ineq", "fun": lambda x: mean * n - f(x) @ np.arange(n + 1)},
        {"type": "ineq", "fun": lambda x: g(x) - 1e-4},
    ]
    best = 0.0
    for _ in range(25):
        start = np.append(rng.normal(), rng.normal(-2, 3, size=n - 1))
        found = minimize(
            lambda x: -f(x)[count:].sum(), start, constraints=constraints, method="SLSQP"
        )
        if all((c["fun"](found.x) > -1e-7).all() for c in constraints):
            best = max(best, -found.fun)
    return best


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("n", "mean", "count", "r"),
    [(5, 0.1, 3, -1 / 2), (6, 0.05, 3, -1 / 2), (6, 0.15, 4, -1 / 4), (8, 0.1, 4, -1 / 4)],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.long("a linear program for every case")
def test_r_concave_tail_is_what_an_optimiser_finds(n, mean, count, r, rng):
    found = largest_r_concave_tail(mean, count, n, r, rng)
    ours = r_concave_tail(mean, count, n, r)
    assert found <= ours + 1e-6
    assert found >= 0.999 * ours


def test_more_assumptions_give_smaller_bounds():
    for q, p, threshold in [(5, 100, 0.6), (20, 1000, 0.75), (50, 7129, 0.9), (30, 100, 0.8)]:
        bounds = [
            f(q, p, threshold, 50) for f in (r_concave_bound, unimodal_bound, worst_case_bound)
        ]
        assert bounds == sorted(bounds)
        assert bounds[0] > 0


def test_large_shares_fall_back_to_the_bound_without_assumptions():
    assert unimodal_bound(70, 100, 0.9, 50) == worst_case_bound(70, 100, 0.9, 50)
    assert unimodal_bound(20, 100, 0.51, 50) == worst_case_bound(20, 100, 0.51, 50)
    assert r_concave_tail(0.9, 10, 10, -0.5) == 1.0
    assert r_concave_tail(0.1, 11, 10, -0.5) == 0.0
