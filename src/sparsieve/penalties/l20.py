"""The l2,0 norm: lam for every row that is not zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import row_norms


@dataclass(frozen=True)
class L20:
    """lam * number of nonzero rows.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    """

    lam: float

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        return float(self.lam * np.count_nonzero(W.any(axis=1)))

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Keep rows longer than sqrt(2 lam step) unchanged and set the others to zero."""
        return np.where(self._is_long(V, step)[:, None], V, np.zeros((), dtype=V.dtype))

    def kept(self, V: np.ndarray, step: float) -> np.ndarray:
        """The rows that the proximal operator keeps, none of them zero."""
        return np.flatnonzero(self._is_long(V, step))

    def _is_long(self, V: np.ndarray, step: float) -> np.ndarray:
        return row_norms(V) > np.sqrt(2.0 * self.lam * step)
