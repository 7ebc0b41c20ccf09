"""Compiled products with a large dense array, clipped or not, at the speed of memory.

Rows are contiguous: strips of columns stay in the cache while rows are added to them several at
a time, so that sums are loaded and stored less often; several outputs are served by one reading
of X. Columns are contiguous: every column is one sum. Values are finite (checked before
any fit), so reordering sums is safe. Sums over many rows are collected in double precision now
and then.

Clipping costs a quarter of a product, although few values lie outside their bounds. Where they
are few, what clipping takes from them is known: X'u is taken, and their share subtracted. Values
so far away that this would cost digits are rare, since no value of n lies further from the mean
than the root of n standard deviations: where there is one, its strip is clipped after all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numba import PART, compiled
from ._moment_kernels import clear

STRIP = 16384  # columns at most
CHUNK = 1024  # rows between two collections in double precision
# So many widths of the interval is what lies far outside of it, were it not for rounding: NEAR of
# the bounds themselves, where a column is constant.
FAR, NEAR = 8.0, 1e-3

_options: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}
_part: dict[str, Any] = _options | PART


@compiled(**_part)
def _clip(a, low, high):
    a = low if a < low else a
    return high if a > high else a


@compiled(**_part)
def _add_one(x, low, high, clipped, u, total):
    for j in range(len(total)):
        a = x[j]
        if clipped:
            a = _clip(a, low[j], high[j])
        total[j] += u * a


@compiled(**_part)
def _add_four(x0, x1, x2, x3, low, high, clipped, u0, u1, u2, u3, total):
    for j in range(len(total)):
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]
        if clipped:
            lo, hi = low[j], high[j]
            a, b, c, d = _clip(a, lo, hi), _clip(b, lo, hi), _clip(c, lo, hi), _clip(d, lo, hi)
        total[j] += (u0 * a + u1 * b) + (u2 * c + u3 * d)


@compiled(**_part)
def _eight(u):
    return u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]


@compiled(**_part)
def _add_eight_to_two(x0, x1, x2, x3, x4, x5, x6, x7, low, high, clipped, s, t, S, T):
    """Eight rows of X with coefficients s and t, added to the sums S and T."""
    s0, s1, s2, s3, s4, s5, s6, s7 = _eight(s)
    t0, t1, t2, t3, t4, t5, t6, t7 = _eight(t)
    for j in range(len(S)):
        a, b, c, d, e, f, g, h = x0[j], x1[j], x2[j], x3[j], x4[j], x5[j], x6[j], x7[j]
        if clipped:
            lo, hi = low[j], high[j]
            a, b, c, d = _clip(a, lo, hi), _clip(b, lo, hi), _clip(c, lo, hi), _clip(d, lo, hi)
            e, f, g, h = _clip(e, lo, hi), _clip(f, lo, hi), _clip(g, lo, hi), _clip(h, lo, hi)
        S[j] += ((s0 * a + s1 * b) + (s2 * c + s3 * d)) + ((s4 * e + s5 * f) + (s6 * g + s7 * h))
        T[j] += ((t0 * a + t1 * b) + (t2 * c + t3 * d)) + ((t4 * e + t5 * f) + (t6 * g + t7 * h))


@compiled(**_part)
def _add_eight_to_four(x0, x1, x2, x3, x4, x5, x6, x7, s, t, v, w, S, T, V, W):
    """The same for four outputs, and not clipped: two more arrays would be too many for vectors."""
    s0, s1, s2, s3, s4, s5, s6, s7 = _eight(s)
    t0, t1, t2, t3, t4, t5, t6, t7 = _eight(t)
    v0, v1, v2, v3, v4, v5, v6, v7 = _eight(v)
    w0, w1, w2, w3, w4, w5, w6, w7 = _eight(w)
    for j in range(len(S)):
        a, b, c, d, e, f, g, h = x0[j], x1[j], x2[j], x3[j], x4[j], x5[j], x6[j], x7[j]
        S[j] += ((s0 * a + s1 * b) + (s2 * c + s3 * d)) + ((s4 * e + s5 * f) + (s6 * g + s7 * h))
        T[j] += ((t0 * a + t1 * b) + (t2 * c + t3 * d)) + ((t4 * e + t5 * f) + (t6 * g + t7 * h))
        V[j] += ((v0 * a + v1 * b) + (v2 * c + v3 * d)) + ((v4 * e + v5 * f) + (v6 * g + v7 * h))
        W[j] += ((w0 * a + w1 * b) + (w2 * c + w3 * d)) + ((w4 * e + w5 * f) + (w6 * g + w7 * h))


@compiled(**_part)
def _add_rows(X, clip, clipped, u, begin, end, first, total):
    """Add rows begin to end of X, from column ``first`` on, to the sums of one output."""
    last = first + len(total)
    low, high = clip.low[first:last], clip.high[first:last]
    i = begin
    while i + 4 <= end:
        _add_four(
            X[i, first:last],  # one by one, so that the compiler knows that they are contiguous
            X[i + 1, first:last],
            X[i + 2, first:last],
            X[i + 3, first:last],
            low,
            high,
            clipped,
            u[i],
            u[i + 1],
            u[i + 2],
            u[i + 3],
            total,
        )
        i += 4
    while i < end:
        _add_one(X[i, first:last], low, high, clipped, u[i], total)
        i += 1


@compiled(**_part)
def _add_rows_to_all(X, clip, clipped, U, begin, end, first, last, out):
    """The same for an even number of outputs, from column ``first`` to ``last``."""
    whole = begin + (end - begin) // 8 * 8
    low, high = clip.low[first:last], clip.high[first:last]
    for i in range(begin, whole, 8):
        x0, x1, x2, x3, x4, x5, x6, x7 = (
            X[i, first:last],
            X[i + 1, first:last],
            X[i + 2, first:last],
            X[i + 3, first:last],
            X[i + 4, first:last],
            X[i + 5, first:last],
            X[i + 6, first:last],
            X[i + 7, first:last],
        )
        fours = 0 if clipped else len(U) // 4 * 4
        for k in range(0, fours, 4):  # after the first four these rows are in the cache
            _add_eight_to_four(
                x0,
                x1,
                x2,
                x3,
                x4,
                x5,
                x6,
                x7,
                U[k, i : i + 8],
                U[k + 1, i : i + 8],
                U[k + 2, i : i + 8],
                U[k + 3, i : i + 8],
                out[k, first:last],
                out[k + 1, first:last],
                out[k + 2, first:last],
                out[k + 3, first:last],
            )
        for k in range(fours, len(U), 2):
            s, t, S, T = (
                U[k, i : i + 8],
                U[k + 1, i : i + 8],
                out[k, first:last],
                out[k + 1, first:last],
            )
            _add_eight_to_two(x0, x1, x2, x3, x4, x5, x6, x7, low, high, clipped, s, t, S, T)
    for k in range(len(U)):
        _add_rows(X, clip, clipped, U[k], whole, end, first, out[k, first:last])


@compiled(**_part)
def _subtract_excess(clip, u, first, total):
    """Take out of a sum over X what clipping takes from the values outside their bounds."""
    last = first + len(total)
    for begin in range(first, last, clip.width):
        strip, some = begin // clip.width, total[begin - first :]
        for entry in range(strip * clip.capacity, clip.ends[strip]):
            some[clip.columns[entry]] -= u[clip.rows[entry]] * clip.values[entry]


@compiled(**_part)
def is_known(clip, first):
    """Whether all is known of what clipping takes from the strip that begins here."""
    return len(clip.low) > 0 and clip.ends[first // clip.width] >= 0


@compiled(**_part)
def end_of_strip(clip, first, stop):
    """Where columns that are worked on together end: of all the same is known."""
    last = min(first + STRIP, stop)
    if len(clip.low) == 0:
        return last
    edge = first + clip.width
    while edge < last and is_known(clip, edge) == is_known(clip, first):
        edge += clip.width
    return min(edge, last)


@compiled(**_part)
def _collect(total, collected):
    for j in range(len(total)):
        collected[j] += total[j]
        total[j] = 0


@compiled(**_part)
def _return(collected, total):
    for j in range(len(total)):
        total[j] = collected[j]


@compiled(**_part)
def strip_product(X, clip, u, first, total):
    """Set ``total`` to clip(X)[:, first:]'u for as many columns as it has, to ``end_of_strip``."""
    n = X.shape[0]
    known = is_known(clip, first)
    clipped = len(clip.low) > 0 and not known
    clear(total)
    collected = np.zeros(len(total) if n > CHUNK else 0, np.float64)
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        _add_rows(X, clip, clipped, u, begin, end, first, total)
        if n > CHUNK:
            _collect(total, collected)
    if n > CHUNK:
        _return(collected, total)
    if known:
        _subtract_excess(clip, u, first, total)


