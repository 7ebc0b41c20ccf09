"""Every support of a small problem at once: reweighted least squares on a stack of them."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from .problem import RobustData

# Largest stack, in numbers: about 30 MB.
STACK = 4_000_000


def can_try_all(data: RobustData, n_eligible: int, k: int) -> bool:
    """Whether the supports of k features are few enough to compare them all."""
    n_samples, n_outputs = data.Y.shape
    widest = max(k + data.free.shape[1], n_outputs)  # columns of a support, or its residuals
    return comb(n_eligible, k) * n_samples * widest <= STACK


def best_supports(
    data: RobustData, alpha: float, eligible: np.ndarray, k: int, count: int, steps: int = 12
) -> np.ndarray:
    """The ``count`` supports of k features that look best after a few reweighting steps."""
    features = np.flatnonzero(eligible)
    supports = np.array(list(combinations(range(len(features)), k)))
    X = data.columns(features)
    stack = np.ascontiguousarray(np.moveaxis(X[:, supports], 0, 1))
    free = np.broadcast_to(data.free, (len(stack), *data.free.shape))
    stack = np.concatenate([stack, free], axis=2)
    size = stack.shape[2]
    lengths = np.sqrt((data.Y**2).sum(axis=1))
    sizes = np.broadcast_to(
        np.maximum(lengths, 1e-3 * data.mean(lengths)), (len(supports), len(data.Y))
    )
    norms = data.usual_rows(data.weights @ X**2)[supports]
    values = np.full(len(supports), np.inf)
    penalised = (np.arange(size) < k) & (alpha > 0)
    for _ in range(steps):
        half = np.ones((len(supports), size))
        if alpha > 0:
            half[:, :k] = np.sqrt(norms / alpha)
        scaled = stack * half[:, None, :]
        weighted = np.swapaxes(scaled * (data.weights / sizes)[:, :, None], 1, 2)
        gram = weighted @ scaled
        lift = 1e-10 * np.trace(gram, axis1=1, axis2=2)[:, None] / size + 1e-300
        gram[:, np.arange(size), np.arange(size)] += np.where(penalised, 1.0, lift)
        W = np.linalg.solve(gram, weighted @ data.Y) * half[:, :, None]
        residual = data.Y - stack @ W
        lengths = np.sqrt((residual**2).sum(axis=2))
        rows = np.sqrt((W[:, :k] ** 2).sum(axis=2))
        values = lengths @ data.weights + alpha * rows.sum(axis=1)
        sizes = np.maximum(lengths, 1e-8 * lengths.mean(axis=1, keepdims=True) + 1e-300)
        norms = np.maximum(rows, 1e-10 * rows.max(axis=1, keepdims=True) + 1e-300)
    best = np.argsort(values, kind="stable")[:count]
    return features[supports[best]]
