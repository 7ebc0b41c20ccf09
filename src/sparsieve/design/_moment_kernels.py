"""Compiled statistics of the columns of a large dense array, at the speed of memory.

Rows are contiguous: strips of columns stay in the cache while rows are added to their sums four
at a time. Columns are contiguous: every column is one sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numba import compiled

STRIP = 8192  # columns whose sums in double precision stay in the cache
WIDE_STRIP = 16384  # columns of which one number each stays there

_in_order: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "nsz"},
    "error_model": "numpy",
}


# One sweep: sums of deviations, and of their squares, from one row of every group. That row may be
# an outlier and still serve: no square of a deviation from the mean of n rows exceeds n times
# their variance, so that going over to the mean afterwards costs at most log10(n) of sixteen
# digits (weighted, the share of the row counts: the heaviest is taken). The compiler must not
# reorder sums here: it would subtract the row from a sum instead of from every value.


@compiled(**_in_order)
def clear(x):
    """Set all to zero; a slice set to zero takes numba a second to compile."""
    for j in range(len(x)):
        x[j] = 0


@compiled(**_in_order)
def _copy(x, out):
    for j in range(len(x)):
        out[j] = x[j]


@compiled(**_in_order)
def _copy_clipped(x, low, high, out):
    for j in range(len(x)):
        out[j] = min(max(x[j], low[j]), high[j])


@compiled(**_in_order)
def _deviate_one(x, row, sums, squares):
    for j in range(len(sums)):
        a = x[j] - row[j]
        sums[j] += a
        squares[j] += a * a


@compiled(**_in_order)
def _deviate_four(x0, x1, x2, x3, row, sums, squares):
    for j in range(len(sums)):
        r = row[j]
        a, b, c, d = x0[j] - r, x1[j] - r, x2[j] - r, x3[j] - r
        sums[j] += (a + b) + (c + d)
        squares[j] = a * a + (b * b + (c * c + (d * d + squares[j])))


@compiled(**_in_order)
def _deviate_clipped(x0, x1, x2, x3, low, high, u0, u1, u2, u3, row, sums, squares):
    for j in range(len(sums)):
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
def _settle(row, size, means, squares):
    """From sums of deviations to means, and to squares around them."""
    for j in range(len(means)):
        drift = means[j] / size
        rest = squares[j] - means[j] * drift
        squares[j] = 0.0 if rest < 0.0 else rest
        means[j] = row[j] + drift


@compiled(**_in_order)
def moments_by_row(X, groups, start, stop, means, squares):
    """Means and sums of squared deviations by group of rows, for X with contiguous rows."""
    order, bounds, leaders, sizes = groups
    base = np.empty(STRIP, np.float64)
    for first in range(start, stop, STRIP):
        last = min(first + STRIP, stop)
        row = base[: last - first]
        for g in range(len(sizes)):
            total, square = means[g, first:last], squares[g, first:last]
            clear(total)
            clear(square)
            if sizes[g] == 0.0:
                continue
            _copy(X[leaders[g], first:last], row)
            i, end = bounds[g], bounds[g + 1]
            while i < end:
                a = order[i] if len(order) else i
                if i + 4 > end:
                    _deviate_one(X[a, first:last], row, total, square)
                    i += 1
                    continue
                b, c, d = i + 1, i + 2, i + 3
                if len(order):
                    b, c, d = order[b], order[c], order[d]
                x0, x1, x2, x3 = (
                    X[a, first:last],
                    X[b, first:last],
                    X[c, first:last],
                    X[d, first:last],
                )
                _deviate_four(x0, x1, x2, x3, row, total, square)
                i += 4
            _settle(row, sizes[g], total, square)


@compiled(**_in_order)
def clipped_moments_by_row(X, low, high, weights, groups, start, stop, means, squares):
    """The same of clipped columns, with weights of the rows."""
    order, bounds, leaders, sizes = groups
    base = np.empty(STRIP, np.float64)
    for first in range(start, stop, STRIP):
        last = min(first + STRIP, stop)
        row, lo, hi = base[: last - first], low[first:last], high[first:last]
        for g in range(len(sizes)):
            total, square = means[g, first:last], squares[g, first:last]
            clear(total)
            clear(square)
            if sizes[g] == 0.0:
                continue
            _copy_clipped(X[leaders[g], first:last], lo, hi, row)
            i, end = bounds[g], bounds[g + 1]
            while i < end:
                # The last row stands in for missing ones with no weight.
                b, c, d = min(i + 1, end - 1), min(i + 2, end - 1), min(i + 3, end - 1)
                a = i
                if len(order):
                    a, b, c, d = order[a], order[b], order[c], order[d]
                u0 = weights[a]
                u1 = weights[b] if i + 1 < end else 0.0
                u2 = weights[c] if i + 2 < end else 0.0
                u3 = weights[d] if i + 3 < end else 0.0
                x0, x1, x2, x3 = (
                    X[a, first:last],
                    X[b, first:last],
                    X[c, first:last],
                    X[d, first:last],
                )
                _deviate_clipped(x0, x1, x2, x3, lo, hi, u0, u1, u2, u3, row, total, square)
                i += 4
            _settle(row, sizes[g], total, square)


@compiled(**_in_order)
def clipped_moments_by_column(X, low, high, weights, groups, start, stop, means, squares):
    """The same for X with contiguous columns."""
    order, bounds, leaders, sizes = groups
    for j in range(start, stop):
        x, lo, hi = X[:, j], low[j], high[j]
        for g in range(len(sizes)):
            row = 0.0
            if sizes[g]:
                row += min(max(x[leaders[g]], lo), hi)
            # Two sums each: one addition need not wait for the one before.
            s0 = s1 = q0 = q1 = 0.0
            end = bounds[g + 1]
            for i in range(bounds[g], end, 2):
                k = min(i + 1, end - 1)
                a, b = (order[i], order[k]) if len(order) else (i, k)
                u, v = weights[a], weights[b] if k > i else 0.0
                c, d = x[a], x[b]
                c = lo if c < lo else c
                d = lo if d < lo else d
                c = hi if c > hi else c
                d = hi if d > hi else d
                e, f = c - row, d - row
                s0 += u * e
                s1 += v * f
                q0 += u * (e * e)
                q1 += v * (f * f)
            means[g, j], squares[g, j] = s0 + s1, q0 + q1
            if sizes[g]:
                drift = means[g, j] / sizes[g]
                rest = squares[g, j] - means[g, j] * drift
                squares[g, j] = 0.0 if rest < 0.0 else rest
                means[g, j] = row + drift


# -- standard units --------------------------------------------------------------------------------


@compiled(**_in_order)
def _standardise(x, low, high, centre, scale, out):
    for j in range(len(x)):
        a, lo, hi = x[j], low[j], high[j]
        a = lo if a < lo else a
        a = hi if a > hi else a
        out[j] = (a - centre[j]) / scale[j]


@compiled(**_in_order)
def standard_rows(X, low, high, centre, scale, out):
    """(clip(X) - centre) / scale in the first columns of ``out``, for X with contiguous rows."""
    n, d = X.shape
    for i in range(n):
        _standardise(X[i], low, high, centre, scale, out[i, :d])


# -- sizes -----------------------------------------------------------------------------------------


@compiled(**_in_order)
def _largest(bits, sign, most):
    for j in range(len(most)):
        size = bits[j] & ~sign
        most[j] = size if size > most[j] else most[j]


@compiled(**_in_order)
def largest_by_row(bits, sign, start, stop, out):
    """Patterns of the largest absolute values, for the bit patterns of X with contiguous rows.

    As integers the patterns of positive numbers are in the order of the numbers, with infinity
    and then all NaN behind them: one comparison finds both the size of a column and what is no
    number in it.
    """
    clear(out[start:stop])
    for first in range(start, stop, WIDE_STRIP):
        last = min(first + WIDE_STRIP, stop)
        for i in range(bits.shape[0]):
            _largest(bits[i, first:last], sign, out[first:last])