@compiled(**_options)
def products_by_row(X, clip, u, start, stop, out):
    """out[start:stop] = clip(X[:, start:stop])' u for X with contiguous rows."""
    first = start
    while first < stop:
        last = end_of_strip(clip, first, stop)
        strip_product(X, clip, u, first, out[first:last])
        first = last


@compiled(**_options)
def several_products_by_row(X, clip, U, start, stop, out):
    """The same for an even number of outputs, rows of U and ``out``, in one reading of X."""
    n, n_outputs = X.shape[0], len(U)
    first = start
    while first < stop:
        last = end_of_strip(clip, first, stop)
        known = is_known(clip, first)
        clipped = len(clip.low) > 0 and not known
        collected = np.zeros((n_outputs, last - first if n > CHUNK else 0), np.float64)
        for k in range(n_outputs):
            clear(out[k, first:last])
        for begin in range(0, n, CHUNK):
            end = min(begin + CHUNK, n)
            _add_rows_to_all(X, clip, clipped, U, begin, end, first, last, out)
            if n > CHUNK:
                for k in range(n_outputs):
                    _collect(out[k, first:last], collected[k])
        for k in range(n_outputs):
            if n > CHUNK:
                _return(collected[k], out[k, first:last])
            if known:
                _subtract_excess(clip, U[k], first, out[k, first:last])
        first = last


