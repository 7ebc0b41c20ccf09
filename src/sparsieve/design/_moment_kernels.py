"""Compiled statistics of the columns of a large dense array, at the speed of memory.

Every function is one flat loop over rows or columns, called once for a strip of columns whose sums
stay in the cache: what happens between the calls is NumPy's, and each compiles in a fraction of a
second. Unsigned indices, which cannot count from the end, let the compiler vectorise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numba import VIEWS, compiled

_in_order: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "nsz"},
    "error_model": "numpy",
    **VIEWS,
}


# One sweep: sums of deviations, and of their squares, from one row of every group. That row may be
# an outlier and still serve: no square of a deviation from the mean of n rows exceeds n times
# their variance, so that going over to the mean afterwards costs at most log10(n) of sixteen
# digits (weighted, the share of the row counts: the heaviest is taken). The compiler must not
# reorder sums here: it would subtract the row from a sum instead of from every value.


@compiled(**_in_order)
def add_deviations(X, order, begin, end, first, last, row, sums, squares):
    """Add to the sums of columns first to last what rows order[begin:end] deviate from ``row``.

    X has contiguous rows, and a multiple of four is added.
    """
    for i in range(begin, end, 4):
        x0, x1, x2, x3 = X[order[i]], X[order[i + 1]], X[order[i + 2]], X[order[i + 3]]
        for j in range(np.uintp(first), np.uintp(last)):
            r = row[j]
            a, b, c, d = x0[j] - r, x1[j] - r, x2[j] - r, x3[j] - r
            sums[j] += (a + b) + (c + d)
            squares[j] = a * a + (b * b + (c * c + (d * d + squares[j])))


@compiled(**_in_order)
def deviations_by_column(X, order, begin, end, first, last, row, sums, squares):
    """Set those of X with contiguous columns."""
    for j in range(first, last):
        x, r = X[:, j], row[j]
        # Four sums each: one addition need not wait for the one before.
        s0 = s1 = s2 = s3 = q0 = q1 = q2 = q3 = 0.0
        for i in range(np.uintp(begin), np.uintp(end), np.uintp(4)):
            i0, i1 = np.uintp(order[i]), np.uintp(order[i + 1])
            i2, i3 = np.uintp(order[i + 2]), np.uintp(order[i + 3])
            a, b, c, d = x[i0] - r, x[i1] - r, x[i2] - r, x[i3] - r
            s0, s1, s2, s3 = s0 + a, s1 + b, s2 + c, s3 + d
            q0, q1, q2, q3 = q0 + a * a, q1 + b * b, q2 + c * c, q3 + d * d
        sums[j], squares[j] = (s0 + s1) + (s2 + s3), (q0 + q1) + (q2 + q3)


@compiled(**_in_order)
def add_clipped_deviations(
    X, low, high, weights, order, begin, end, first, last, row, sums, squares
):
    """The same of clipped columns, with weights of the rows."""
    for i in range(begin, end, 4):
        i0, i1, i2, i3 = order[i], order[i + 1], order[i + 2], order[i + 3]
        x0, x1, x2, x3 = X[i0], X[i1], X[i2], X[i3]
        u0, u1, u2, u3 = weights[i0], weights[i1], weights[i2], weights[i3]
        for j in range(np.uintp(first), np.uintp(last)):
            lo, hi, r = low[j], high[j], row[j]
            a, b, c, d = x0[j], x1[j], x2[j], x3[j]
            a = lo if a < lo else a
            b = lo if b < lo else b
            c = lo if c < lo else c
            d = lo if d < lo else d
            a = hi if a > hi else a
            b = hi if b > hi else b
            c = hi if c > hi else c
            d = hi if d > hi else d
            e, f, g, h = a - r, b - r, c - r, d - r
            sums[j] += (u0 * e + u1 * f) + (u2 * g + u3 * h)
            squares[j] += (u0 * (e * e) + u1 * (f * f)) + (u2 * (g * g) + u3 * (h * h))


@compiled(**_in_order)
def clipped_deviations_by_column(
    X, low, high, weights, order, begin, end, first, last, row, sums, squares
):
    """Set those of X with contiguous columns, for a multiple of two rows."""
    for j in range(first, last):
        x, lo, hi, r = X[:, j], low[j], high[j], row[j]
        # Two sums each: one addition need not wait for the one before.
        s0 = s1 = q0 = q1 = 0.0
        for i in range(begin, end, 2):
            a, b = order[i], order[i + 1]
            u, v = weights[a], weights[b]
            c, d = x[a], x[b]
            c = lo if c < lo else c
            d = lo if d < lo else d
            c = hi if c > hi else c
            d = hi if d > hi else d
            e, f = c - r, d - r
            s0 += u * e
            s1 += v * f
            q0 += u * (e * e)
            q1 += v * (f * f)
        sums[j], squares[j] = s0 + s1, q0 + q1


@compiled(**_in_order)
def standard_rows(X, begin, first, low, high, centre, factor, out):
    """(clip(X) - centre) * factor of X with contiguous rows, from these rows and columns on.

    In the first columns of ``out``, as many as there are bounds.
    """
    for i in range(len(out)):
        x, row = X[begin + i], out[i]
        for j in range(np.uintp(len(low))):
            a, lo, hi = x[np.uintp(first) + j], low[j], high[j]
            a = lo if a < lo else a
            a = hi if a > hi else a
            row[j] = (a - centre[j]) * factor[j]
