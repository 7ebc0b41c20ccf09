"""Compiled search for the best addition to a support and the best exchange, in one pass."""

import numpy as np

from ..._compiled import compiled

BLOCK = 256  # features worked on together: their scratch stays in the first-level cache


@compiled(error_model="numpy")
def best_changes(C, Z, nu, spent, is_open, places, W, h, costs, ridge):
    """Best feature to add, and best exchange of an open feature for one of ``places``.

    ``C`` is X'R, column k of ``Z`` the coefficients z_ik; ``W``, ``h`` and ``costs`` hold w_j,
    h_jj and ||w_j||^2 / h_jj of the features at ``places`` (columns of Z). Returns (feature,
    gain, feature that enters, index into places, decrease).
    """
    n_features, n_outputs = C.shape
    n_places = places.shape[0]
    squares = np.empty(BLOCK)
    inner = np.empty((n_places, BLOCK))
    lengths = np.empty(n_places)
    for p in range(n_places):
        total = 0.0
        for k in range(n_outputs):
            total += W[p, k] * W[p, k]
        lengths[p] = total
    best_add = -1
    best_gain = 0.0
    best_in = -1
    best_out = -1
    best_decrease = -np.inf
    for start in range(0, n_features, BLOCK):
        size = min(BLOCK, n_features - start)
        squares[:] = 0.0
        inner[:] = 0.0
        for k in range(n_outputs):
            column = C[start : start + size, k]
            for i in range(size):
                squares[i] += column[i] * column[i]
            for p in range(n_places):
                weight = W[p, k]
                row = inner[p]
                for i in range(size):
                    row[i] += column[i] * weight
        for i in range(size):
            f = start + i
            if is_open[f] and nu[f] > spent[f]:
                gain = squares[i] / (nu[f] + ridge)
                if gain > best_gain:
                    best_gain = gain
                    best_add = f
        for p in range(n_places):
            column = Z[start : start + size, places[p]]
            row = inner[p]
            scale = 1.0 / h[p]
            length = lengths[p]
            cost = costs[p]
            for i in range(size):
                f = start + i
                z = column[i] * scale
                left = nu[f] + z * z * h[p]
                decrease = (squares[i] + z * (2.0 * row[i] + z * length)) / (left + ridge) - cost
                if decrease > best_decrease and is_open[f] and left > spent[f]:
                    best_decrease = decrease
                    best_in = f
                    best_out = p
    return best_add, best_gain, best_in, best_out, best_decrease
