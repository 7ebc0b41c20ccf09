"""Compiled block coordinate descent for the l1,inf norm, on the residual.

Scratch space is handed in: allocating it here would double the time to compile.
"""

from ..._numba import PART, VIEWS, compiled


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
