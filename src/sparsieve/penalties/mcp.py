"""The minimax concave penalty on the norms of rows or groups: large coefficients are not shrunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import GroupPenalty, row_norms


@dataclass(frozen=True)
class MCP(GroupPenalty):
    """sum_j p(||w_j||) with the slope p'(t) = max(alpha - curvature t, 0).

    A row enters at the same strength as with the l2,1 norm. The longer it gets the less it is
    shrunk, and beyond alpha / curvature not at all. With curvature 0 it is the l2,1 norm. The
    problem is not convex.

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
    """

    alpha: float
    curvature: float

    is_convex: ClassVar[bool] = False

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        norms = row_norms(W)
        return float(self.norm_values(norms, np.ones_like(norms)).sum())

    def norm_values(self, norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
        strengths = self.alpha * weights
        if self.curvature == 0:
            return strengths * norms
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
