"""Compiled block coordinate descent over groups of rows, on the Gram matrix of a working set."""

from math import sqrt

from ..._numba import VIEWS, compiled


@compiled(**VIEWS)
def block_norm(values, squares, half):
    """The norm t of the minimiser of ||XW - R||^2 + 2 half ||W|| over one group.

    In the eigenvectors of X'X it is b_i t / (values_i t + half) with the squares ||b_i||^2 of X'R,
    so that t solves sum_i squares_i / (values_i t + half)^2 = 1. Newton's method on the inverse
    root of that sum, which is close to linear, comes from below.
    """
    t = 0.0
    for _ in range(50):
        total, slope = 0.0, 0.0
        for i in range(len(values)):
            below = values[i] * t + half
            term = squares[i] / (below * below)
            total += term
            slope += term * values[i] / below
        if slope <= 0.0:
            return t
        step = total * (1.0 - 1.0 / sqrt(total)) / slope
        t += step
        if abs(step) <= 1e-15 * t:
            break
    return max(t, 0.0)


@compiled(**VIEWS)
def group_epochs(gram, W, Q, starts, halves, values, vectors, n_epochs, b, along, squares):
    """Minimise over every group in turn, so many times; W and Q = X'(Y - XW) are kept up to date.

    ``values`` are eigenvalues of the blocks of the Gram matrix, one group after the other;
    ``vectors`` has the eigenvectors of a group in its rows, as the first columns. ``b``, ``along``
    and ``squares`` are scratch space.
    """
    n_rows, n_outputs = W.shape
    for _ in range(n_epochs):
        for g in range(len(starts) - 1):
            low, high = starts[g], starts[g + 1]
            half, used, length = halves[g], False, 0.0
            for i in range(low, high):
                for k in range(n_outputs):
                    used = used or W[i, k] != 0.0
                    b[i - low, k] = Q[i, k]
            if used:
                for i in range(low, high):
                    for j in range(low, high):
                        for k in range(n_outputs):
                            b[i - low, k] += gram[i, j] * W[j, k]
            for i in range(high - low):
                for k in range(n_outputs):
                    length += b[i, k] * b[i, k]
            zero = sqrt(length) <= half
            if zero and not used:
                continue
            if zero:
                for i in range(low, high):
                    for k in range(n_outputs):
                        b[i - low, k] = -W[i, k]
                        W[i, k] = 0.0
            else:
                for m in range(high - low):
                    squares[m] = 0.0
                    for k in range(n_outputs):
                        total = 0.0
                        for i in range(high - low):
                            total += vectors[low + i, m] * b[i, k]
                        along[m, k] = total
                        squares[m] += total * total
                t = block_norm(values[low:high], squares[: high - low], half)
                for m in range(high - low):
                    for k in range(n_outputs):
                        along[m, k] *= t / (values[low + m] * t + half)
                for i in range(high - low):
                    for k in range(n_outputs):
                        total = 0.0
                        for m in range(high - low):
                            total += vectors[low + i, m] * along[m, k]
                        b[i, k] = total - W[low + i, k]
                        W[low + i, k] = total
            for i in range(high - low):
                for k in range(n_outputs):
                    delta = b[i, k]
                    if delta != 0.0:
                        for r in range(n_rows):
                            Q[r, k] -= gram[low + i, r] * delta
