"""Compiled block coordinate descent on the Gram matrix of a working set."""

import numpy as np
from numba import njit

from ..penalties._row_kernels import shrink_row

PENDING = 8  # changed rows whose effect on Q is written in one go
CHUNK = 512  # features written at a time: eight pieces of Gram rows stay in the first-level cache


@njit(cache=True)
def gram_epochs(gram, W, Q, alpha, beta, n_epochs):
    """Cyclic block coordinate descent for ||XW - Y||^2 + sum_j alpha ||w_j|| + beta ||w_j||_1^2.

    ``gram`` is X'X, ``W`` has one row per feature, and ``Q`` = (X'(Y - XW))' has one row per
    output, so that updates run over contiguous memory. W and Q are updated in place. A row
    that stays zero costs next to nothing. The effect of changed rows on Q is kept pending and
    written for eight of them together, because Q's traffic is what limits the speed.
    """
    n_rows, n_outputs = W.shape
    v = np.empty(n_outputs)
    new = np.empty(n_outputs)
    scratch = np.empty(n_outputs)
    rows = np.zeros(PENDING, dtype=np.int64)
    deltas = np.zeros((PENDING, n_outputs))
    pending = 0
    for _ in range(n_epochs):
        for j in range(n_rows):
            a = gram[j, j]
            if a <= 0.0:
                continue
            was_zero = True
            square = 0.0
            for k in range(n_outputs):
                q = Q[k, j]
                for p in range(pending):
                    q -= deltas[p, k] * gram[rows[p], j]
                w = W[j, k]
                if w != 0.0:
                    was_zero = False
                v[k] = w + q / a
                square += v[k] * v[k]
            threshold = 0.5 * alpha / a
            if was_zero and square <= threshold * threshold:
                continue
            shrink_row(v, threshold, 0.5 * beta / a, scratch, new)
            rows[pending] = j
            for k in range(n_outputs):
                deltas[pending, k] = new[k] - W[j, k]
                W[j, k] = new[k]
            pending += 1
            if pending == PENDING:
                _write(gram, Q, rows, deltas)
                pending = 0
    if pending:
        deltas[pending:] = 0.0
        _write(gram, Q, rows, deltas)


@njit(cache=True)
def subtract_rows(gram, Q, rows, deltas):
    """Q -= deltas' gram[rows] for any number of rows."""
    some = np.zeros(PENDING, dtype=np.int64)
    block = np.zeros((PENDING, deltas.shape[1]))
    for start in range(0, rows.shape[0], PENDING):
        count = min(PENDING, rows.shape[0] - start)
        some[:count] = rows[start : start + count]
        block[:count] = deltas[start : start + count]
        block[count:] = 0.0
        _write(gram, Q, some, block)


@njit(cache=True, fastmath={"contract"})
def _write(gram, Q, rows, deltas):
    """Q -= deltas' gram[rows], eight rows at once (slices let the compiler vectorise)."""
    n_outputs, n_rows = Q.shape
    for start in range(0, n_rows, CHUNK):
        piece = slice(start, min(start + CHUNK, n_rows))
        r0, r1 = gram[rows[0], piece], gram[rows[1], piece]
        r2, r3 = gram[rows[2], piece], gram[rows[3], piece]
        r4, r5 = gram[rows[4], piece], gram[rows[5], piece]
        r6, r7 = gram[rows[6], piece], gram[rows[7], piece]
        for k in range(n_outputs):
            d0, d1, d2, d3 = deltas[0, k], deltas[1, k], deltas[2, k], deltas[3, k]
            d4, d5, d6, d7 = deltas[4, k], deltas[5, k], deltas[6, k], deltas[7, k]
            q = Q[k, piece]
            for i in range(q.shape[0]):
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
