"""Compiled block coordinate descent on the Gram matrix of a working set.

Scratch space is handed in: allocating it here would double the time to compile.
"""

from math import sqrt

import numpy as np

from ..._numba import VIEWS, compiled
from ...penalties._row_kernels import soften_jointly

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
