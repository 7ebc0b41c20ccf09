"""Convex penalties on rows and groups of rows.

The l2,1 norm: alpha times the sum of row norms.

The l1,inf norm: alpha times the sum of the largest magnitudes of the rows.

The squared l2,1 norm: alpha times the square of the sum of row norms.

The exclusive l2,1 penalty: few features, and few outputs for every feature.

The sparse group penalty: few groups, and few rows within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._beside import largest, mask_indices, read_entries, to_numpy
from .._checks import check_real
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
        return self.dual_bound_by_products(float(np.vdot(R, R)), float(np.vdot(R, Y)), G)

    def dual_bound_by_products(self, residual_sq: float, inner: float, G: Any) -> float:
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

    def dual_bound_by_products(self, residual_sq: float, inner: float, G: Any) -> float:
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
        return np.abs(to_numpy(G)).max(axis=1, initial=0.0).astype(np.float64), top
    theta = np.zeros(len(G))
    over = mask_indices(~(lengths <= alpha * (1.0 + 1e-15)))  # also where it is no number
    if len(over):
        theta[over] = _levels_of_long_rows(read_entries(G, over).astype(np.float64), alpha)
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


# Newton steps towards the strength at which a group enters, and the last relative change.
MAX_STEPS, STEP_TOL = 100, 1e-14


class SoftRows(NamedTuple):
    """Rows are shortened by ``half`` before the norm of their group is."""

    half: float


@dataclass(frozen=True)
class SparseGroup(GroupPenalty):
    """alpha * (l1_ratio * sum_j ||w_j|| + (1 - l1_ratio) * sum_g c_g ||W_g||).

    Few groups have weight, and few rows of these.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; a selector sets it.
    l1_ratio : float, default=0.5
        Share of the penalty that is on single rows, below 1. With 0 it is the l2,1 norm of groups.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.L21Selector : Least squares with a penalty on the norms of rows or groups.

    References
    ----------
    N. Simon, J. Friedman, T. Hastie, R. Tibshirani (2013). A sparse-group lasso. Journal of
    Computational and Graphical Statistics 22, 231-245.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import L21Selector
    >>> from sparsieve.penalties import SparseGroup
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = X[:, 0] + X[:, 5] + 0.1 * rng.standard_normal(100)
    >>> groups = np.arange(20) // 5
    >>> selector = L21Selector(penalty=SparseGroup(l1_ratio=0.8), feature_groups=groups)
    >>> selector.fit(X, y).coef_.nonzero()[1]
    array([0, 5])
    """

    alpha: float = 1.0
    l1_ratio: float = 0.5

    def check(self) -> None:
        check_real("l1_ratio", self.l1_ratio, minimum=0, maximum=1)
        if self.l1_ratio == 1:
            raise ValueError('l1_ratio must be below 1; 1 is penalty="l21" without feature_groups')

    @property
    def rows(self) -> Any:
        return SoftRows(0.5 * self.alpha * self.l1_ratio)

    def norm_values(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return self.norm_slopes(norms, weights) * norms

    def norm_slopes(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return self.alpha * (1.0 - self.l1_ratio) * weights

    def row_value(self, W: np.ndarray) -> float:
        return self.alpha * self.l1_ratio * float(row_norms(W).sum())

    def entering(self, squares: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The strength at which every group without weight would enter.

        It is the a with sqrt(sum_j (||g_j|| - a l1_ratio)_+^2) = a (1 - l1_ratio) c_g. The
        difference of the two sides is convex and falls, so that Newton's method comes from below
        without crossing it.
        """
        lengths, sizes = np.sqrt(squares), np.diff(starts, append=len(squares))
        norm_part = ((1.0 - self.l1_ratio) * weights)[:, None]
        norms = np.sqrt(np.add.reduceat(squares, starts, axis=0))
        found = norms / (norm_part + self.l1_ratio * np.sqrt(sizes)[:, None])
        for _ in range(MAX_STEPS):
            over = np.maximum(lengths - self.l1_ratio * np.repeat(found, sizes, axis=0), 0.0)
            rest = np.sqrt(np.add.reduceat(over**2, starts, axis=0))
            total = np.add.reduceat(over, starts, axis=0)
            slope = self.l1_ratio * total / np.where(rest > 0, rest, 1.0) + norm_part
            step = (rest - found * norm_part) / slope
            found = found + np.maximum(step, 0.0)
            if (step <= STEP_TOL * found).all():
                break
        return found.T
