"""The exclusive l2,1 penalty: few features, and few outputs for every feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import row_norms


@dataclass(frozen=True)
class ExclusiveL21:
    """alpha * sum_j ||w_j||_2 + beta * sum_j ||w_j||_1^2.

    alpha = 0 is the exclusive lasso, beta = 0 the l2,1 norm.

    See Also
    --------
    sparsieve.penalties.L21 : Adds row norms.
    sparsieve.ExclusiveL21Selector : Few features, and for every feature few of the classes.
    """

    alpha: float
    beta: float

    def value(self, W) -> float:
        """Penalty of W."""
        lengths = np.abs(W).sum(axis=1)
        return float(self.alpha * row_norms(W).sum() + self.beta * np.vdot(lengths, lengths))

    def prox(self, V, step):
        """Exact proximal map: rows shorter than ``alpha * step`` vanish, weak entries with them."""
        from ._row_kernels import shrink_rows

        out = np.array(V, dtype=np.float64, order="C")
        shrink_rows(out, self.alpha * step, self.beta * step)
        return out.astype(V.dtype, copy=False)

    def pull(self, G) -> np.ndarray:
        """The alpha at which a row with this gradient enters: its Euclidean norm."""
        return row_norms(G)

    def row_strengths(self) -> tuple[float, float]:
        """(alpha, beta)."""
        return self.alpha, self.beta

    def dual_bound(self, Y, R, G) -> float:
        """Lower bound of min ||XW - Y||^2 + penalty, from R = Y - XW and G = 2 X'R."""
        return self.dual_bound_from(float(np.vdot(R, R)), float(np.vdot(R, Y)), G)

    def dual_bound_from(self, residual_sq: float, inner: float, G) -> float:
        """The same from ||R||^2 and <R, Y>.

        The conjugate of the penalty of a row at g is theta^2 / (4 beta), where theta is the least
        number with ||soft(g, theta)||_2 <= alpha. Every R is feasible when beta > 0, which gives
        one bound; the multiples s R without any theta give another. The larger is taken.
        """
        if residual_sq == 0.0:
            return 0.0
        theta, largest = soft_levels(G, self.alpha)
        limit = self.alpha / largest if largest > 0 else np.inf
        s = min(max(inner / residual_sq, -limit), limit)
        bound = 2.0 * s * inner - s * s * residual_sq
        if self.beta > 0:
            conjugate = float(np.vdot(theta, theta)) / (4.0 * self.beta)
            if self.alpha == 0:
                # theta is proportional to R, so the best multiple of R is known.
                s = inner / (residual_sq + conjugate)
                return max(bound, s * inner)
            bound = max(bound, 2.0 * inner - residual_sq - conjugate)
        return bound


def soft_levels(G, alpha: float) -> tuple[np.ndarray, float]:
    """Least theta >= 0 with ||soft(g, theta)||_2 <= alpha per row; and the largest row norm."""
    if alpha == 0:
        theta = np.abs(np.asarray(G, dtype=np.float64)).max(axis=1, initial=0.0)
        return theta, float(row_norms(G).max(initial=0.0))

    from ._row_kernels import soft_level_rows

    G = np.ascontiguousarray(G, dtype=np.float64)
    theta = np.empty(len(G))
    largest = soft_level_rows(G, float(alpha), theta)
    return theta, largest
