"""Penalties that are not convex: concave ones, numbers of rows, and limits on them.

The minimax concave penalty on the norms of rows or groups: large coefficients are not shrunk.

The l2,0 norm: lam for every row that is not zero.

The gap between all rows and the K largest: an exact penalty for "at most K rows".

Smooth stand-ins for counting nonzeros, each a difference of convex functions.

Every surrogate is delta(t) for t = |w| >= 0, with delta(0) = 0, increasing and concave:

    delta(t) = s0 t - phi2(t),

with slope s0 at zero and phi2 convex. Linearising phi2 at t_k leaves the weighted absolute value
with weight s0 - phi2'(t_k) = delta'(t_k), so one step of a DC (or majorise-minimise) algorithm is
the same convex problem with a weighted l1 norm. As theta grows, delta(t) tends to 1 for every
fixed t > 0: the sum over the features tends to their number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from math import isfinite, log1p
from numbers import Real
from typing import ClassVar, Self

import numpy as np

from .._checks import check_real
from .._saved import Savable
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

    def rescale(self, total_weight: float) -> Self:
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


@dataclass(frozen=True)
class L20:
    """lam * number of nonzero rows.

    See Also
    --------
    sparsieve.penalties.L21 : Sum of row norms.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    """

    lam: float

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        return float(self.lam * np.count_nonzero(W.any(axis=1)))

    def surviving_rows(self, V: np.ndarray, step: float) -> np.ndarray:
        """The rows that the proximal operator keeps, none of them zero."""
        return np.flatnonzero(row_norms(V) > np.sqrt(2.0 * self.lam * step))


@dataclass(frozen=True)
class TopKGap:
    """alpha * sum_j ||w_j|| + rho * (sum of the row norms except the K largest).

    The second term is zero exactly when at most K rows are nonzero.

    See Also
    --------
    sparsieve.penalties.L20 : Number of nonzero rows.
    """

    k: int
    rho: float
    alpha: float = 0.0

    def value(self, W: np.ndarray) -> float:
        """Penalty of W."""
        norms = row_norms(W)
        return float(self.alpha * norms.sum() + self.rho * self.gap(norms))

    def gap(self, norms: np.ndarray) -> float:
        """Sum of all but the K largest."""
        if self.k >= len(norms):
            return 0.0
        return float(np.partition(norms, len(norms) - self.k - 1)[: len(norms) - self.k].sum())

    def strengths(self, norms: np.ndarray) -> np.ndarray:
        """Slope of the penalty in every row norm: alpha on the K largest, alpha + rho elsewhere."""
        slopes = np.full(len(norms), self.alpha + self.rho)
        slopes[largest(norms, self.k)] = self.alpha
        return slopes

    def prox(self, V: np.ndarray, step: float) -> np.ndarray:
        """Shrink the K longest rows by ``alpha * step``, the others by ``(alpha + rho) * step``.

        Shrinking keeps the K longest rows the longest, so that this is a global minimiser;
        rows shorter than their threshold become exactly zero.
        """
        return V * self.shrinkage(row_norms(V), step)[:, None].astype(V.dtype, copy=False)

    def shrinkage(self, norms: np.ndarray, step: float) -> np.ndarray:
        """What :meth:`prox` multiplies every row with, from the norms of the rows."""
        threshold = step * self.strengths(norms)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(norms > threshold, 1.0 - threshold / norms, 0.0)


def largest(norms: np.ndarray, k: int) -> np.ndarray:
    """Indices of the k largest, ties in order of position."""
    if k >= len(norms):
        return np.arange(len(norms))
    if k == 0:
        return np.empty(0, dtype=np.intp)
    limit = np.partition(norms, len(norms) - k)[len(norms) - k]
    above, equal = np.flatnonzero(norms > limit), np.flatnonzero(norms == limit)
    return np.sort(np.concatenate([above, equal[: k - len(above)]]))


class Surrogate(Savable, ABC):
    """A concave function of |w| that approximates "is w nonzero?".

    See Also
    --------
    sparsieve.penalties.surrogate : Returns a surrogate by name.
    """

    @property
    def slope_at_zero(self) -> float:
        """delta'(0+), the slope s0 of the convex part s0 |w|."""
        return float(self.weight(0.0))

    @abstractmethod
    def value(self, w: np.ndarray | float) -> np.ndarray:
        """delta(|w|), elementwise."""

    @abstractmethod
    def weight(self, w: np.ndarray | float) -> np.ndarray:
        """delta'(|w|), elementwise: the weight of |w| in the next convex problem.

        At a kink (only capped l1 has one) the slope on the side of zero.
        """

    def total(self, w: np.ndarray | float) -> float:
        """Sum of delta(|w_j|): the surrogate of the number of nonzeros."""
        return float(self.value(w).sum())

    def concave_gradient(self, w: np.ndarray | float) -> np.ndarray:
        """phi2'(|w|) of the split delta = s0 |w| - phi2(|w|), elementwise."""
        return self.slope_at_zero - self.weight(w)


