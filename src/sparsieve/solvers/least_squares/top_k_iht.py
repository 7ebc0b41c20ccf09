"""Iterative hard thresholding under a bound on the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...design import DesignMatrix
from ...penalties import row_norms
from .problem import LegacyResult as Result


@dataclass(frozen=True)
class TopKIHT:
    """Minimise ||XW - Y||^2 over W with at most ``n_rows`` nonzero rows, by gradient steps.

    Parameters
    ----------
    n_rows : int
        Rows kept.
    tol, max_iter
        Stop when a step changes W by at most ``tol`` relative to its size.
    """

    n_rows: int
    tol: float = 1e-6
    max_iter: int = 1000

    def solve(self, design: DesignMatrix, Y: np.ndarray, support: np.ndarray) -> Result:
        """Start from the least squares fit on ``support``."""
        W = _fit(design, Y, support)
        constant = (1.0 + 1e-3) * design.spectral_norm(rng=0) ** 2
        history: list[float] = []
        change = np.inf
        gradient = np.zeros_like(W)
        for _ in range(self.max_iter):
            active = np.flatnonzero(W.any(axis=1))
            residual = design.dense_columns(active) @ W[active] - Y
            history.append(float(np.vdot(residual, residual)))
            gradient = design.rmatmul(residual)
            V = W - gradient / max(constant, np.finfo(W.dtype).tiny)
            kept = np.argsort(-row_norms(V), kind="stable")[: self.n_rows]
            following = np.zeros_like(W)
            following[kept] = V[kept]
            size = float(np.linalg.norm(following))
            change = float(np.linalg.norm(following - W)) / max(size, np.finfo(float).tiny)
            W = following
            if change <= self.tol:
                break
        W = _fit(design, Y, np.flatnonzero(W.any(axis=1)))
        active = np.flatnonzero(W.any(axis=1))
        residual = design.dense_columns(active) @ W[active] - Y
        value = float(np.vdot(residual, residual))
        pull = row_norms(design.rmatmul(residual))
        return Result(W, value, change, len(history), change <= self.tol, history, pull)


def _fit(design: DesignMatrix, Y: np.ndarray, support: np.ndarray) -> np.ndarray:
    W = np.zeros((design.shape[1], Y.shape[1]), dtype=Y.dtype)
    columns = design.dense_columns(support).astype(np.float64)
    W[support] = np.linalg.lstsq(columns, Y.astype(np.float64), rcond=None)[0]
    return W
