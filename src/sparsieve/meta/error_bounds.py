"""How many features does stability selection keep by mistake? Bounds of the expected number.

A run on half of the samples keeps q of p features. Call those with a chance of at most
theta = q / p to be kept by one run the unlikely ones: noise is among them unless the selector
prefers it to chance. All bounds are on the expected number of unlikely features whose share of
runs reaches the threshold tau, over B complementary pairs of half-samples (Meinshausen and
Bühlmann 2010; Shah and Samworth 2013).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

# Counts are multiples of 1/B; this keeps rounding from pushing a threshold to the next one.
_ROUNDING = 1e-9


def worst_case_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """q^2 / ((2 tau - 1) p): no assumption at all.

    Examples
    --------
    >>> from sparsieve.meta.error_bounds import worst_case_bound
    >>> worst_case_bound(10, 1000, 0.75, 50)
    0.2
    """
    return q**2 / ((2 * threshold - 1) * p)


def unimodal_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Shah and Samworth's second theorem.

    Assumes that for every unlikely feature the share of pairs in which both halves keep it has
    a unimodal distribution.

    Examples
    --------
    >>> from sparsieve.meta.error_bounds import unimodal_bound
    >>> round(unimodal_bound(10, 1000, 0.75, 50), 4)
    0.102
    """
    theta, step = q / p, 1 / (2 * n_pairs)
    worst = worst_case_bound(q, p, threshold, n_pairs)
    if theta > 1 / np.sqrt(3) or threshold <= min(0.5 + theta**2, 0.5 + step + 0.75 * theta**2):
        return worst
    if threshold <= 0.75:
        left = 2 * threshold - 1 - step
        factor = 1 / (2 * left) if left > 0 else np.inf
    else:
        factor = 4 * (1 - threshold + step) / (1 + 2 * step)
    return float(min(worst, factor * q**2 / p))


def r_concave_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Shah and Samworth's third bound, usually much the smallest.

    Assumes that for every unlikely feature the share of pairs in which both halves keep it is
    -1/2-concave and the share of half-samples that keep it is -1/4-concave.

    Examples
    --------
    >>> from sparsieve.meta.error_bounds import r_concave_bound
    >>> round(r_concave_bound(10, 1000, 0.75, 50), 4)
    0.0239
    """
    theta = q / p
    both = np.ceil((2 * threshold - 1) * n_pairs - _ROUNDING)
    either = np.ceil(2 * threshold * n_pairs - _ROUNDING)
    tail = min(
        r_concave_tail(theta**2, int(both), n_pairs, -1 / 2),
        r_concave_tail(theta, int(either), 2 * n_pairs, -1 / 4),
    )
    return float(min(worst_case_bound(q, p, threshold, n_pairs), p * tail))


BOUNDS = {
    "worst_case": worst_case_bound,
    "unimodal": unimodal_bound,
    "r_concave": r_concave_bound,
}


@lru_cache(maxsize=1024)
def r_concave_tail(mean: float, count: int, n: int, r: float) -> float:
    """Largest P(X >= count / n) of an r-concave X on 0, 1/n, ..., 1 with this mean, r < 0.

    f is r-concave when f^r is convex. The worst f has f^r linear as far as it reaches: it is
    proportional to (a + i)^(1/r) for i <= k, with what is left over at k + 1. The mean ties
    that leftover to a and k, which gives

        P(X >= t) = 1 - (k + 1 - n mean) sum_{i < t} f_i / sum_{i <= k} (k + 1 - i) f_i

    for a between the values at which the leftover is nothing and a full step of the sequence.
    Returns 1 where the uniform distribution on 0, ..., t already has too small a mean.

    Examples
    --------
    >>> from sparsieve.meta.error_bounds import r_concave_tail
    >>> r_concave_tail(0.2, 1, 10, -0.5)
    1.0
    >>> r_concave_tail(0.01, 5, 10, -0.5) < 0.01
    True
    """
    target = mean * n
    first = int(np.ceil(2 * target)) + 1
    if count < first or first > n:
        return 1.0
    if count > n:
        return 0.0
    ends = {k: _log_start(k, target, 1 / r) for k in range(first, n + 1)}

    def tail(log_a, k):
        i = np.arange(k + 1)
        f = np.power(1 + i / np.exp(np.atleast_1d(log_a))[:, None], 1 / r)
        return 1 - (k + 1 - target) * f[:, :count].sum(axis=1) / (f @ (k + 1.0 - i))

    largest = float(tail(ends[n], n)[0])
    for k in range(max(first, count - 1), n):
        grid = np.linspace(ends[k + 1], ends[k], 33)
        top = int(np.argmax(tail(grid, k)))
        around = grid[max(top - 1, 0)], grid[min(top + 1, 32)]
        found = minimize_scalar(
            lambda log_a, k=k: -float(tail(log_a, k)[0]),
            bounds=around,
            method="bounded",
            options={"xatol": 1e-10},
        )
        largest = max(largest, float(tail(grid[top], k)[0]), -float(found.fun))
    return float(np.clip(largest, 0.0, 1.0))


def _log_start(k: int, target: float, power: float) -> float:
    """The log a for which the weights (a + i)^power on 0, ..., k have this mean."""
    i = np.arange(k + 1)

    def excess(log_a):
        f = np.power(1 + i / np.exp(log_a), power)
        return (i @ f) / f.sum() - target

    return float(brentq(excess, -100.0, 40.0, xtol=1e-12))
