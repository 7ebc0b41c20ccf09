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

    def kept(self, V: np.ndarray, step: float) -> np.ndarray:
        """The rows that the proximal operator keeps, none of them zero."""
        return np.flatnonzero(row_norms(V) > np.sqrt(2.0 * self.lam * step))
