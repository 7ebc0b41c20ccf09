"""The l1,inf norm: alpha times the sum of the largest magnitudes of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._beside import largest
from .l21 import bound_by_multiples


@dataclass(frozen=True)
class L1Inf:
    """alpha * sum_j max_k |w_jk|.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.LInfSelector : A penalty on the largest coefficient of every row.
    """

    alpha: float

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        return float(self.alpha * np.abs(W).max(axis=1, initial=0.0).sum())

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Exact proximal map: magnitudes of a row are cut at one level.

        By Moreau's identity it is V minus its projection onto the l1 ball of radius
        t = step * alpha. That projection shrinks every magnitude by the level at which what is
        cut off sums to t, so what remains are the magnitudes cut at that level; rows with
        ||v||_1 <= t vanish.
        """
        return np.clip(V, -(levels := self.levels(V, step)[:, None]), levels).astype(V.dtype)

    def levels(self, V: np.ndarray, step: float) -> np.ndarray:
        """Where the proximal map cuts every row; 0 where the row vanishes."""
        magnitudes = -np.sort(-np.abs(np.asarray(V, dtype=np.float64)), axis=1)
        counts = np.arange(1, V.shape[1] + 1)
        # With the m largest magnitudes cut, the level is (their sum - t) / m, for the largest m
        # whose smallest magnitude is above it.
        candidates = (np.cumsum(magnitudes, axis=1) - self.alpha * step) / counts
        m = np.maximum((magnitudes > candidates).sum(axis=1), 1)
        return np.maximum(np.take_along_axis(candidates, m[:, None] - 1, axis=1)[:, 0], 0.0)

    def dual_norms(self, G: Any) -> Any:
        """The alpha at which a row with this gradient enters: its l1 norm."""
        return abs(G).sum(axis=1)

    def dual_bound(self, Y: np.ndarray, R: np.ndarray, G: Any) -> float:
        """Lower bound of min ||XW - Y||^2 + penalty, from R = Y - XW and G = 2 X'R."""
        inner = float(np.vdot(R, Y))
        top = largest(self.dual_norms(G))
        return bound_by_multiples(self.alpha, float(np.vdot(R, R)), inner, top)
