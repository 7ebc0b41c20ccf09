"""Newton's method in the nonzero entries, for the last digits of exclusive l2,1 problems.

Where no entry changes its sign, ||XW - Y||^2 + alpha ||W||_{2,1} + beta sum_j ||w_j||_1^2 is
smooth in the nonzero entries of W. Its Hessian is 2 X'X for every output, restricted to the
features that output uses, plus a small block per row,

    alpha / ||w_j|| (I - w_j w_j' / ||w_j||^2) + 2 beta s_j s_j',   s_j = sign(w_j),

which alone couples the outputs. The Newton equations are solved by conjugate gradients,
preconditioned by a Cholesky factor per output that carries everything but the coupling, and by a
factorisation of the whole matrix where such steps do not get to the end. A step
ends where it would carry an entry through zero: such entries become zero, and coordinate descent
decides whether they come back.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg import lapack

from ..._numba import PART, VIEWS, compiled
from ...penalties import ExclusiveL21, row_norms
from ...penalties._row_kernels import soften_jointly
from ..engines.conjugate_gradients import conjugate_gradients

# Relative accuracy of the Newton equations, and the most conjugate gradient steps spent on them.
CG_FORCING_TERM, CG_MAX_ITER = 0.4, 10
# Where more than this share of the entries is nonzero all outputs share one preconditioner.
DENSE_SHARE = 0.5
# After so many rough steps of little use the equations are solved exactly, if there
# are not too many of them. Copies and near copies of a column need it: how they share is decided
# by beta alone, in the direction of their rows, while all other directions are stiff.
INEXACT_STEPS, DIRECT_MAX_ENTRIES = 5, 3000
# Rows that have just come in may be as short as rounding, many copies of a column at a time. Their
# curvature 1 / ||w_j|| is taken as that of this share of the longest row: more of it would leave
# nothing of beta, and there would be no factor.
SHORT_ROW_SHARE = 1e-6


def newton_entries(
    gram: np.ndarray,
    correlation: np.ndarray,
    alpha: float,
    beta: float,
    W: np.ndarray,
    n_before: int = 0,
) -> np.ndarray:
    """Improve the nonzero entries of W, whose rows are all nonzero, by a Newton step.

    Parameters
    ----------
    gram : X'X of these features.
    correlation : X'Y of these features.
    alpha, beta : strengths of the penalty.
    W : current rows.
    n_before : how many steps before this one were of little use.

    Returns
    -------
    W : rows with an objective that is not higher; some entries may have become zero.
    """
    penalty = ExclusiveL21(alpha, beta)

    def value(V, product) -> float:
        """Objective up to the constant ||Y||^2."""
        return float(np.vdot(V, product - 2.0 * correlation)) + penalty.value(V)

    signs = np.sign(W)
    product = gram @ W
    start = value(W, product)
    gradient = 2.0 * (product - correlation)
    exact = n_before >= INEXACT_STEPS and int(np.count_nonzero(signs)) <= DIRECT_MAX_ENTRIES
    direction = _direction(gram, alpha, beta, W, signs, gradient, exact)
    length = 1.0
    while length > 0.02:
        trial = W + length * direction
        trial[trial * signs <= 0] = 0.0
        if value(trial, gram @ trial) < start:
            return trial
        length *= 0.4
    return W.copy()


def _direction(gram, alpha: float, beta: float, W, signs, loss_gradient, exact: bool):
    """Solve the Newton equations, roughly or exactly."""
    free = signs != 0
    norms = row_norms(W)[:, None]
    bend = alpha / np.maximum(norms, SHORT_ROW_SHARE * norms.max())
    unit = W / norms
    lengths = np.abs(W).sum(axis=1, keepdims=True)
    gradient = np.where(free, loss_gradient + alpha * unit + 2.0 * beta * lengths * signs, 0.0)

    # The small blocks, one per row, which also keep to the free entries.
    blocks = 2.0 * beta * signs[:, :, None] * signs[:, None, :]
    blocks -= (bend * unit)[:, :, None] * unit[:, None, :]
    diagonal = np.arange(W.shape[1])
    blocks[:, diagonal, diagonal] += bend * free
    if exact:
        step = _solve_newton(gram, blocks, free, -gradient)
        if step is not None:
            return step
    twice = 2.0 * free

    def hessian(V):
        product = gram @ V
        product *= twice
        product += np.matmul(blocks, V[:, :, None])[:, :, 0]
        return product

    factorise = _shared_inverse if free.mean() > DENSE_SHARE else _per_output
    solve = factorise(gram, bend[:, 0] + 2.0 * beta, free)
    step = conjugate_gradients(
        hessian, -gradient, solve, tol=CG_FORCING_TERM, max_steps=CG_MAX_ITER
    )
    return step if step.any() else solve(-gradient)


def _solve_newton(gram, blocks, free, right):
    """The Newton equations of few entries by Cholesky; None where rounding leaves no factor."""
    rows, outputs = np.nonzero(free)
    system = np.where(outputs[:, None] == outputs, 2.0 * gram[np.ix_(rows, rows)], 0.0)
    same = rows[:, None] == rows
    place, other = np.nonzero(same)
    system[place, other] += blocks[rows[place], outputs[place], outputs[other]]
    factor, info = lapack.dpotrf(system, lower=1, overwrite_a=1)
    if info:
        return None
    step = np.zeros_like(right)
    step[rows, outputs] = lapack.dpotrs(factor, right[rows, outputs], lower=1)[0]
    return step


def _shared_inverse(gram, diagonal, free):
    """The inverse of 2 X'X + diag(diagonal) for all outputs at once, cut down to free entries."""
    system = 2.0 * gram
    system[np.diag_indices_from(system)] += diagonal
    factor = lapack.dpotrf(system, lower=1, overwrite_a=1)[0]
    inverse = np.tril(lapack.dpotri(factor, lower=1)[0])
    inverse += np.tril(inverse, -1).T

    def solve(V):
        return np.where(free, inverse @ V, 0.0)

    return solve


