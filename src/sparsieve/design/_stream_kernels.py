"""Compiled passes over a large dense array: clipped products and moments at the speed of memory.

Rows are contiguous: strips of columns stay in the cache while rows are added to them four at a
time, so that sums are loaded and stored a quarter as often. Columns are contiguous: every column
is one sum. Values are finite (checked before any fit), so reordering sums is safe. Sums over
many rows are collected in double precision now and then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compiled import compiled

STRIP = 16384  # columns
CHUNK = 1024  # rows between two collections in double precision

_options: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}


@compiled(**_options)
def _add_one(x, low, high, u, total):
    for j in range(len(total)):
        a, lo, hi = x[j], low[j], high[j]
        a = lo if a < lo else a
        a = hi if a > hi else a
        total[j] += u * a


@compiled(**_options)
def _add_four(x0, x1, x2, x3, low, high, u0, u1, u2, u3, total):
    for j in range(len(total)):
        lo, hi = low[j], high[j]
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        a = lo if a < lo else a
        b = lo if b < lo else b
        c = lo if c < lo else c
        d = lo if d < lo else d
        a = hi if a > hi else a
        b = hi if b > hi else b
        c = hi if c > hi else c
        d = hi if d > hi else d
        total[j] += (u0 * a + u1 * b) + (u2 * c + u3 * d)


@compiled(**_options)
def products_by_row(X, low, high, u, start, stop, out):
    """out[start:stop] = clip(X[:, start:stop])' u for X with contiguous rows."""
    n = X.shape[0]
    for first in range(start, stop, STRIP):
        last = min(first + STRIP, stop)
        lo, hi = low[first:last], high[first:last]
        collected = np.zeros(last - first, np.float64)
        for begin in range(0, n, CHUNK):
            end = min(begin + CHUNK, n)
            total = np.zeros(last - first, X.dtype)
            i = begin
            while i + 4 <= end:
                _add_four(
                    X[i, first:last],
                    X[i + 1, first:last],
                    X[i + 2, first:last],
                    X[i + 3, first:last],
                    lo,
                    hi,
                    u[i],
                    u[i + 1],
                    u[i + 2],
                    u[i + 3],
                    total,
                )
                i += 4
            while i < end:
                _add_one(X[i, first:last], lo, hi, u[i], total)
                i += 1
            if n <= CHUNK:
                out[first:last] = total
            else:
                collected += total
        if n > CHUNK:
            out[first:last] = collected


@compiled(**_options)
def products_by_column(X, low, high, u, start, stop, out):
    """The same for X with contiguous columns."""
    n = X.shape[0]
    for j in range(start, stop):
        lo, hi = low[j], high[j]
        collected = 0.0
        for begin in range(0, n, CHUNK):
            total = X.dtype.type(0)
            for i in range(begin, min(begin + CHUNK, n)):
                a = X[i, j]
                a = lo if a < lo else a
                a = hi if a > hi else a
                total += u[i] * a
            collected += total
        out[j] = collected


@compiled(**_options)
def _add_squares(x0, x1, x2, x3, low, high, mean, u0, u1, u2, u3, total):
    for j in range(len(total)):
        lo, hi, m = low[j], high[j], mean[j]
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        a = lo if a < lo else a
        b = lo if b < lo else b
        c = lo if c < lo else c
        d = lo if d < lo else d
        a = hi if a > hi else a
        b = hi if b > hi else b
        c = hi if c > hi else c
        d = hi if d > hi else d
        e, f, g, h = a - m, b - m, c - m, d - m
        total[j] += (u0 * (e * e) + u1 * (f * f)) + (u2 * (g * g) + u3 * (h * h))


@compiled(**_options)
def moments(X, low, high, weights, start, stop, width, means, variances):
    """Weighted means and variances of the clipped columns; ``weights`` sum to one."""
    n = X.shape[0]
    for first in range(start, stop, width):
        last = min(first + width, stop)
        lo, hi = low[first:last], high[first:last]
        mean, square = means[first:last], variances[first:last]
        mean[:] = 0.0
        square[:] = 0.0
        for again in range(2):
            i = 0
            while i < n:
                # The last few rows stand in for missing ones with no weight.
                j, k, m = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
                w0 = weights[i]
                w1 = weights[j] if i + 1 < n else 0.0
                w2 = weights[k] if i + 2 < n else 0.0
                w3 = weights[m] if i + 3 < n else 0.0
                a, b = X[i, first:last], X[j, first:last]
                c, d = X[k, first:last], X[m, first:last]
                if again == 0:
                    _add_four(a, b, c, d, lo, hi, w0, w1, w2, w3, mean)
                else:
                    _add_squares(a, b, c, d, lo, hi, mean, w0, w1, w2, w3, square)
                i += 4
