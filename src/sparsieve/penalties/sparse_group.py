"""The sparse group penalty: few groups, and few rows within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._checks import check_real
from .base import GroupPenalty, row_norms

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
