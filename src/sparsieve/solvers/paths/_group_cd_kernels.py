"""Compiled block coordinate descent over groups of columns that are orthogonal within a group.

One loop for three kinds of data, chosen when it is compiled: dense columns with the residual,
sparse ones (``packed``), or the Gram matrix with X'R in the place of the residual (``power``).
Plain loops over flat arrays and scratch space that is handed in: anything else takes several times
as long to compile.
"""

from math import sqrt

import numpy as np

from ..._numba import PART, VIEWS, compiled
from ...penalties._row_kernels import price, shrink

SUMS = {"fastmath": {"contract", "reassoc", "arcp", "nsz"}, "error_model": "numpy", **VIEWS}
# Steps towards the norm of a block, and how short the last one is: the error left goes with its
# square.
NORM_STEPS, NORM_TOL = 60, 1e-8


@compiled(**SUMS)
def price_of_rows(rows, W):
    """Half of what a penalty puts on the single rows, which are columns of W."""
    value = 0.0
    for i in range(W.shape[1]):
        value += price(rows, W[:, i])
    return value


@compiled(**SUMS)
def sweep(columns, packed, firsts, starts, squares, W, R, power, halves, rows, b, c):
    """Minimise over every group in turn, with the parameters of :func:`.group_descent.descend`.

    ``b`` and ``c`` are space for the products of one group. Returns the largest
    ||X_g'R|| / halves_g that was met, 1 at the solution.
    """
    n_outputs = R.shape[0]
    largest = 0.0
    if packed is not None:
        begin_sparse(packed, R)
    for g in range(len(halves)):
        at, low, high = firsts[g], starts[g], starts[g + 1]
        for k in range(n_outputs):
            if power is not None:
                for j in range(low, high):
                    b[j - low, k] = R[k, j]
            elif packed is None:
                products(columns, at, R[k], b, k, high - low)
            else:
                packed_products(packed, at, R[k], b, k, c, high - low)
        length = 0.0
        for i in range(high - low):
            for k in range(n_outputs):
                length += b[i, k] * b[i, k]
        length = sqrt(length)
        if length > largest * halves[g]:
            largest = length / halves[g]
        if minimise(squares, W, b, c, low, high, halves[g], rows):
            for k in range(n_outputs):
                if packed is None:
                    subtract(columns, at, R[k], b, k, high - low)
                else:
                    packed_subtract(packed, at, R[k], b, k, c, high - low)
    if packed is not None:
        end_sparse(packed, R)
    return largest


@compiled(**PART, **SUMS)
def minimise(squares, W, b, c, low, high, half, rows):
    """Minimise over one group; b = X_g'R becomes the change of W_g. Whether there is any."""
    n_outputs = W.shape[0]
    size = high - low
    before, total = 0.0, 0.0
    for i in range(size):
        square, own = 0.0, squares[low + i]
        for k in range(n_outputs):
            w = W[k, low + i]
            before += w * w
            v = b[i, k] + own * w
            b[i, k] = v
            square += v * v
        if rows is not None:
            square = shrink(rows, b[i], W[:, low + i], own, half)
        c[i] = square
        total += square
    t = 0.0
    if total > half * half:
        t = block_norm(squares[low:high], c, half, sqrt(before))
    elif before == 0.0:
        return False
    for i in range(size):
        below = squares[low + i] * t + half
        factor = t / below if below > 0.0 else 0.0
        for k in range(n_outputs):
            w = factor * b[i, k]
            b[i, k] = w - W[k, low + i]
            W[k, low + i] = w
    return True


@compiled(**SUMS)
def block_norm(values, squares, half, guess):
    """The norm t of the minimiser of ||XW - R||^2 / 2 + half ||W|| over one group.

    With orthogonal columns of squared norms ``values`` and the squares ||b_i||^2 of X'R it is
    b_i t / (values_i t + half), so that t solves sum_i squares_i / (values_i t + half)^2 = 1.
    The inverse root of that sum is concave and close to linear: wherever it begins, Newton's method
    comes from below after one step.
    """
    total, steepest = 0.0, 0.0
    for i in range(len(values)):
        total += squares[i]
        if values[i] > steepest:
            steepest = values[i]
    if steepest <= 0.0:
        return 0.0
    t = (sqrt(total) - half) / steepest
    if len(values) == 1:
        return t
    least, t = t, max(t, guess)
    for _ in range(NORM_STEPS):
        total, slope = 0.0, 0.0
        for i in range(len(values)):
            below = values[i] * t + half
            inverse = 1.0 / below if below > 0.0 else 0.0
            term = squares[i] * inverse * inverse
            total += term
            slope += term * values[i] * inverse
        if not slope > 0.0:
            break
        step = total * (1.0 - 1.0 / sqrt(total)) / slope
        t = max(t + step, least)
        if not abs(step) > NORM_TOL * t:
            break
    return t


