"""The gap between all rows and the K largest: an exact penalty for "at most K rows"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import row_norms


@dataclass(frozen=True)
class TopKGap:
    """alpha * sum_j ||w_j|| + rho * (sum of the row norms except the K largest).

    The second term is zero exactly when at most K rows are nonzero.

    See Also
    --------
    sparsieve.penalties.L20 : Number of nonzero rows.
    """

    k: int
    rho: float
    alpha: float = 0.0

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        norms = row_norms(W)
        return float(self.alpha * norms.sum() + self.rho * self.gap(norms))

    def gap(self, norms: np.ndarray) -> float:
        """Sum of all but the K largest."""
        if self.k >= len(norms):
            return 0.0
        return float(np.partition(norms, len(norms) - self.k - 1)[: len(norms) - self.k].sum())

    def strengths(self, norms: np.ndarray) -> np.ndarray:
        """Slope of the penalty in every row norm: alpha on the K largest, alpha + rho elsewhere."""
        slopes = np.full(len(norms), self.alpha + self.rho)
        slopes[largest(norms, self.k)] = self.alpha
        return slopes

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Shrink the K longest rows by ``alpha * step``, the others by ``(alpha + rho) * step``.

        Shrinking keeps the K longest rows the longest, so that this is a global minimiser;
        rows shorter than their threshold become exactly zero.
        """
        return V * self.shrinkage(row_norms(V), step)[:, None].astype(V.dtype, copy=False)

    def shrinkage(self, norms: np.ndarray, step: float) -> np.ndarray:
        """What :meth:`prox` multiplies every row with, from the norms of the rows."""
        threshold = step * self.strengths(norms)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(norms > threshold, 1.0 - threshold / norms, 0.0)


def largest(norms: np.ndarray, k: int) -> np.ndarray:
    """Indices of the k largest, ties in order of position."""
    if k >= len(norms):
        return np.arange(len(norms))
    if k == 0:
        return np.empty(0, dtype=np.intp)
    limit = np.partition(norms, len(norms) - k)[len(norms) - k]
    above, equal = np.flatnonzero(norms > limit), np.flatnonzero(norms == limit)
    return np.sort(np.concatenate([above, equal[: k - len(above)]]))
