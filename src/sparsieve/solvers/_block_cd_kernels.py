"""Compiled block coordinate descent on the Gram matrix of a working set."""

import numpy as np
from numba import njit

from ..penalties._row_kernels import shrink_row


@njit(cache=True)
def gram_epochs(gram, W, Q, alpha, beta, n_epochs):
    """Cyclic block coordinate descent for ||XW - Y||^2 + sum_j alpha ||w_j|| + beta ||w_j||_1^2.

    ``gram`` is X'X, ``W`` has one row per feature, and ``Q`` = (X'(Y - XW))' has one row per
    output, so that the update after a changed row runs over contiguous memory. Both are
    updated in place. A row that stays zero costs only its own length.
    """
    n_rows, n_outputs = W.shape
    v = np.empty(n_outputs)
    new = np.empty(n_outputs)
    scratch = np.empty(n_outputs)
    for _ in range(n_epochs):
        for j in range(n_rows):
            a = gram[j, j]
            if a <= 0.0:
                continue
            was_zero = True
            square = 0.0
            for k in range(n_outputs):
                w = W[j, k]
                if w != 0.0:
                    was_zero = False
                v[k] = w + Q[k, j] / a
                square += v[k] * v[k]
            threshold = 0.5 * alpha / a
            if was_zero and square <= threshold * threshold:
                continue
            shrink_row(v, threshold, 0.5 * beta / a, scratch, new)
            for k in range(n_outputs):
                delta = new[k] - W[j, k]
                if delta != 0.0:
                    W[j, k] = new[k]
                    for i in range(n_rows):
                        Q[k, i] -= delta * gram[j, i]