@compiled(**_options)
def products_by_column(X, low, high, u, start, stop, out):
    """out[start:stop] = clip(X[:, start:stop])' u for X with contiguous columns."""
    n = X.shape[0]
    for j in range(start, stop):
        lo, hi = low[j], high[j]
        collected = 0.0
        for begin in range(0, n, CHUNK):
            total = X.dtype.type(0)
            for i in range(begin, min(begin + CHUNK, n)):
                total += u[i] * _clip(X[i, j], lo, hi)
            collected += total
        out[j] = collected


# -- what clipping takes away ----------------------------------------------------------------------


@compiled(**_part)
def _mark_outside(x, low, high, marks):
    for j in range(len(x)):
        marks[j] = (x[j] < low[j]) | (x[j] > high[j])


@compiled(**_part)
def _any_mark(eights, k):
    one, other = eights[k] | eights[k + 1], eights[k + 2] | eights[k + 3]
    third, last = eights[k + 4] | eights[k + 5], eights[k + 6] | eights[k + 7]
    return (one | other) | (third | last) != 0


@compiled(**_options)
def find_excess(X, clip, start, stop):
    """Fill the tables of ``clip``: its values outside their bounds, strip by strip.

    Of a strip that has more of them than there is room for, or will have by the look of the first
    rows, or that has one far away, it is noted that they are not known.
    """
    n = X.shape[0]
    rows, columns, values, ends = clip.rows, clip.columns, clip.values, clip.ends
    marks = np.zeros(clip.width, np.uint8)
    eights = marks.view(np.uint64)
    for first in range(start, stop, clip.width):
        last = min(first + clip.width, stop)
        strip = first // clip.width
        at = strip * clip.capacity
        most = at + clip.capacity
        lo, hi = clip.low[first:last], clip.high[first:last]
        clear(marks[last - first :])
        for i in range(n):
            x = X[i, first:last]
            _mark_outside(x, lo, hi, marks)
            for sixty_four in range(0, len(eights), 8):
                if not _any_mark(eights, sixty_four):
                    continue
                for eight in range(sixty_four, sixty_four + 8):
                    if eights[eight] == 0:
                        continue
                    for j in range(8 * eight, min(8 * eight + 8, last - first)):
                        if marks[j] and at < most:
                            excess = x[j] - (lo[j] if x[j] < lo[j] else hi[j])
                            rows[at], columns[at], values[at] = i, j, excess
                            if abs(excess) > FAR * (hi[j] - lo[j]) + NEAR * abs(hi[j]):
                                at = most
                        at += marks[j]
            if at > min(
                most, most - clip.capacity + clip.capacity // 8 + clip.capacity * (i + 1) // n
            ):
                at = -1
                break
        ends[strip] = at


@compiled(**_options | {"fastmath": {"contract", "nsz"}})
def settle_excess(X, clip, start, stop, means, squares):
    """From means and sums of squared deviations of columns to those of the clipped ones.

    With x - m the deviation of a value from its mean and e its excess, squares around m fall by
    e (2 (x - m) - e), and going over to the new mean m - sum(e) / n takes n times the square
    of the step. Strips whose excess is not known are left alone.
    """
    n_samples = X.shape[0]
    for first in range(start, stop, clip.width):
        last = min(first + clip.width, stop)
        strip = first // clip.width
        if clip.ends[strip] < 0:
            continue
        steps = np.zeros(last - first, np.float64)
        for entry in range(strip * clip.capacity, clip.ends[strip]):
            j = first + clip.columns[entry]
            value = np.float64(X[clip.rows[entry], j])  # the excess was rounded
            excess = value - (clip.high[j] if value > clip.high[j] else clip.low[j])
            squares[j] -= excess * (2.0 * (value - means[j]) - excess)
            steps[j - first] += excess / n_samples
        for j in range(first, last):
            step = steps[j - first]
            means[j] -= step
            squares[j] = max(squares[j] - n_samples * step * step, 0.0)
