"""A penalised likelihood on a working set, for one strength, in one call.

``proximal_newton`` is compiled for losses that have compiled functions, and run as it stands, with
the methods of a loss in the place of these functions, for all others (``newton_set``): so it has no
loops over numbers of its own.
"""

from math import inf, log

import numpy as np

from ..._numba import PART, VIEWS, compiled
from ..losses._loss_kernels import cox_rows, dual_value
from ..losses._loss_kernels import evaluate as evaluate_loss
from ..losses.base import COX
from ..losses.cox import CANCELLED
from ._quadratic_kernels import FAST_MATH, factorise, minimise, norm, solve_factorised

# Of the relative gap on the working set: how well the quadratic model of one step is solved.
MODEL_SHARE = 0.03
# Blocks at zero are in the model of a step from this share of the slope on at which they enter.
MODEL_MARGIN = 0.98
# A step that leaves more than this share of the gap calls for a new Hessian, whatever that costs.
KEEP_SHARE = 0.7
# Of the objective: what rounding may add to it.
ROUNDING = 1e-14
# A step that leaves more than this share of the gap makes no progress; so many end the descent.
SLOW_SHARE, MAX_SLOW = 0.9, 12
MAX_HALVINGS = 40
# Newton steps for the columns without penalty, and the share of the sum of the absolute terms of a
# gradient that rounding leaves of it.
MAX_FREE_STEPS, FREE_TOL = 100, 1e-12

# Predictors change by no more than this in one step, or than twice the largest of them: where a
# loss is all but flat Newton's step would lead to nowhere.
MAX_CHANGE = 100.0

# Places of ``Kept.counts``.
BLOCKS, ROWS, VALID = range(3)
# What came of a descent: it is at its end; there is no room for the Hessian; the loss cannot be
# evaluated by compiled code.
DONE, NO_ROOM, BEYOND = range(3)


@compiled()
def proximal_newton(
    loss, X, starts, weights, alpha, share, least,
    max_steps, W, F, gradient, norms, strengths, line_W, line_F, kept,
):  # fmt: skip
    """Minimise L(X'W) + alpha sum_b weights_b ||W_b|| from W, or line_W where that is lower.

    Parameters
    ----------
    loss : CompiledLoss, or what answers the same questions
    X : a row per column of the working set, those without penalty first.
    starts, weights : where blocks of rows begin, and the factors of their norms; the first block
        has none if there are free columns.
    share, least : stop where the gap is at most this share of the objective, or of what it is above
        the least loss.
    W, F, gradient : coefficients, predictors X'W, and the gradient of the loss, all in place.
    norms, strengths : ||W_b||, and the strength at which every block would enter, in place.
    kept : Kept, a Hessian that may be of other predictors.

    Returns what came of it, the objective, the gap and the number of steps.
    """
    n_free = starts[1] if weights[0] == 0.0 else 0
    value = evaluate(loss, loss.here, F, gradient)
    if len(line_W):
        there = evaluate(loss, loss.here, line_F, gradient)
        if there + penalty(line_W, starts, weights, alpha) < value + penalty(
            W, starts, weights, alpha
        ):
            copy(W, line_W)
            copy(F, line_F)
        value = evaluate(loss, loss.here, F, gradient)
    if n_free:
        value = settle(loss, X, n_free, W, F, gradient, value)
    steps, slow, best, before = 0, 0, inf, inf
    change, new_W = np.empty_like(W), np.empty_like(W)
    new_F, new_gradient = np.empty_like(F), np.empty_like(F)
    while True:
        slopes = np.dot(X, gradient)
        price, largest = judge(W, slopes, starts, weights, norms, strengths)
        price *= alpha
        total = value + price
        gap = total - bound(loss, loss.here, F, min(1.0, alpha / max(largest, alpha)))
        size = max(abs(total), total - least)
        slow = slow + 1 if gap > SLOW_SHARE * best else 0
        if value != value:
            return BEYOND, total, gap, steps
        if not gap > share * size or slow > MAX_SLOW or steps >= max_steps:
            return DONE, total, gap, steps
        if kept.counts[VALID] and before < inf and outdated(gap, before, share * size, X, kept):
            kept.counts[VALID] = 0
        best, before = min(best, gap), gap
        fresh = kept.counts[VALID] == 0
        if fresh:
            evaluate(loss, loss.kept, F, new_gradient)
            clear(kept)
        old = kept.counts[ROWS]
        count = take(W, slopes, starts, weights, alpha, kept)
        if count * W.shape[1] > len(kept.A):
            kept.counts[VALID] = 0
            return NO_ROOM, total, gap, steps
        if count > old:
            put(cross_hessian(loss, loss.kept, X, kept.rows[:count], old), kept)
        tol = max(MODEL_SHARE * gap / size, ROUNDING)
        # No block of the model violates its optimality condition by more than a share of its cost.
        w, g, costs = gathered(W, slopes, weights, alpha, kept)
        minimise(
            kept.A, np.ones(1), w, g, kept.starts, kept.values, kept.vectors, kept.offsets,
            costs, alpha, tol,
        )  # fmt: skip
        slope = scatter(w, W, slopes, kept, change)
        moved = np.dot(X.T, change)
        promised = slope + penalty_after(W, change, starts, weights, alpha) - price
        length, accepted = first_length(F, moved), False
        for _ in range(MAX_HALVINGS):
            along(W, length, change, new_W)
            along(F, length, moved, new_F)
            there = evaluate(loss, loss.here, new_F, new_gradient)
            limit = total + 1e-4 * length * min(promised, 0.0) + ROUNDING * abs(total)
            if there != there:
                return BEYOND, total, gap, steps
            if there + penalty(new_W, starts, weights, alpha) <= limit:
                accepted = True
                break
            length *= 0.5
        if not accepted:
            evaluate(loss, loss.here, F, gradient)
            if fresh:  # rounding is all that is left
                return DONE, total, gap, steps
            kept.counts[VALID] = 0
            continue
        copy(W, new_W)
        copy(F, new_F)
        copy(gradient, new_gradient)
        value = there
        if n_free:
            value = settle(loss, X, n_free, W, F, gradient, value)
        steps += 1