def _per_output(gram, diagonal, free):
    """The inverse of 2 X'X + diag(diagonal) on the free entries of every output."""
    factors: dict[bytes, tuple] = {}
    for k in range(free.shape[1]):
        used = np.flatnonzero(free[:, k])
        key = used.tobytes()
        if key not in factors:  # outputs that use the same features share a factor
            system = 2.0 * gram[np.ix_(used, used)]
            system[np.diag_indices_from(system)] += diagonal[used]
            factors[key] = used, lapack.dpotrf(system, lower=1, overwrite_a=1)[0], []
        factors[key][2].append(k)

    def solve(V):
        out = np.zeros_like(V)
        for used, factor, outputs in factors.values():
            if len(used):
                block = np.ix_(used, outputs)
                out[block] = lapack.dpotrs(factor, V[block], lower=1)[0]
        return out

    return solve


@compiled(**VIEWS, nogil=True)
def fill_products(ends, samples, values, index, spread, found):
    """Write the products of the columns in every row of ``index`` into ``found``.

    ``spread`` is one number per sample, all zero before and after.
    """
    for g in range(index.shape[0]):
        for a in range(index.shape[1]):
            first, last = ends[index[g, a]], ends[index[g, a] + 1]
            for p in range(first, last):
                spread[samples[p]] = values[p]
            for b in range(a + 1):
                total = 0.0
                for p in range(ends[index[g, b]], ends[index[g, b] + 1]):
                    total += values[p] * spread[samples[p]]
                found[g, a, b] = total
                found[g, b, a] = total
            for p in range(first, last):
                spread[samples[p]] = 0.0


PENDING = 8  # changed rows whose effect on Q is written in one go
CHUNK = 512  # features written at a time: eight pieces of Gram rows stay in the first-level cache


@compiled(**VIEWS)
def gram_epochs(gram, W, Q, alpha, beta, n_epochs, v, rows, deltas):
    """Cyclic block coordinate descent for ||XW - Y||^2 + sum_j alpha ||w_j|| + beta ||w_j||_1^2.

    ``gram`` is X'X, ``W`` has one row per feature, and ``Q`` = (X'(Y - XW))' has one row per
    output, so that updates run over contiguous memory. W and Q are updated in place. A row
    that stays zero costs next to nothing. The effect of changed rows on Q is kept pending and
    written for eight of them together, because Q's traffic is what limits the speed. ``beta`` is
    None rather than 0: what it would need is then left out when this is compiled, which halves
    the time. Returns how many changes are still pending: to write them here too would compile
    that a second time.
    """
    n_rows, n_outputs = W.shape
    pending = 0
    for _ in range(n_epochs):
        for j in range(n_rows):
            a = gram[j, j]
            if a <= 0.0:
                continue
            length = 0.0
            square = 0.0
            for k in range(n_outputs):
                q = Q[k, j]
                for p in range(pending):
                    q -= deltas[p, k] * gram[rows[p], j]
                w = W[j, k]
                length += abs(w)
                w += q / a
                v[k] = w
                square += w * w
            threshold = 0.5 * alpha / a
            factor = 0.0
            if square > threshold * threshold:
                norm = sqrt(square)
                if beta is not None:
                    square = soften_jointly(v, norm, threshold, beta / a, beta * length / a)
                    norm = sqrt(square)
                if norm > threshold:
                    factor = 1.0 - threshold / norm
            elif length == 0.0:
                continue
            rows[pending] = j
            for k in range(n_outputs):
                w = v[k] * factor
                deltas[pending, k] = w - W[j, k]
                W[j, k] = w
            pending += 1
            if pending == PENDING:
                subtract_rows(gram, Q, rows, deltas)
                pending = 0
    return pending


