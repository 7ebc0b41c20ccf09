"""Compiled pass over the rows of W in the augmented Lagrangian method.

Plain loops over scalars: array expressions would be shorter but take several times as long to
compile.
"""

from ..._numba import PART, VIEWS, compiled


@compiled(**PART, **VIEWS)
def _new_row(target, curvature, alpha):
    """Replace ``target`` by the minimiser of curvature/2 ||w||^2 - <target, w> + alpha ||w||."""
    square = 0.0
    for k in range(target.shape[0]):
        square += target[k] * target[k]
    norm = square**0.5
    factor = (1.0 - alpha / norm) / curvature if norm > alpha else 0.0
    for k in range(target.shape[0]):
        target[k] *= factor


@compiled(**VIEWS)
def residual_pass(X, norms, R, W, linear, alpha, nu, row):
    """One pass with the residual R = (Y - XW)', as published."""
    n_samples = X.shape[0]
    n_outputs = W.shape[1]
    for j in range(W.shape[0]):
        for k in range(n_outputs):
            inner = norms[j] * W[j, k]
            for i in range(n_samples):
                inner += X[i, j] * R[k, i]
            row[k] = 2.0 * inner + linear[j, k]
        _new_row(row, 2.0 * norms[j] + nu, alpha)
        for k in range(n_outputs):
            delta = row[k] - W[j, k]
            if delta != 0.0:
                W[j, k] = row[k]
                for i in range(n_samples):
                    R[k, i] -= delta * X[i, j]
