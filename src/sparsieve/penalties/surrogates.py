"""Smooth stand-ins for counting nonzeros, each a difference of convex functions.

Every surrogate is delta(t) for t = |w| >= 0, with delta(0) = 0, increasing and concave:

    delta(t) = s0 t - phi2(t),

with slope s0 at zero and phi2 convex. Linearising phi2 at t_k leaves the weighted absolute value
with weight s0 - phi2'(t_k) = delta'(t_k), so one step of a DC (or majorise-minimise) algorithm is
the same convex problem with a weighted l1 norm. As theta grows, delta(t) tends to 1 for every
fixed t > 0: the sum over the features tends to their number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite, log1p
from numbers import Real

import numpy as np

from .._saved import Savable


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