# -- the loss ------------------------------------------------------------------------------------


@compiled()
def evaluate(loss, state, F, gradient):
    """The loss at F, and its gradient in place; what else is known there goes into ``state``."""
    copy(state.f, F.reshape(-1))
    samples = state.samples
    value = evaluate_loss(loss.given, state.f, samples[0], samples[1], samples[2], state.terms)
    copy(gradient.reshape(-1), samples[0])
    return value


@compiled()
def bound(loss, state, F, t):
    """The value of the dual point -t times the gradient at F, which was evaluated last."""
    return dual_value(loss.given, state.f, t, state.samples[2])


@compiled(**PART)
def hessian_rows(loss, state, V):
    """The product of the Hessian with every row of V."""
    out = np.empty_like(V)
    if loss.given[0] == COX:
        cox_rows(loss.given, state.f, V, state.samples, state.terms, out)
        return out
    for k in range(len(V)):
        for i in range(V.shape[1]):
            out[k, i] = state.samples[1, i] * V[k, i]
    return out


@compiled(**PART)
def cross_hessian(loss, state, X, rows, first):
    """X_a'HX_b for all of these rows of X and for those from the first on.

    No diagonal entry of Cox is less than what rounding may have left of it.
    """
    new = X[rows[first:]]
    found = np.dot(X[rows], hessian_rows(loss, state, new).T)
    if loss.given[0] == COX:
        h, total = state.samples[1], 0.0
        for i in range(len(h)):
            total += h[i]
        for j in range(len(new)):
            mean, square = 0.0, 0.0
            for i in range(len(h)):
                mean += h[i] * new[j, i]
            for i in range(len(h)):
                square += h[i] * (new[j, i] - mean / total) ** 2
            found[first + j, j] += CANCELLED * square
    return found


