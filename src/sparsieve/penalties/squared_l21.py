"""The squared l2,1 norm: gamma times the square of the sum of row norms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import row_norms


@dataclass(frozen=True)
class SquaredL21:
    """gamma * (sum_j ||w_j||_2)^2."""

    gamma: float

    def value(self, W) -> float:
        """Penalty of W."""
        return float(self.gamma * row_norms(W).sum() ** 2)

    def prox(self, V, step):
        """Shrink all rows by one length, found by sorting their norms.

        With lambda = 2 gamma step the length is lambda A / (1 + lambda m), A the sum of the m
        largest norms and m the largest number whose smallest norm exceeds that length.
        """
        norms = row_norms(V).astype(np.float64)
        ordered = -np.sort(-norms)
        strength = 2.0 * self.gamma * step
        lengths = strength * np.cumsum(ordered) / (1.0 + strength * np.arange(1, len(norms) + 1))
        above = np.flatnonzero(ordered > lengths)
        length = lengths[above[-1]] if len(above) else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(norms > length, 1.0 - length / norms, 0.0)
        return V * factor[:, None].astype(V.dtype)

    def dual_bound(self, Y, R, G) -> float:
        """Lower bound of min ||XW - Y||^2 + penalty, from R = Y - XW and G = 2 X'R."""
        return self.dual_bound_from(float(np.vdot(R, R)), float(np.vdot(R, Y)), G)

    def dual_bound_from(self, residual_sq: float, inner: float, G) -> float:
        """The same from ||R||^2 and <R, Y>.

        The conjugate of the penalty is max_j ||g_j||^2 / (4 gamma), so s R gives the bound
        2 s <R, Y> - s^2 (||R||^2 + max_j ||g_j||^2 / (4 gamma)), largest at a known s.
        """
        largest = float(row_norms(G).max(initial=0.0))
        curvature = residual_sq + largest**2 / (4.0 * self.gamma)
        return inner * inner / curvature if curvature > 0 else 0.0
