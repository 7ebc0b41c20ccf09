"""Compiled block coordinate descent over groups of columns that are orthogonal within a group.

One loop for three kinds of data, chosen when it is compiled: dense columns with the residual,
sparse ones (``packed``), or the Gram matrix with X'R in the place of the residual (``power``).
Plain loops over flat arrays and scratch space that is handed in: anything else takes several times
as long to compile.
"""

from math import sqrt

import numpy as np

from ..._numba import PART, VIEWS, compiled

MEMORY = 5  # sweeps that Anderson's extrapolation combines
SUMS = {"fastmath": {"contract", "reassoc", "arcp", "nsz"}, "error_model": "numpy", **VIEWS}
# Share of the trace that is added to the products of steps, which may be dependent.
JITTER = 1e-12
# Steps and relative accuracy of the norm of a block.
NORM_STEPS, NORM_TOL = 60, 1e-14


@compiled(**SUMS)
def descend(
    columns, packed, firsts, starts, squares, W, R, target, power, halves, row_half,
    share, floor, max_sweeps, b, c, kept_W, kept_R, mixing,
):  # fmt: skip
    """Sweeps over groups, with extrapolations, until their gap is small enough.

    Minimises ||R||^2 / 2 + sum_g halves_g ||W_g||, plus row_half times the sum of row norms where
    that is given. Groups are visited in turn and minimised exactly.

    Parameters
    ----------
    columns : (n, n_samples), or the Gram matrix of these columns.
    packed : None, or sparse columns as ``PackedColumns.packed`` has them.
    firsts : the first column of every group; ``starts``: its place in W and the squares.
    squares : squared norms of the columns.
    W : (n_outputs, n_columns); ``R``: (n_outputs, n_samples), the residual, or X'R.
    target : (n_outputs, n_samples), Y, or X'Y.
    power : None, or ||Y||^2 where R is X'R.
    share, floor : stop where the gap is at most share times the objective, or times the floor.
    b, c, kept_W, kept_R, mixing : scratch.

    Returns the number of sweeps.
    """
    flat_W, flat_R = W.reshape(-1), R.reshape(-1)
    # How many times larger the gap is than it looks from what a sweep meets on its way.
    sweeps, trust = 0, 1.0
    while True:
        copy(kept_W[0], flat_W)
        copy(kept_R[0], flat_R)
        for memory in range(1, MEMORY + 1):
            largest = sweep(
                columns, packed, firsts, starts, squares, W, R, power, halves, row_half, b, c, True
            )
            sweeps += 1
            value, gap = assess(W, R, target, power, starts, halves, row_half, largest)
            goal = share * max(value, floor)
            if not gap * trust > goal or sweeps >= max_sweeps:  # also where it is no number
                largest = sweep(
                    columns, packed, firsts, starts, squares, W, R, power, halves, row_half, b, c,
                    False,
                )  # fmt: skip
                exact = assess(W, R, target, power, starts, halves, row_half, largest)[1]
                if not exact > goal or sweeps >= max_sweeps:
                    return sweeps
                trust = exact / gap if exact > gap else 1.0
            copy(kept_W[memory], flat_W)
            copy(kept_R[memory], flat_R)
        if mix(kept_W, mixing):
            combine(flat_W, kept_W, mixing)
            combine(flat_R, kept_R, mixing)
            mixed = assess(W, R, target, power, starts, halves, row_half, 1.0)[0]
            if not mixed < value:
                copy(flat_W, kept_W[MEMORY])
                copy(flat_R, kept_R[MEMORY])


@compiled(**PART, **SUMS)
def assess(W, R, target, power, starts, halves, row_half, largest):
    """Objective and duality gap, halved, from the largest ||X_g'R|| / halves_g."""
    fit, rest = 0.0, 0.0
    flat_R, flat_target = R.reshape(-1), target.reshape(-1)
    if power is None:
        for i in range(len(flat_R)):
            fit += flat_R[i] * flat_target[i]
            rest += flat_R[i] * flat_R[i]
    else:
        flat_W = W.reshape(-1)
        for i in range(len(flat_R)):
            fit += flat_W[i] * flat_target[i]
            rest += flat_W[i] * flat_R[i]
        fit = power - fit
        rest = fit - rest
        if rest < 0.0:
            rest = 0.0
    value = 0.5 * rest
    for g in range(len(halves)):
        square = 0.0
        for i in range(starts[g], starts[g + 1]):
            row = 0.0
            for k in range(W.shape[0]):
                row += W[k, i] * W[k, i]
            square += row
            if row_half is not None:
                value += row_half * sqrt(row)
        value += halves[g] * sqrt(square)
    scale = fit / rest if rest > 0.0 else 0.0
    if scale * largest > 1.0:
        scale = 1.0 / largest
    return value, value - scale * (fit - 0.5 * scale * rest)


