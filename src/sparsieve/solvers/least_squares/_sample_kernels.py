"""Compiled block coordinate descent on the residual.

Scratch space is handed in: allocating it here would double the time to compile.
"""

from ..._compiled import compiled
from ...penalties._row_kernels import shrink_row


@compiled(fastmath={"contract", "reassoc"})
def sample_epochs(columns, norms, W, R, alpha, beta, rows, n_epochs, enough, v):
    """Cyclic block coordinate descent for ||XW - Y||^2 + sum_j alpha ||w_j|| + beta ||w_j||_1^2.

    ``columns`` is X', ``norms`` the squares of its row norms, ``W`` has one row per feature and
    ``R`` = (Y - XW)' one row per output. Only ``rows`` of W are visited; W and R are updated in
    place. Ends early when an epoch gains less than ``enough``; returns the number of epochs.
    """
    n_outputs = W.shape[1]
    for epoch in range(n_epochs):
        gained = 0.0  # at least: a row's new value minimises a function of curvature 2a
        for place in range(rows.shape[0]):
            j = rows[place]
            a = norms[j]
            if a <= 0.0:
                continue
            x = columns[j]
            length = 0.0
            square = 0.0
            for k in range(n_outputs):
                r = R[k]
                q = 0.0
                for i in range(x.shape[0]):
                    q += x[i] * r[i]
                w = W[j, k]
                length += abs(w)
                v[k] = w + q / a
                square += v[k] * v[k]
            threshold = 0.5 * alpha / a
            if length == 0.0 and square <= threshold * threshold:
                continue
            shrink_row(v, threshold, 0.5 * beta / a, beta * length / a)
            for k in range(n_outputs):
                delta = v[k] - W[j, k]
                if delta != 0.0:
                    gained += a * delta * delta
                    W[j, k] = v[k]
                    r = R[k]
                    for i in range(x.shape[0]):
                        r[i] -= delta * x[i]
        if gained < enough:
            return epoch + 1
    return n_epochs
