"""The minimax concave penalty on the norms of rows or groups: large coefficients are not shrunk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from .._checks import check_real
from .base import GroupPenalty, row_norms


@dataclass(frozen=True)
class MCP(GroupPenalty):
    """sum_j p(||w_j||) with the slope p'(t) = max(alpha - curvature t, 0), curvature = 2 n / gamma.

    A row enters at the same strength as with the l2,1 norm. The longer it gets the less it is
    shrunk, and beyond alpha / curvature not at all. Where columns have a variance of one over n
    samples and do not correlate, that is gamma times the length at which the l2,1 norm would make a
    row of it zero. The problem is not convex.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength; a selector sets it.
    gamma : float, default=3.0
        Larger than 1. The smaller, the sooner a row is not shrunk any more, and the more local
        optima there are.
    n : float, default=0.5
        Sum of squares of a column of X; a selector sets it.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.L21Selector : Least squares with a penalty on the norms of rows or groups.

    References
    ----------
    C.-H. Zhang (2010). Nearly unbiased variable selection under minimax concave penalty. Annals of
    Statistics 38, 894-942.

    P. Breheny, J. Huang (2015). Group descent algorithms for nonconvex penalized linear and
    logistic regression models with grouped predictors. Statistics and Computing 25, 173-187.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.penalties import MCP
    >>> MCP(alpha=1.0, gamma=2.0).prox(np.array([[0.5], [1.5], [3.0]]), step=1.0)
    array([[0.],
           [1.],
           [3.]])
    """

    alpha: float = 1.0
    gamma: float = 3.0
    n: float = field(default=0.5, repr=False)

    is_convex: ClassVar[bool] = False

    def check(self) -> None:
        check_real("gamma", self.gamma)
        if self.gamma <= 1:
            raise ValueError(f"gamma must be above 1, got {self.gamma!r}")

    def on(self, total_weight: float) -> Self:
        return replace(self, n=float(total_weight))

    @property
    def curvature(self) -> float:
        """How fast the slope falls."""
        return 2.0 * self.n / self.gamma

    def norm_values(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        strengths = self.alpha * weights
        bent = np.minimum(norms, strengths / self.curvature)  # the slope is zero from there on
        return (strengths - 0.5 * self.curvature * bent) * bent

    def norm_slopes(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.maximum(self.alpha * weights - self.curvature * norms, 0.0)

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Proximal map of the rows.

        Where the step times the curvature is below one it is the firm threshold: rows up to
        step alpha become zero, longer ones are shortened less and less, and from alpha / curvature
        on they stay. Otherwise a row stays or becomes zero, whichever costs less.
        """
        norms, bend = row_norms(V), step * self.curvature
        if bend < 1.0:
            shortened = np.maximum(norms - step * self.alpha, 0.0) / (1.0 - bend)
            left = np.where(self.curvature * norms < self.alpha, shortened, norms)
        else:
            left = np.where(self.curvature * norms**2 > step * self.alpha**2, norms, 0.0)
        factor = np.divide(left, norms, out=np.zeros_like(norms), where=norms > 0)
        return V * factor[:, None].astype(V.dtype, copy=False)
