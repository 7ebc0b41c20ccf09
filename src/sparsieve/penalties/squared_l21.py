"""The squared l2,1 norm: alpha times the square of the sum of row norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import row_norms


@dataclass(frozen=True)
class SquaredL21:
    """alpha * (sum_j ||w_j||_2)^2.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.RLSRSelector : Rescaled least squares, optionally semi-supervised.
    """

    alpha: float

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        return float(self.alpha * row_norms(W).sum() ** 2)

    def dual_bound(self, Y: np.ndarray, R: np.ndarray, G: np.ndarray) -> float:
        """Lower bound of min ||XW - Y||^2 + penalty, from R = Y - XW and G = 2 X'R.

        The conjugate of the penalty is max_j ||g_j||^2 / (4 alpha), so s R gives the bound
        2 s <R, Y> - s^2 (||R||^2 + max_j ||g_j||^2 / (4 alpha)), largest at a known s.
        """
        largest, inner = float(row_norms(G).max(initial=0.0)), float(np.vdot(R, Y))
        curvature = float(np.vdot(R, R)) + largest**2 / (4.0 * self.alpha)
        return inner * inner / curvature if curvature > 0 else 0.0