@compiled(**PART)
def settle(loss, X, n_free, W, F, gradient, value):
    """Newton's method on the first rows of X alone, in place; the loss that it leads to."""
    Z, n = X[:n_free], len(F)
    step, new_F, new_gradient = np.empty(n_free), np.empty_like(F), np.empty_like(gradient)
    for _ in range(MAX_FREE_STEPS):
        off = False
        for j in range(n_free):
            slope, size = 0.0, 0.0
            for i in range(n):
                term = Z[j, i] * gradient[i, 0]
                slope += term
                size += abs(term)
            step[j] = -slope
            off = off or abs(slope) > FREE_TOL * size
        if not off:
            break
        M, promised = np.dot(Z, hessian_rows(loss, loss.here, Z).T), 0.0
        slopes = step.copy()
        factorise(M, n_free)
        solve_factorised(M, n_free, step)
        moved = np.zeros_like(F)
        for j in range(n_free):
            promised -= slopes[j] * step[j]
            for i in range(n):
                moved[i, 0] += step[j] * Z[j, i]
        length, accepted, there = first_length(F, moved), False, value
        slack = 1e-15 * abs(value) * n**0.5
        for _ in range(MAX_HALVINGS):
            along(F, length, moved, new_F)
            there = evaluate(loss, loss.here, new_F, new_gradient)
            if there <= value + 1e-4 * length * promised + slack:
                accepted = True
                break
            length *= 0.5
        if not accepted:
            evaluate(loss, loss.here, F, gradient)
            break
        for j in range(n_free):
            W[j, 0] += length * step[j]
        copy(F, new_F)
        copy(gradient, new_gradient)
        value = there
    return value


# -- plain numbers -------------------------------------------------------------------------------


@compiled(**VIEWS)
def copy(target, source):
    """Write source into target, both of any shape."""
    target, source = target.reshape(-1), source.reshape(-1)
    for i in range(len(target)):
        target[i] = source[i]


@compiled(**VIEWS)
def along(start, length, step, out):
    """The sum of start and length times step, in place."""
    start, step, out = start.reshape(-1), step.reshape(-1), out.reshape(-1)
    for i in range(len(start)):
        out[i] = start[i] + length * step[i]


@compiled(**VIEWS)
def first_length(F, moved):
    """1, or less where the loss is all but flat."""
    F, moved = F.reshape(-1), moved.reshape(-1)
    far, longest = MAX_CHANGE, 0.0
    for i in range(len(F)):
        far, longest = max(far, 2.0 * abs(F[i])), max(longest, abs(moved[i]))
    return 1.0 if longest <= far else far / longest


@compiled(**VIEWS, **FAST_MATH)
def penalty(W, starts, weights, alpha):
    """The sum of weights_b ||W_b||, times alpha."""
    price = 0.0
    for b in range(len(weights)):
        price += weights[b] * norm(W[starts[b] : starts[b + 1]])
    return alpha * price


@compiled(**VIEWS, **FAST_MATH)
def penalty_after(W, change, starts, weights, alpha):
    """The penalty of W + change."""
    price = 0.0
    for b in range(len(weights)):
        square = 0.0
        for i in range(starts[b], starts[b + 1]):
            for k in range(W.shape[1]):
                square += (W[i, k] + change[i, k]) ** 2
        price += weights[b] * square**0.5
    return alpha * price


@compiled(**VIEWS, **FAST_MATH)
def judge(W, slopes, starts, weights, norms, strengths):
    """Norms and strengths, in place; the sum of weighted norms, and the largest strength."""
    price, largest = 0.0, 0.0
    for b in range(len(weights)):
        norms[b], strengths[b] = norm(W[starts[b] : starts[b + 1]]), 0.0
        price += weights[b] * norms[b]
        if weights[b] > 0.0:
            strengths[b] = norm(slopes[starts[b] : starts[b + 1]]) / weights[b]
            largest = max(largest, strengths[b])
    return price, largest


# -- the Hessian ---------------------------------------------------------------------------------


@compiled()
def outdated(gap, before, goal, X, kept):
    """Whether steps with this Hessian would take longer than those with a new one, and making it.

    A step with a new one is expected to do; counted are multiplications.
    """
    rate = gap / before
    if rate >= KEEP_SHARE:
        return True
    n_steps = max(log(gap / goal) / -log(rate), 1.0)
    size = float(kept.starts[kept.counts[BLOCKS]])
    step = size**3 + 4.0 * X.size
    return (n_steps - 1.0) * step > size * X.shape[1] * (size + 20.0)


