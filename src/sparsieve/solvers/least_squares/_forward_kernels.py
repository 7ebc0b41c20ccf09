"""Compiled bookkeeping of a step of forward selection on very many features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiled import compiled

STRIP = 4096  # features whose sums stay in the first-level cache

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc"},
    "error_model": "numpy",
}


@compiled(**_options)
def winner(squares, residual, ridge, open_, score):
    """Set every feature's score, what it would gain, and find the best."""
    best = 0
    for j in range(len(score)):
        gain = squares[j] / (residual[j] + ridge)
        keep = open_[j] and gain > 0
        score[j] = gain if keep else 0
    for j in range(len(score)):
        if score[j] > score[best]:
            best = j
    return best


@compiled(**_options)
def advance(p, r, C, squares, residual):
    """Take a direction with products p and responses r out of all features."""
    power = 0.0
    for k in range(len(r)):
        power += r[k] * r[k]
    for first in range(0, len(p), STRIP):
        last = min(first + STRIP, len(p))
        _take_out(p[first:last], r, power, C, squares, residual, first)


@compiled(**_options)
def advance_along(X, v, r, C, squares, residual):
    """The same for the direction v and an X with contiguous rows: p = X'v is never stored whole.

    Eight rows at a time are added to the sums, which runs at the speed of memory; the product of
    BLAS takes half as long again.
    """
    power = 0.0
    for k in range(len(r)):
        power += r[k] * r[k]
    n_samples, n_features = X.shape
    sums = np.empty(min(STRIP, n_features), X.dtype)
    for first in range(0, n_features, STRIP):
        last = min(first + STRIP, n_features)
        p = sums[: last - first]
        p[:] = 0
        i = 0
        while i + 8 <= n_samples:
            _add_eight(
                X[i, first:last],  # one by one, so that the compiler knows that they are contiguous
                X[i + 1, first:last],
                X[i + 2, first:last],
                X[i + 3, first:last],
                X[i + 4, first:last],
                X[i + 5, first:last],
                X[i + 6, first:last],
                X[i + 7, first:last],
                v[i : i + 8],
                p,
            )
            i += 8
        while i < n_samples:
            row, weight = X[i, first:last], v[i]
            for j in range(last - first):
                p[j] += weight * row[j]
            i += 1
        _take_out(p, r, power, C, squares, residual, first)


@compiled(**_options)
def _add_eight(x0, x1, x2, x3, x4, x5, x6, x7, v, total):
    v0, v1, v2, v3, v4, v5, v6, v7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
    for j in range(len(total)):
        front = (v0 * x0[j] + v1 * x1[j]) + (v2 * x2[j] + v3 * x3[j])
        back = (v4 * x4[j] + v5 * x5[j]) + (v6 * x6[j] + v7 * x7[j])
        total[j] += front + back


@compiled(**_options)
def _take_out(p, r, power, C, squares, residual, first):
    last = first + len(p)
    seen = np.zeros(len(p), C.dtype)
    for k in range(len(r)):
        column, response = C[first:last, k], r[k]
        for j in range(len(p)):
            seen[j] += column[j] * response
            column[j] -= p[j] * response
    square, rest = squares[first:last], residual[first:last]
    for j in range(len(p)):
        square[j] += p[j] * (p[j] * C.dtype.type(power) - 2 * seen[j])
        rest[j] -= p[j] * p[j]
