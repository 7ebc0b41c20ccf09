"""Compiled products with a large dense array, clipped or not, at the speed of memory.

Eight rows are added at a time to strips of columns that stay in the cache, so that sums are loaded
and stored less often; several outputs are served by one reading of X. Values are finite (checked
before any fit), so reordering sums is safe. What happens between strips is NumPy's: every function
here is one flat loop, which compiles in half a second at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numba import VIEWS, compiled

_options: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy", **VIEWS}


@compiled(**_options)
def add_to_pairs(X, low, high, coefficients, begin, first, last, out):
    """Add rows of X, from ``begin`` on, to columns first to last of every pair of outputs.

    X and ``out`` have contiguous rows. ``coefficients`` has a table for each pair of outputs, with
    a row for every eight rows of X: eight numbers for the first output, eight for the second.
    Without clipping ``low`` is None, and its share of this function is not compiled.
    """
    n_pairs, n_blocks = coefficients.shape[:2]
    step = n_blocks if n_pairs == 1 else 1  # eight rows stay in the cache for all outputs
    for top in range(0, n_blocks, step):
        for k in range(n_pairs):
            S, T = out[2 * k], out[2 * k + 1]
            for block in range(top, min(top + step, n_blocks)):
                u, i = coefficients[k, block], begin + 8 * block
                s0, s1, s2, s3, s4, s5, s6, s7 = u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]
                t0, t1, t2, t3 = u[8], u[9], u[10], u[11]
                t4, t5, t6, t7 = u[12], u[13], u[14], u[15]
                x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
                x4, x5, x6, x7 = X[i + 4], X[i + 5], X[i + 6], X[i + 7]
                for j in range(np.uintp(first), np.uintp(last)):
                    a, b, c, d = x0[j], x1[j], x2[j], x3[j]
                    e, f, g, h = x4[j], x5[j], x6[j], x7[j]
                    if low is not None:
                        lo, hi = low[j], high[j]
                        a, b, c, d = max(a, lo), max(b, lo), max(c, lo), max(d, lo)
                        e, f, g, h = max(e, lo), max(f, lo), max(g, lo), max(h, lo)
                        a, b, c, d = min(a, hi), min(b, hi), min(c, hi), min(d, hi)
                        e, f, g, h = min(e, hi), min(f, hi), min(g, hi), min(h, hi)
                    p, q = s0 * a + s1 * b + (s2 * c + s3 * d), s4 * e + s5 * f + (s6 * g + s7 * h)
                    S[j] += p + q
                    p, q = t0 * a + t1 * b + (t2 * c + t3 * d), t4 * e + t5 * f + (t6 * g + t7 * h)
                    T[j] += p + q


@compiled(**_options)
def add_to_fours(X, coefficients, begin, first, last, out):
    """The same for every four outputs, not clipped: two more arrays are too many for vectors."""
    n_fours, n_blocks = coefficients.shape[:2]
    step = n_blocks if n_fours == 1 else 1
    for top in range(0, n_blocks, step):
        for k in range(n_fours):
            S, T, V, W = out[4 * k], out[4 * k + 1], out[4 * k + 2], out[4 * k + 3]
            for block in range(top, min(top + step, n_blocks)):
                u, i = coefficients[k, block], begin + 8 * block
                s0, s1, s2, s3, s4, s5, s6, s7 = u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]
                t0, t1, t2, t3 = u[8], u[9], u[10], u[11]
                t4, t5, t6, t7 = u[12], u[13], u[14], u[15]
                v0, v1, v2, v3 = u[16], u[17], u[18], u[19]
                v4, v5, v6, v7 = u[20], u[21], u[22], u[23]
                w0, w1, w2, w3 = u[24], u[25], u[26], u[27]
                w4, w5, w6, w7 = u[28], u[29], u[30], u[31]
                x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
                x4, x5, x6, x7 = X[i + 4], X[i + 5], X[i + 6], X[i + 7]
                for j in range(np.uintp(first), np.uintp(last)):
                    a, b, c, d = x0[j], x1[j], x2[j], x3[j]
                    e, f, g, h = x4[j], x5[j], x6[j], x7[j]
                    p, q = s0 * a + s1 * b + (s2 * c + s3 * d), s4 * e + s5 * f + (s6 * g + s7 * h)
                    S[j] += p + q
                    p, q = t0 * a + t1 * b + (t2 * c + t3 * d), t4 * e + t5 * f + (t6 * g + t7 * h)
                    T[j] += p + q
                    p, q = v0 * a + v1 * b + (v2 * c + v3 * d), v4 * e + v5 * f + (v6 * g + v7 * h)
                    V[j] += p + q
                    p, q = w0 * a + w1 * b + (w2 * c + w3 * d), w4 * e + w5 * f + (w6 * g + w7 * h)
                    W[j] += p + q


@compiled(**_options)
def products_by_column(X, low, high, u, chunk, first, last, out):
    """out[first:last] = clip(X[:, first:last])' u for X with contiguous columns.

    Sums of ``chunk`` rows are collected in double precision.
    """
    n = len(X)
    for j in range(first, last):
        x, lo, hi = X[:, j], low[j], high[j]
        collected = 0.0
        for begin in range(0, n, chunk):
            total = x.dtype.type(0)
            for i in range(np.uintp(begin), np.uintp(min(begin + chunk, n))):
                total += u[i] * min(max(x[i], lo), hi)
            collected += total
        out[j] = collected


@compiled(**_options)
def find_outside(X, low, high, begin, end, first, last, rows, columns, found):
    """Note the places of values outside their bounds behind those already found; how many in all.

    Of rows begin to end and columns first to last of X with contiguous rows; columns are counted
    from ``first``. Where there is no room left they are only counted.
    """
    for i in range(begin, end):
        x = X[i]
        for start in range(first, last, 64):
            stop = min(start + 64, last)
            some = False
            for j in range(np.uintp(start), np.uintp(stop)):
                some |= (x[j] < low[j]) | (x[j] > high[j])
            if not some:
                continue
            for j in range(start, stop):
                if (x[j] < low[j]) | (x[j] > high[j]):
                    if found < len(rows):
                        rows[found], columns[found] = i, j - first
                    found += 1
    return found


@compiled(**_options)
def subtract_excess(rows, columns, values, u, total):
    """Take out of a sum over X what clipping takes from the values outside their bounds."""
    for entry in range(len(rows)):
        total[columns[entry]] -= u[rows[entry]] * values[entry]