@compiled(**VIEWS)
def clear(kept):
    """Begin a new Hessian."""
    for b in range(len(kept.known)):
        kept.known[b] = False
    kept.counts[BLOCKS], kept.counts[ROWS], kept.counts[VALID] = 0, 0, 1


@compiled(**VIEWS, **FAST_MATH)
def take(W, slopes, starts, weights, alpha, kept):
    """Take in blocks that have weight or no cost, or are about to enter; the number of rows."""
    n_blocks, n_rows, m = kept.counts[BLOCKS], kept.counts[ROWS], W.shape[1]
    for b in range(len(weights)):
        first, last, cost = starts[b], starts[b + 1], alpha * weights[b]
        if kept.known[b]:
            continue
        weighted = cost == 0.0 or norm(W[first:last]) > 0.0
        if weighted or norm(slopes[first:last]) > MODEL_MARGIN * cost:
            size = (last - first) * m
            kept.known[b], kept.blocks[n_blocks] = True, b
            kept.starts[n_blocks + 1] = kept.starts[n_blocks] + size
            kept.offsets[n_blocks + 1] = kept.offsets[n_blocks] + size * size
            n_blocks += 1
            for i in range(first, last):
                kept.rows[n_rows] = i
                n_rows += 1
    kept.counts[BLOCKS], kept.counts[ROWS] = n_blocks, n_rows
    return n_rows


@compiled()
def put(cross, kept):
    """Write the last columns of the Hessian into A, and the spectra of their blocks."""
    A, size, width = kept.A, cross.shape[0], cross.shape[1]
    first = size - width
    for i in range(size):
        for j in range(width):
            A[i, first + j] = cross[i, j]
            A[first + j, i] = cross[i, j]
    for i in range(width):
        for j in range(i):
            mean = 0.5 * (cross[first + i, j] + cross[first + j, i])
            A[first + i, first + j] = mean
            A[first + j, first + i] = mean
    b = kept.counts[BLOCKS]
    while b > 0 and kept.starts[b - 1] >= first:
        b -= 1
    for block in range(b, kept.counts[BLOCKS]):
        low, high, at = kept.starts[block], kept.starts[block + 1], kept.offsets[block]
        p = high - low
        if p == 1:
            kept.values[low], kept.vectors[at] = A[low, low], 1.0
            continue
        own = np.empty((p, p))
        for i in range(p):
            for j in range(p):
                own[i, j] = A[low + i, low + j]
        values, vectors = np.linalg.eigh(own)
        for i in range(p):
            kept.values[low + i] = max(values[i], 0.0)
            for j in range(p):
                kept.vectors[at + i * p + j] = vectors[j, i]


@compiled()
def gathered(W, slopes, weights, alpha, kept):
    """Coefficients and slopes of the places of the Hessian, and the costs of its blocks."""
    m, n_blocks, n_rows = W.shape[1], kept.counts[BLOCKS], kept.counts[ROWS]
    w, g, costs = np.empty((1, n_rows * m)), np.empty((1, n_rows * m)), np.empty(n_blocks)
    for b in range(n_blocks):
        costs[b] = alpha * weights[kept.blocks[b]]
    for i in range(n_rows):
        for k in range(m):
            w[0, i * m + k] = W[kept.rows[i], k]
            g[0, i * m + k] = slopes[kept.rows[i], k]
    return w, g, costs


@compiled(**VIEWS)
def scatter(w, W, slopes, kept, change):
    """Write w less W into ``change``; the slope of the loss along it."""
    m, slope = W.shape[1], 0.0
    for i in range(len(W)):
        for k in range(m):
            change[i, k] = 0.0
    for i in range(kept.counts[ROWS]):
        for k in range(m):
            change[kept.rows[i], k] = w[0, i * m + k] - W[kept.rows[i], k]
            slope += slopes[kept.rows[i], k] * change[kept.rows[i], k]
    return slope