@dataclass(frozen=True)
class ExpSurrogate(Surrogate):
    """1 - exp(-theta |w|)."""

    theta: float = 5.0

    def value(self, w: np.ndarray | float) -> np.ndarray:
        return -np.expm1(-self.theta * np.abs(w))

    def weight(self, w: np.ndarray | float) -> np.ndarray:
        return self.theta * np.exp(-self.theta * np.abs(w))


@dataclass(frozen=True)
class LogSurrogate(Surrogate):
    """log(1 + theta |w|) / log(1 + theta): equal to one at |w| = 1, unbounded beyond."""

    theta: float = 5.0

    def value(self, w: np.ndarray | float) -> np.ndarray:
        return np.log1p(self.theta * np.abs(w)) / log1p(self.theta)

    def weight(self, w: np.ndarray | float) -> np.ndarray:
        return self.theta / log1p(self.theta) / (1.0 + self.theta * np.abs(w))


@dataclass(frozen=True)
class CappedL1Surrogate(Surrogate):
    """min(1, theta |w|)."""

    theta: float = 5.0

    def value(self, w: np.ndarray | float) -> np.ndarray:
        return np.minimum(1.0, self.theta * np.abs(w))

    def weight(self, w: np.ndarray | float) -> np.ndarray:
        u = self.theta * np.abs(w)
        return np.where(u <= 1.0, self.theta, 0.0).astype(u.dtype, copy=False)


@dataclass(frozen=True)
class SCADSurrogate(Surrogate):
    """Linear up to 1 / theta, quadratic up to a / theta, one from there on."""

    theta: float = 5.0
    a: float = 3.7

    def __post_init__(self) -> None:
        if not self.a > 1.0:
            raise ValueError(f"a must be above 1, got {self.a!r}")

    def value(self, w: np.ndarray | float) -> np.ndarray:
        u = np.minimum(self.theta * np.abs(w), self.a)
        middle = (-u * u + 2.0 * self.a * u - 1.0) / (self.a**2 - 1.0)  # one at u = a
        return np.where(u <= 1.0, 2.0 * u / (self.a + 1.0), middle)

    def weight(self, w: np.ndarray | float) -> np.ndarray:
        # delta' falls linearly from its value at zero, at 1 / theta, to zero at a / theta.
        slope_at_zero, u = 2.0 * self.theta / (self.a + 1.0), self.theta * np.abs(w)
        return slope_at_zero * np.clip((self.a - u) / (self.a - 1.0), 0.0, 1.0)


@dataclass(frozen=True)
class L1Surrogate(Surrogate):
    """|w| itself: the convex member of the family, whose weights never change."""

    def value(self, w: np.ndarray | float) -> np.ndarray:
        return np.abs(w)

    def weight(self, w: np.ndarray | float) -> np.ndarray:
        return np.ones_like(np.abs(w))


_BY_NAME: dict[str, type[Surrogate]] = {
    "exp": ExpSurrogate,
    "log": LogSurrogate,
    "capped_l1": CappedL1Surrogate,
    "scad": SCADSurrogate,
    "l1": L1Surrogate,
}

SURROGATES = tuple(_BY_NAME)


def surrogate(name: str, theta: float = 5.0) -> Surrogate:
    """Look up a surrogate by name.

    Parameters
    ----------
    name : {"exp", "log", "capped_l1", "scad", "l1"}
        Name of the surrogate; "scad" uses a = 3.7.
    theta : float, default=5.0
        Steepness; larger values come closer to counting. Ignored by "l1".

    Returns
    -------
    surrogate : Surrogate

    See Also
    --------
    sparsieve.penalties.Surrogate : The result.
    sparsieve.L0SVMSelector : Linear SVM with a penalty on the number of features.

    Examples
    --------
    >>> from sparsieve.penalties import surrogate
    >>> surrogate("capped_l1", theta=2.0).value([0.0, -0.25, 3.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    if not isinstance(name, str) or name not in _BY_NAME:
        known = ", ".join(map(repr, SURROGATES))
        raise ValueError(f"surrogate must be one of {known}, got {name!r}")
    if not isinstance(theta, Real) or not isfinite(theta) or theta <= 0:
        raise ValueError(f"theta must be positive, got {theta!r}")
    if name == "l1":
        return L1Surrogate()
    return _BY_NAME[name](theta=float(theta))  # type: ignore[call-arg]
