"""Compiled descent on a quadratic model with a norm per block.

    minimise  <G, D> + <C D A, D> / 2 + sum_b costs_b ||W_b||_F,  D = W - W0

over W of shape (n_outputs, n_places), where A is the same for all outputs but for their factors
``scales``, the diagonal of C, and a block is some neighbouring places. ``G`` is the gradient of the
quadratic part and kept up to date with ``W``. Blocks without cost are free. ``values`` and
``vectors`` are the eigenvalues, in increasing order, and eigenvectors of the part of A of every
block, the latter as rows, p^2 numbers from ``offsets[b]`` on: in their coordinates the minimiser
over a block is known but for its norm, which is the root of one equation.
"""

from math import sqrt

import numpy as np

from ..._numba import PART, VIEWS, compiled

FAST_MATH = {"fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}
# Directions whose curvature is below this share of the largest of a block, or of their own
# before other directions took part of it, are flat.
FLAT = 1e-12
# Newton steps for the norm of a block, and the share of it by which the last one may be off.
MAX_ROOT_STEPS, ROOT_TOL = 50, 1e-13
# How much of the parabola above a norm is added to its curvature until a step pays, that is, until
# it gains this share of what it promises.
DAMPINGS, MIN_GAIN_SHARE = (0.0, 0.01, 0.1, 1.0), 0.1
# Of the penalty: what rounding may add to a change of the objective. Of a number: what is left of
# it where a step was meant to end at zero.
ROUNDING, ZERO = 1e-15, 1e-14
# Sweeps before a try of Newton's method, such tries in turn, and rounds of both.
SWEEPS, NEWTON_STEPS, MAX_ROUNDS = 6, 8, 60


@compiled(**PART, **VIEWS, **FAST_MATH)
def norm(W):
    """||W||_F."""
    square = 0.0
    for k in range(W.shape[0]):
        for i in range(W.shape[1]):
            square += W[k, i] * W[k, i]
    return sqrt(square)


@compiled(**PART, **VIEWS, **FAST_MATH)
def root(squares, values, scales, cost, t):
    """The norm t of a block's minimiser: sum_ki squares_ki / (scales_k values_i t + cost)^2 = 1.

    The inverse root of that sum is increasing and concave in t: Newton's method comes from below
    from its second step on.
    """
    for _ in range(MAX_ROOT_STEPS):
        total, slope = 0.0, 0.0
        for k in range(len(scales)):
            for i in range(len(values)):
                value = scales[k] * values[i]
                part = value * t + cost
                term = squares[k, i] / (part * part)
                total += term
                slope += term * value / part
        step = total * (sqrt(total) - 1.0) / slope
        t = max(t + step, 0.0)
        if not abs(step) > ROOT_TOL * t:
            break
    return t


@compiled(**PART, **VIEWS, **FAST_MATH)
def block_step(W, G, values, vectors, scales, cost, V, squares):
    """What to add to a block W of gradient G, in V; whether that is anything."""
    n_outputs, p = W.shape
    size = norm(W)
    if size == 0.0 and norm(G) <= cost:
        return False
    top = values[p - 1]
    if top <= 0.0:
        return False
    # In the coordinates of the eigenvectors: the block there, and what its minimiser goes along.
    total = 0.0
    for i in range(p):
        for k in range(n_outputs):
            here, slope = W[k, i], G[k, i]
            if p > 1:
                here, slope = 0.0, 0.0
                for j in range(p):
                    here += vectors[i * p + j] * W[k, j]
                    slope += vectors[i * p + j] * G[k, j]
            V[k, p + i] = here
            V[k, i] = scales[k] * values[i] * here - slope
            squares[k, i] = V[k, i] * V[k, i]
            total += squares[k, i]
    t = 0.0
    if total > cost * cost and cost > 0.0:
        t = (sqrt(total) - cost) / top  # were all values the largest
        if p > 1 or n_outputs > 1:
            t = root(squares, values, scales, cost, max(t, size))
    for i in range(p):
        for k in range(n_outputs):
            value, factor = scales[k] * values[i], 0.0
            if cost > 0.0:
                factor = t / (value * t + cost)
            elif values[i] > FLAT * top:
                factor = 1.0 / value
            here = V[k, i] * factor
            if cost == 0.0 and values[i] <= FLAT * top:
                here = V[k, p + i]
            V[k, p + i] = here
    moved = False
    for k in range(n_outputs):
        for j in range(p):
            new = V[k, p + j]
            if p > 1:
                new = 0.0
                for i in range(p):
                    new += V[k, p + i] * vectors[i * p + j]
            V[k, j] = new - W[k, j]
            moved = moved or V[k, j] != 0.0
    return moved


@compiled(**PART, **VIEWS, **FAST_MATH)
def sweeps(A, scales, W, G, starts, values, vectors, offsets, costs, n_sweeps, V, squares):
    """Minimise over one block after the other; blocks at zero in the first and last sweep only."""
    n_outputs, n_places = W.shape
    for sweep in range(n_sweeps):
        moved = False
        for b in range(len(costs)):
            first, last = starts[b], starts[b + 1]
            own = W[:, first:last]
            if 0 < sweep < n_sweeps - 1 and norm(own) == 0.0 and costs[b] > 0.0:
                continue
            vector = vectors[offsets[b] : offsets[b + 1]]
            if not block_step(
                own, G[:, first:last], values[first:last], vector, scales, costs[b], V, squares
            ):
                continue
            moved = True
            for k in range(n_outputs):
                for i in range(first, last):
                    change = V[k, i - first]
                    W[k, i] += change
                    change *= scales[k]
                    for j in range(n_places):
                        G[k, j] += change * A[i, j]
        if not moved:
            break


@compiled(**PART, **VIEWS, **FAST_MATH)
def violations(W, G, starts, costs, scale):
    """The largest violation of an optimality condition, as a share of the cost of its block.

    Of the blocks with weight or without cost, and of all blocks.
    """
    worst, entering = 0.0, 0.0
    for b in range(len(costs)):
        first, last = starts[b], starts[b + 1]
        cost = costs[b]
        size, square = norm(W[:, first:last]), 0.0
        pull = cost / size if size > 0.0 else 0.0
        for k in range(len(W)):
            for i in range(first, last):
                part = G[k, i] + pull * W[k, i]
                square += part * part
        if cost == 0.0:
            worst = max(worst, sqrt(square) / scale)
        elif size > 0.0:
            worst = max(worst, sqrt(square) / cost)
        else:
            entering = max(entering, sqrt(square) / cost - 1.0)
    return worst, max(worst, entering)


@compiled(**PART, **VIEWS, **FAST_MATH)
def factorise(M, n):
    """The lower Cholesky factor of the first n rows, in place.

    Infinity on its diagonal leaves a place where it is, because those before it, such as a copy of
    the same column, can do what it does.
    """
    for top in range(0, n, 4):
        known = 0
        if top + 4 <= n:  # four rows at a time, which read the others once
            r0, r1, r2, r3 = M[top], M[top + 1], M[top + 2], M[top + 3]
            for a in range(top):
                row = M[a]
                z0, z1, z2, z3 = r0[a], r1[a], r2[a], r3[a]
                for c in range(a):
                    x = row[c]
                    z0 -= x * r0[c]
                    z1 -= x * r1[c]
                    z2 -= x * r2[c]
                    z3 -= x * r3[c]
                r0[a], r1[a], r2[a], r3[a] = z0 / row[a], z1 / row[a], z2 / row[a], z3 / row[a]
            known = top
        for i in range(top, min(top + 4, n)):
            new = M[i]
            for a in range(known, i):
                z, row = new[a], M[a]
                for c in range(a):
                    z -= row[c] * new[c]
                new[a] = z / row[a]
            left = new[i]
            for c in range(i):
                left -= new[c] * new[c]
            new[i] = sqrt(left) if left > FLAT * new[i] else np.inf


@compiled(**PART, **VIEWS, **FAST_MATH)
def solve_factorised(L, n, x):
    """Solve LL'y = x, in place of x."""
    for i in range(n):
        total, row = x[i], L[i]
        for j in range(i):
            total -= row[j] * x[j]
        x[i] = total / row[i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        total, row = x[i], L[i]
        for j in range(i):
            x[j] -= total * row[j]


@compiled(**PART, **VIEWS, **FAST_MATH)
def newton_step(A, w, g, starts, costs, M, step, index, new, change):
    """One Newton step on the blocks with weight, if it lowers the objective: whether it did.

    A block of a single place ends at zero where its sign would change; as far as to the first
    change of sign the objective falls for sure. The norm of a larger block is straight along the
    block, so that copies of features may leave a flat direction: there its curvature is damped
    until the step pays. With all of the damping its model is the parabola above it.
    """
    for trial in range(len(DAMPINGS)):
        n, price, singles = np.int64(0), 0.0, True  # of one type from the start
        for b in range(len(costs)):
            first, last = starts[b], starts[b + 1]
            size = norm(w[:, first:last])
            price += costs[b] * size
            if size == 0.0 and costs[b] > 0.0:
                continue
            pull = costs[b] / size if costs[b] > 0.0 else 0.0
            bends = pull > 0.0 and last - first > 1
            singles = singles and not bends
            begin = n
            for i in range(first, last):
                row = A[i]
                index[n] = i
                for a in range(n + 1):
                    M[n, a] = row[index[a]]
                if bends:
                    M[n, n] += pull
                    flat = (1.0 - DAMPINGS[trial]) * pull * w[0, i] / (size * size)
                    for a in range(begin, n + 1):
                        M[n, a] -= flat * w[0, index[a]]
                step[n] = -g[0, i] - pull * w[0, i]
                n += 1
        if n == 0 or (singles and trial > 1):
            return False
        promised, nearest = 0.0, 1.0
        for a in range(n):
            new[0, a] = step[a]
        factorise(M, n)
        solve_factorised(M, n, step)
        for a in range(n):
            promised -= 0.5 * new[0, a] * step[a]
            here = w[0, index[a]]
            if here * (here + step[a]) < 0.0:
                nearest = min(nearest, -here / step[a])
        length = nearest if singles and trial == 1 else 1.0
        for j in range(w.shape[1]):
            new[0, j], change[j] = w[0, j], 0.0
        a, lower = 0, -price
        for b in range(len(costs)):
            first, last = starts[b], starts[b + 1]
            if a < n and index[a] == first:
                for i in range(first, last):
                    here = w[0, i]
                    there = here + length * step[a]
                    if last - first == 1 and costs[b] > 0.0 and there * here <= ZERO * here * here:
                        there = 0.0
                    new[0, i] = there
                    moved, row = there - here, A[i]
                    for j in range(w.shape[1]):
                        change[j] += moved * row[j]
                    a += 1
                lower += costs[b] * norm(new[:, first:last])
        for a in range(n):
            i = index[a]
            lower += (new[0, i] - w[0, i]) * (g[0, i] + 0.5 * change[i])
        if lower < 0.0 if singles else lower <= MIN_GAIN_SHARE * promised + ROUNDING * price:
            for j in range(w.shape[1]):
                w[0, j] = new[0, j]
                g[0, j] += change[j]
            return True
    return False


@compiled()
def minimise(A, scales, W, G, starts, values, vectors, offsets, costs, scale, tol):
    """Sweeps, and Newton steps in turn where there is one output, until no block is off by tol."""
    n_outputs, n_places = W.shape
    widest = 1
    for b in range(len(costs)):
        widest = max(widest, starts[b + 1] - starts[b])
    V, squares = np.empty((n_outputs, 2 * widest)), np.empty((n_outputs, widest))
    M = np.empty((n_places, n_places)) if n_outputs == 1 else np.empty((0, 0))
    step, index = np.empty(n_places), np.empty(n_places, np.int64)
    new, change = np.empty((1, n_places)), np.empty(n_places)
    for _ in range(MAX_ROUNDS):
        sweeps(A, scales, W, G, starts, values, vectors, offsets, costs, SWEEPS, V, squares)
        if violations(W, G, starts, costs, scale)[1] <= tol:
            break
        if n_outputs > 1:
            continue
        for _ in range(NEWTON_STEPS):
            if not newton_step(A, W, G, starts, costs, M, step, index, new, change):
                break
            if violations(W, G, starts, costs, scale)[0] <= 0.3 * tol:
                break
        if violations(W, G, starts, costs, scale)[1] <= tol:
            break