@compiled(**PART, **SUMS)
def sweep(columns, packed, firsts, starts, squares, W, R, power, halves, row_half, b, c, moves):
    """Minimise over every group in turn, or look at their gradients alone.

    Returns the largest ||X_g'R|| / halves_g that was met, 1 at the solution.
    """
    n_outputs = R.shape[0]
    largest = 0.0
    if packed is not None:
        begin_packed(packed, R)
    for g in range(len(halves)):
        at, low, high = firsts[g], starts[g], starts[g + 1]
        length = 0.0
        for k in range(n_outputs):
            own = b[k]
            if power is not None:
                for j in range(low, high):
                    own[j - low] = R[k, j]
            elif packed is None:
                products(columns, at, R[k], own, high - low)
            else:
                packed_products(packed, at, k, R[k], own, c, high - low)
            for i in range(high - low):
                length += own[i] * own[i]
        length = sqrt(length)
        if length > largest * halves[g]:
            largest = length / halves[g]
        if moves and minimise(squares, W, b, c, low, high, halves[g], row_half):
            for k in range(n_outputs):
                if packed is None:
                    subtract(columns, at, R[k], b[k], high - low)
                else:
                    packed_subtract(packed, at, k, R[k], b[k], high - low)
    if packed is not None:
        end_packed(packed, R)
    return largest


@compiled(**PART, **SUMS)
def minimise(squares, W, b, c, low, high, half, row_half):
    """Minimise over one group; b = X_g'R becomes the change of W_g. Whether there is any."""
    n_outputs = W.shape[0]
    size = high - low
    used, total = False, 0.0
    for i in range(size):
        square, own = 0.0, squares[low + i]
        for k in range(n_outputs):
            w = W[k, low + i]
            used = used or w != 0.0
            v = b[k, i] + own * w
            b[k, i] = v
            square += v * v
        if row_half is not None:
            norm = sqrt(square)
            factor = 1.0 - row_half / norm if norm > row_half else 0.0
            for k in range(n_outputs):
                b[k, i] *= factor
            square *= factor * factor
        c[i] = square
        total += square
    t = 0.0
    if total > half * half:
        t = block_norm(squares[low:high], c, half)
    elif not used:
        return False
    for i in range(size):
        below = squares[low + i] * t + half
        factor = t / below if below > 0.0 else 0.0
        for k in range(n_outputs):
            w = factor * b[k, i]
            b[k, i] = w - W[k, low + i]
            W[k, low + i] = w
    return True


@compiled(**SUMS)
def block_norm(values, squares, half):
    """The norm t of the minimiser of ||XW - R||^2 / 2 + half ||W|| over one group.

    With orthogonal columns of squared norms ``values`` and the squares ||b_i||^2 of X'R it is
    b_i t / (values_i t + half), so that t solves sum_i squares_i / (values_i t + half)^2 = 1.
    Newton's method on the inverse root of that sum, which is close to linear, comes from below.
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
    for _ in range(NORM_STEPS):
        total, slope = 0.0, 0.0
        for i in range(len(values)):
            below = values[i] * t + half
            if below > 0.0:
                term = squares[i] / (below * below)
                total += term
                slope += term * values[i] / below
        if not slope > 0.0:
            break
        step = total * (1.0 - 1.0 / sqrt(total)) / slope
        t += step
        if not abs(step) > NORM_TOL * t:
            break
    return t if t > 0.0 else 0.0


# -- products ------------------------------------------------------------------------------------


@compiled(**PART, **SUMS)
def products(columns, first, r, b, size):
    """Write columns[first : first + size] r into b, four at a time."""
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
            b[j], b[j + 1], b[j + 2], b[j + 3] = s0, s1, s2, s3
            j += 4
        else:
            for i in range(n):
                s0 += x0[i] * r[i]
            b[j] = s0
            j += 1


@compiled(**PART, **SUMS)
def subtract(columns, first, r, d, size):
    """Subtract d' columns[first : first + size] from r, four at a time."""
    n = np.uintp(len(r))
    j = 0
    while j < size:
        x0, d0 = columns[first + j], d[j]
        if j + 4 <= size:
            x1, x2, x3 = columns[first + j + 1], columns[first + j + 2], columns[first + j + 3]
            d1, d2, d3 = d[j + 1], d[j + 2], d[j + 3]
            for i in range(n):
                r[i] -= d0 * x0[i] + d1 * x1[i] + d2 * x2[i] + d3 * x3[i]
            j += 4
        else:
            for i in range(n):
                r[i] -= d0 * x0[i]
            j += 1


