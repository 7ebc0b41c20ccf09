"""The exclusive l2,1 penalty: few features, and few outputs for every feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._beside import here, largest, places_of, some_of
from .base import row_norms
from .l21 import L21, bound_by_multiples


@dataclass(frozen=True)
class ExclusiveL21(L21):
    """alpha * sum_j ||w_j||_2 + beta * sum_j ||w_j||_1^2.

    alpha = 0 is the exclusive lasso, beta = 0 the l2,1 norm.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.
    """

    beta: float

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        lengths = np.abs(W).sum(axis=1)
        return float(self.alpha * row_norms(W).sum() + self.beta * np.vdot(lengths, lengths))

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Exact proximal map; rows shorter than ``alpha * step`` become zero."""
        from ._row_kernels import shrink_rows

        out = np.array(V, dtype=np.float64, order="C")
        shrink_rows(out, self.alpha * step, self.beta * step)
        return out.astype(V.dtype, copy=False)

    def row_strengths(self) -> tuple[float, float]:
        """(alpha, beta)."""
        return self.alpha, self.beta

    def dual_bound_from(self, residual_sq: float, inner: float, G: Any) -> float:
        """The same as :meth:`dual_bound`, from ||R||^2 and <R, Y>.

        The conjugate of the penalty of a row at g is theta^2 / (4 beta), where theta is the least
        number with ||soft(g, theta)||_2 <= alpha. Every R is feasible when beta > 0, which gives
        one bound; the multiples s R without any theta give another. The larger is taken.
        """
        if residual_sq == 0.0:
            return 0.0
        theta, largest = soft_levels(G, self.alpha)
        bound = bound_by_multiples(self.alpha, residual_sq, inner, largest)
        if self.beta > 0:
            conjugate = float(np.vdot(theta, theta)) / (4.0 * self.beta)
            if self.alpha == 0:
                # theta is proportional to R, so the best multiple of R is known.
                s = inner / (residual_sq + conjugate)
                return max(bound, s * inner)
            bound = max(bound, 2.0 * inner - residual_sq - conjugate)
        return bound


def soft_levels(G: Any, alpha: float) -> tuple[np.ndarray, float]:
    """Least theta >= 0 with ||soft(g, theta)||_2 <= alpha per row; and the largest row norm."""
    lengths = row_norms(G)
    top = largest(lengths)
    if alpha == 0:
        return np.abs(here(G)).max(axis=1, initial=0.0).astype(np.float64), top
    theta = np.zeros(len(G))
    over = places_of(~(lengths <= alpha * (1.0 + 1e-15)))  # also where it is no number
    if len(over):
        theta[over] = _levels_of_long_rows(some_of(G, over).astype(np.float64), alpha)
    return theta, top


def _levels_of_long_rows(G: np.ndarray, alpha: float) -> np.ndarray:
    """The theta with ||soft(g, theta)||_2 = alpha, for rows longer than alpha > 0.

    theta = top - t, where top is the largest magnitude of a row. Those that lie ``below`` it by
    less than t are left: the first ones in order, as many as stay shorter than alpha when all are
    lowered to the last of them. Then t solves sum_i (t - below_i)^2 = alpha^2 over them.
    """
    sizes = np.abs(G)
    sizes.sort(axis=1)
    top = sizes[:, -1]
    below = top[:, None] - sizes[:, ::-1]
    counts = np.arange(1.0, G.shape[1] + 1.0)
    means = below.cumsum(axis=1) / counts
    squares = (below * below).cumsum(axis=1) / counts
    lowered = squares - 2.0 * below * means + below * below
    last = (counts * lowered < alpha * alpha).sum(axis=1) - 1
    rows = np.arange(len(G))
    mean, square = means[rows, last], squares[rows, last]
    inner = alpha * alpha / counts[last] - (square - mean * mean)
    return top - mean - np.sqrt(np.maximum(inner, 0.0))