# -- products ------------------------------------------------------------------------------------


@compiled(**PART, **SUMS)
def products(columns, first, r, b, k, size):
    """Write columns[first : first + size] r into b[:, k], four at a time."""
    n = np.uintp(len(r))
    j = 0
    while j < size:
        x0 = columns[first + j]
        s0 = 0.0
        if j + 4 <= size:
            x1, x2, x3 = columns[first + j + 1], columns[first + j + 2], columns[first + j + 3]
            s1, s2, s3 = 0.0, 0.0, 0.0
            for i in range(n):
                s0 += x0[i] * r[i]
                s1 += x1[i] * r[i]
                s2 += x2[i] * r[i]
                s3 += x3[i] * r[i]
            b[j, k], b[j + 1, k], b[j + 2, k], b[j + 3, k] = s0, s1, s2, s3
            j += 4
        else:
            for i in range(n):
                s0 += x0[i] * r[i]
            b[j, k] = s0
            j += 1


@compiled(**PART, **SUMS)
def subtract(columns, first, r, d, k, size):
    """Subtract d[:, k]' columns[first : first + size] from r, four at a time."""
    n = np.uintp(len(r))
    j = 0
    while j < size:
        x0, d0 = columns[first + j], d[j, k]
        if j + 4 <= size:
            x1, x2, x3 = columns[first + j + 1], columns[first + j + 2], columns[first + j + 3]
            d1, d2, d3 = d[j + 1, k], d[j + 2, k], d[j + 3, k]
            for i in range(n):
                r[i] -= d0 * x0[i] + d1 * x1[i] + d2 * x2[i] + d3 * x3[i]
            j += 4
        else:
            for i in range(n):
                r[i] -= d0 * x0[i]
            j += 1


@compiled(**PART, **SUMS)
def begin_sparse(packed, R):
    """U'R of the directions U that are subtracted from sparse columns; nothing is pending."""
    U, along, pending = packed[5], packed[9], packed[10]
    for k in range(R.shape[0]):
        products(U, 0, R[k], along, k, len(U))
        for q in range(len(U)):
            pending[q, k] = 0.0


@compiled(**PART, **SUMS)
def end_sparse(packed, R):
    """Write what is pending along the directions U."""
    U, pending = packed[5], packed[10]
    for k in range(R.shape[0]):
        subtract(U, 0, R[k], pending, k, len(U))


@compiled(**PART, **VIEWS)
def sparse_dot(samples, values, r, low, high):
    """The product of a sparse column and r, four sums side by side."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    p = low
    while p + four <= high:
        s0 += values[p] * r[samples[p]]
        s1 += values[p + one] * r[samples[p + one]]
        s2 += values[p + two] * r[samples[p + two]]
        s3 += values[p + three] * r[samples[p + three]]
        p += four
    while p < high:
        s0 += values[p] * r[samples[p]]
        p += one
    return (s0 + s1) + (s2 + s3)


@compiled(**PART, **SUMS)
def packed_products(packed, first, r, b, k, c, size):
    """Write V'X_g'r into b[:, k], with the rotation V of the group, of columns s_j - U c_j."""
    ends, samples, values, rotations, places, _, lost, shadow, _, along, pending = packed
    for i in range(size):
        j = first + i
        total = sparse_dot(samples, values, r, ends[j], ends[j + 1])
        for q in range(lost.shape[1]):
            total -= shadow[j, q] * pending[q, k] + lost[j, q] * along[q, k]
        c[i] = total
    at = places[first]
    if at >= 0:
        turned = c[size : 2 * size]
        for i in range(size):
            turned[i] = 0.0
        for j in range(size):
            V, x = rotations[at + j * size : at + j * size + size], c[j]
            for i in range(size):
                turned[i] += V[i] * x
        for i in range(size):
            b[i, k] = turned[i]
    else:
        for i in range(size):
            b[i, k] = c[i]


@compiled(**PART, **SUMS)
def packed_subtract(packed, first, r, b, k, c, size):
    """Subtract X_g V b[:, k] from r."""
    ends, samples, values, rotations, places, _, lost, _, image, along, pending = packed
    at = places[first]
    for i in range(size):
        c[i] = b[i, k]
    for i in range(size):
        d, j = c[i], first + i
        if at >= 0:
            d, V = 0.0, rotations[at + i * size : at + i * size + size]
            for other in range(size):
                d += V[other] * c[other]
        for p in range(ends[j], ends[j + 1]):
            r[samples[p]] -= d * values[p]
        for q in range(lost.shape[1]):
            pending[q, k] -= d * lost[j, q]
            along[q, k] -= d * image[j, q]