@compiled(**PART, **SUMS)
def begin_packed(packed, R):
    """U'R of the directions U that are subtracted from sparse columns; nothing is pending."""
    U, along, pending = packed[5], packed[9], packed[10]
    for k in range(R.shape[0]):
        products(U, 0, R[k], along[k], len(U))
        for q in range(len(U)):
            pending[k, q] = 0.0


@compiled(**PART, **SUMS)
def end_packed(packed, R):
    """Write what is pending along the directions U."""
    U, pending = packed[5], packed[10]
    for k in range(R.shape[0]):
        subtract(U, 0, R[k], pending[k], len(U))


@compiled(**PART, **SUMS)
def packed_products(packed, first, k, r, b, c, size):
    """Write V'X_g'r into b, with the rotation V of the group and columns x_j = s_j - U c_j."""
    ends, rows, values, rotations, places, _, lost, shadow, _, along, pending = packed
    at = places[first]
    for i in range(size):
        total, j = 0.0, first + i
        for p in range(ends[j], ends[j + 1]):
            total += values[p] * r[rows[p]]
        for q in range(lost.shape[1]):
            total -= shadow[j, q] * pending[k, q] + lost[j, q] * along[k, q]
        c[i] = total
        b[i] = 0.0 if at >= 0 else total
    if at >= 0:
        for j in range(size):
            for i in range(size):
                b[i] += rotations[at + j * size + i] * c[j]


@compiled(**PART, **SUMS)
def packed_subtract(packed, first, k, r, b, size):
    """Subtract X_g V b from r."""
    ends, rows, values, rotations, places, _, lost, _, image, along, pending = packed
    at = places[first]
    for i in range(size):
        d, j = b[i], first + i
        if at >= 0:
            d = 0.0
            for other in range(size):
                d += rotations[at + i * size + other] * b[other]
        for p in range(ends[j], ends[j + 1]):
            r[rows[p]] -= d * values[p]
        for q in range(lost.shape[1]):
            pending[k, q] -= d * lost[j, q]
            along[k, q] -= d * image[j, q]


# -- extrapolation -------------------------------------------------------------------------------


@compiled(**PART, **VIEWS)
def copy(values, kept):
    """Copy what was kept."""
    for i in range(len(values)):
        values[i] = kept[i]


@compiled(**PART, **SUMS)
def combine(values, kept, mixing):
    """Go to the combination of the iterates that were kept."""
    z = mixing[MEMORY]
    for i in range(len(values)):
        total = 0.0
        for a in range(MEMORY):
            total += z[a] * kept[a + 1, i]
        values[i] = total


@compiled(**PART, **SUMS)
def mix(kept, mixing):
    """Write Anderson's weights into the last row of ``mixing``; whether there are any.

    They sum to one, and the combination of the steps with them is shortest.
    """
    trace = 0.0
    for a in range(MEMORY):
        for other in range(a + 1):
            total = 0.0
            for i in range(kept.shape[1]):
                total += (kept[a + 1, i] - kept[a, i]) * (kept[other + 1, i] - kept[other, i])
            mixing[a, other] = total
        trace += mixing[a, a]
    # Cholesky factor in place, and two triangular systems.
    z = mixing[MEMORY]
    for a in range(MEMORY):
        mixing[a, a] += JITTER * trace
        z[a] = 1.0
        for other in range(a + 1):
            total = mixing[a, other]
            for i in range(other):
                total -= mixing[a, i] * mixing[other, i]
            if a > other:
                mixing[a, other] = total / mixing[other, other]
            elif total > 0.0:
                mixing[a, a] = sqrt(total)
            else:
                return False
        for i in range(a):
            z[a] -= mixing[a, i] * z[i]
        z[a] /= mixing[a, a]
    total = 0.0
    for a in range(MEMORY - 1, -1, -1):
        for i in range(a + 1, MEMORY):
            z[a] -= mixing[i, a] * z[i]
        z[a] /= mixing[a, a]
        total += z[a]
    for a in range(MEMORY):
        z[a] /= total
    return True
