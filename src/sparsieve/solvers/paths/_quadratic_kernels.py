"""Compiled sweeps and Newton's equations of a quadratic model with a norm per block.

:mod:`.quadratic_model` describes it.
"""

from math import sqrt

from ..._numba import PART, VIEWS, compiled

FAST_MATH = {"fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}
# Directions whose curvature is below this share of the largest of a block are flat.
FLAT = 1e-12
# Newton steps for the norm of a block, and the share of it by which the last one may be off.
MAX_ROOT_STEPS, ROOT_TOL = 50, 1e-13


@compiled(**VIEWS, **FAST_MATH)
def sweeps(A, w, g, values, costs, scale, n_sweeps):
    """Minimise over one place after the other, where blocks are single places of one output.

    Places at zero come in the first and last sweep only. Returns the largest violation of an
    optimality condition, as a share of the cost: of places with weight or without cost, and of all.
    """
    for sweep in range(n_sweeps):
        moved = False
        for i in range(len(w)):
            here, cost = w[i], costs[i]
            if (0 < sweep < n_sweeps - 1 and here == 0.0 and cost > 0.0) or values[i] <= 0.0:
                continue
            pull = values[i] * here - g[i]
            new = 0.0
            if pull > cost:
                new = (pull - cost) / values[i]
            elif pull < -cost:
                new = (pull + cost) / values[i]
            change = new - here
            if change != 0.0:
                moved, w[i], row = True, new, A[i]
                for j in range(len(g)):
                    g[j] += change * row[j]
        if not moved:
            break
    worst, entering = 0.0, 0.0
    for i in range(len(w)):
        cost = costs[i]
        if w[i] == 0.0 and cost > 0.0:
            off = abs(g[i]) / cost - 1.0
            entering = off if off > entering else entering
        else:
            off = abs(g[i] + cost if w[i] > 0.0 else g[i] - cost) / (cost if cost > 0.0 else scale)
            worst = off if off > worst else worst
    return worst, worst if worst > entering else entering


@compiled(**VIEWS, **FAST_MATH)
def solve_at(A, places, x, L):
    """Solve with the part of A at some places, in place of x, by Cholesky's method.

    L is space for a row more than there are places. Its diagonal is inverted, and 0 where other
    places, as of copies, can do the same.
    """
    k = len(places)
    for i in range(k + 1):
        own = L[i]
        for j in range(min(i + 1, k)):
            other, rest = L[j], A[places[i], places[j]] if i < k else x[j]
            for m in range(j):
                rest -= own[m] * other[m]
            if j < i:
                own[j] = rest * other[j]
            else:
                own[i] = 1.0 / sqrt(rest) if rest > FLAT * A[places[i], places[i]] else 0.0
    for i in range(k - 1, -1, -1):
        x[i] = L[k, i] * L[i, i]
        for m in range(i):
            L[k, m] -= L[i, m] * x[i]


@compiled(**VIEWS, **FAST_MATH)
def judge(W, slopes, starts, weights, margin, norms, strengths, wanted):
    """||W_b||, the strength at which every block enters, and which ones a model is to have.

    In place; returns the sum of weighted norms and the largest strength.
    """
    price, largest = 0.0, 0.0
    for b in range(len(weights)):
        square, slope, weight = 0.0, 0.0, weights[b]
        for i in range(starts[b], starts[b + 1]):
            for k in range(W.shape[1]):
                square += W[i, k] * W[i, k]
                slope += slopes[i, k] * slopes[i, k]
        norms[b], strengths[b] = sqrt(square), 0.0
        if weight > 0.0:
            price += weight * norms[b]
            strengths[b] = sqrt(slope) / weight
            largest = strengths[b] if strengths[b] > largest else largest
            wanted[b] = square > 0.0 or strengths[b] > margin
    return price, largest


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


@compiled(**VIEWS, **FAST_MATH)
def block_sweeps(A, scales, W, G, starts, values, vectors, offsets, costs, n_sweeps, V, squares):
    """Minimise over one block after the other; blocks at zero in the first and last sweep only.

    ``V`` and ``squares`` are space for two numbers and one per output and place of a block.
    """
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
