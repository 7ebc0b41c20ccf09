"""The l2,1 norm: alpha times the sum of row norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import GroupPenalty, critical_strength, row_norms


@dataclass(frozen=True)
class L21(GroupPenalty):
    """alpha * sum_j ||w_j||_2.

    See Also
    --------
    sparsieve.penalties.SquaredL21 : Square of the sum of row norms.
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.
    """

    def dual_norms(self, G: Any) -> Any:
        """The alpha at which a row with this gradient enters: its Euclidean norm."""
        return row_norms(G)

    def row_strengths(self) -> tuple[float, float]:
        """(alpha, beta) of alpha ||w||_2 + beta ||w||_1^2."""
        return self.alpha, 0.0

    def dual_bound(self, Y: np.ndarray, R: np.ndarray, G: Any) -> float:
        """Lower bound of min ||XW - Y||^2 + penalty, from R = Y - XW and G = 2 X'R."""
        return self.dual_bound_from(float(np.vdot(R, R)), float(np.vdot(R, Y)), G)

    def dual_bound_from(self, residual_sq: float, inner: float, G: Any) -> float:
        """The same from ||R||^2 and <R, Y>.

        The dual is max_Theta 2<Theta, Y> - ||Theta||^2 subject to ||2 x_j'Theta|| <= alpha. The
        point s R is feasible for |s| <= alpha / max_j ||g_j||, and on that interval the best s
        is <R, Y> / ||R||^2 clipped to it.
        """
        return bound_by_multiples(self.alpha, residual_sq, inner, critical_strength(G))


def bound_by_multiples(alpha: float, residual_sq: float, inner: float, largest: float) -> float:
    """The best lower bound among the multiples s R of a residual that are dual feasible.

    ``largest`` is the largest dual norm of a row of 2 X'R, ``inner`` is <R, Y>.
    """
    if residual_sq == 0.0:
        return 0.0
    limit = alpha / largest if largest > 0 else np.inf
    s = float(np.clip(inner / residual_sq, -limit, limit))
    return 2.0 * s * inner - s * s * residual_sq
