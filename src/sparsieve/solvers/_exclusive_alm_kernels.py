"""Compiled passes over the rows of W in the augmented Lagrangian method."""

import numpy as np
from numba import njit


@njit(cache=True)
def _new_row(target, curvature, alpha, new):
    """Minimise curvature/2 ||w||^2 - <target, w> + alpha ||w|| into ``new``."""
    square = 0.0
    for k in range(target.shape[0]):
        square += target[k] * target[k]
    norm = np.sqrt(square)
    factor = (1.0 - alpha / norm) / curvature if norm > alpha else 0.0
    for k in range(target.shape[0]):
        new[k] = factor * target[k]


@njit(cache=True)
def residual_pass(X, norms, R, W, pull, alpha, nu):
    """One pass with the residual R = (Y - XW)', for more features than samples."""
    n_outputs = W.shape[1]
    target = np.empty(n_outputs)
    new = np.empty(n_outputs)
    for j in range(W.shape[0]):
        column = X[:, j]
        for k in range(n_outputs):
            inner = np.dot(column, R[k]) + norms[j] * W[j, k]
            target[k] = 2.0 * inner + pull[j, k]
        _new_row(target, 2.0 * norms[j] + nu, alpha, new)
        for k in range(n_outputs):
            delta = new[k] - W[j, k]
            if delta != 0.0:
                W[j, k] = new[k]
                R[k] -= delta * column


@njit(cache=True)
def gram_pass(gram, Q, W, pull, alpha, nu):
    """One pass with Q = (X'(Y - XW))', for no more features than samples."""
    n_outputs = W.shape[1]
    target = np.empty(n_outputs)
    new = np.empty(n_outputs)
    for j in range(W.shape[0]):
        a = gram[j, j]
        for k in range(n_outputs):
            target[k] = 2.0 * (Q[k, j] + a * W[j, k]) + pull[j, k]
        _new_row(target, 2.0 * a + nu, alpha, new)
        for k in range(n_outputs):
            delta = new[k] - W[j, k]
            if delta != 0.0:
                W[j, k] = new[k]
                Q[k] -= delta * gram[j]