@compiled(fastmath={"contract"}, **VIEWS)
def subtract_rows(gram, Q, rows, deltas):
    """Q -= deltas' gram[rows] for a multiple of eight rows.

    Whole rows and unsigned indices, which cannot count from the end, let the compiler see
    contiguous memory and vectorise.
    """
    n_outputs, n_rows = Q.shape
    for first in range(0, rows.shape[0], PENDING):
        r0, r1 = gram[rows[first]], gram[rows[first + 1]]
        r2, r3 = gram[rows[first + 2]], gram[rows[first + 3]]
        r4, r5 = gram[rows[first + 4]], gram[rows[first + 5]]
        r6, r7 = gram[rows[first + 6]], gram[rows[first + 7]]
        for start in range(0, n_rows, CHUNK):
            stop = start + CHUNK if start + CHUNK < n_rows else n_rows
            for k in range(n_outputs):
                d0, d1 = deltas[first, k], deltas[first + 1, k]
                d2, d3 = deltas[first + 2, k], deltas[first + 3, k]
                d4, d5 = deltas[first + 4, k], deltas[first + 5, k]
                d6, d7 = deltas[first + 6, k], deltas[first + 7, k]
                q = Q[k]
                for i in range(np.uintp(start), np.uintp(stop)):
                    q[i] -= (
                        d0 * r0[i]
                        + d1 * r1[i]
                        + d2 * r2[i]
                        + d3 * r3[i]
                        + d4 * r4[i]
                        + d5 * r5[i]
                        + d6 * r6[i]
                        + d7 * r7[i]
                    )


@compiled(fastmath={"contract", "reassoc"}, **VIEWS)
def cut_row_epochs(columns, norms, W, R, alpha, rows, n_epochs, v):
    """Cyclic block coordinate descent for ||XW - Y||^2 + alpha sum_j max_k |w_jk|.

    ``columns`` is X', ``norms`` the squares of its row norms, ``W`` has one row per feature and
    ``R`` = (Y - XW)' one row per output. Only ``rows`` of W are visited; W and R are updated in
    place.
    """
    n_outputs = W.shape[1]
    for _ in range(n_epochs):
        for place in range(rows.shape[0]):
            j = rows[place]
            a = norms[j]
            if a <= 0.0:
                continue
            x = columns[j]
            for k in range(n_outputs):
                r = R[k]
                q = 0.0
                for i in range(x.shape[0]):
                    q += x[i] * r[i]
                v[k] = W[j, k] + q / a
            level = cut_level(v, 0.5 * alpha / a)
            for k in range(n_outputs):
                delta = min(max(v[k], -level), level) - W[j, k]
                if delta != 0.0:
                    W[j, k] += delta
                    r = R[k]
                    for i in range(x.shape[0]):
                        r[i] -= delta * x[i]


@compiled(**PART, **VIEWS)
def cut_level(v, t):
    """The level at which cutting the magnitudes of v takes t off their sum; 0 if all of it.

    With those above the level cut, it is (their sum - t) / their number. Beginning with all of
    them the level rises and fewer stay above it, until their number no longer changes.
    """
    total, count = 0.0, v.shape[0]
    for k in range(count):
        total += abs(v[k])
    if total <= t:
        return 0.0
    while True:
        level = (total - t) / count
        total, left = 0.0, 0
        for k in range(v.shape[0]):
            if abs(v[k]) > level:
                total += abs(v[k])
                left += 1
        if left == 0 or left >= count:  # more of them only by rounding
            return level
        count = left
