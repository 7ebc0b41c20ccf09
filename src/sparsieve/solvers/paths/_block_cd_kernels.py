"""Compiled sweeps of block coordinate descent over rows.

Compiled block coordinate descent on the Gram matrix of a working set.

Scratch space is handed in: allocating it here would double the time to compile.

Inner products of sparse columns within groups.

Compiled block coordinate descent for the l1,inf norm, on the residual.

Scratch space is handed in: allocating it here would double the time to compile.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..._numba import PART, VIEWS, compiled
from ...penalties._row_kernels import soften_jointly


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
