"""Kernels of two numbers: the value of one feature in two samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...._saved import Savable


class FeatureKernel(ABC):
    """A symmetric function of two numbers, evaluated elementwise on arrays that broadcast."""

    # Known to give positive semidefinite matrices; otherwise eigenvalues are looked at.
    semidefinite: bool = False
    # Depends on u - v alone, so that a feature may be moved before its kernel is expanded.
    shift_invariant: bool = False

    @abstractmethod
    def __call__(self, u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
        """k(u, v)."""


@dataclass(frozen=True)
class SigmoidKernel(Savable, FeatureKernel):
    """tanh(gamma u v + coef0): indefinite in general."""

    gamma: float = 0.1
    coef0: float = -0.01

    def __call__(self, u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
        argument = np.asarray(np.multiply(self.gamma * u, v), dtype=np.float64)
        argument += self.coef0
        return np.tanh(argument, out=argument)


@dataclass(frozen=True)
class RBFKernel(Savable, FeatureKernel):
    """exp(-gamma (u - v)^2)."""

    gamma: float = 1.0
    semidefinite = True
    shift_invariant = True

    def __call__(self, u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
        distance = np.asarray(np.subtract(u, v), dtype=np.float64)
        distance *= distance
        distance *= -self.gamma
        return np.exp(distance, out=distance)


@dataclass(frozen=True)
class PolynomialKernel(Savable, FeatureKernel):
    """(gamma u v + coef0) ** degree."""

    gamma: float = 1.0
    coef0: float = 1.0
    degree: int = 2

    @property
    def semidefinite(self) -> bool:  # type: ignore[override]
        """Whether all powers of u v have nonnegative coefficients."""
        return self.coef0 >= 0

    def __call__(self, u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
        argument = np.asarray(np.multiply(self.gamma * u, v), dtype=np.float64)
        argument += self.coef0
        return argument**self.degree


@dataclass(frozen=True)
class CallableKernel(FeatureKernel):
    """A user's function of two arrays that broadcast; checked to be symmetric and finite."""

    function: Callable[..., Any]

    def __call__(self, u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
        values = np.asarray(self.function(u, v), dtype=np.float64)
        shape = np.broadcast_shapes(np.shape(u), np.shape(v))
        if values.shape != shape:
            raise ValueError(
                f"the kernel function must work elementwise on arrays that broadcast: it returned "
                f"shape {values.shape} for arguments of shapes {np.shape(u)} and {np.shape(v)}"
            )
        return values

    def check(self, values: np.ndarray) -> None:
        """Refuse a function that is not a kernel on these values."""
        matrix = self(values[:, None], values[None, :])
        if not np.isfinite(matrix).all():
            raise ValueError("the kernel function returned NaN or infinite values")
        if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-10):
            raise ValueError("the kernel function must be symmetric: k(u, v) == k(v, u)")


_BY_NAME: dict[str, type[SigmoidKernel | RBFKernel | PolynomialKernel]] = {
    "sigmoid": SigmoidKernel,
    "rbf": RBFKernel,
    "poly": PolynomialKernel,
}
KERNELS = tuple(_BY_NAME)


def feature_kernel(
    kernel: str | Callable[..., Any],
    *,
    gamma: float | None = None,
    coef0: float | None = None,
    degree: int = 2,
) -> FeatureKernel:
    """A kernel by scikit-learn's name, or from a function.

    Parameters
    ----------
    kernel : {"sigmoid", "rbf", "poly"} or callable
        tanh(gamma u v + coef0), exp(-gamma (u - v)^2), (gamma u v + coef0)^degree, or a function
        of two arrays that broadcast against each other.
    gamma, coef0 : float or None
        None: 0.1 and -0.01 for "sigmoid", 1 for "rbf", 1 and 1 for "poly".
    degree : int
        Degree of the "poly" kernel.

    Returns
    -------
    kernel : FeatureKernel

    Examples
    --------
    >>> from sparsieve.papers.l0_mkl.kernels import feature_kernel
    >>> float(feature_kernel("rbf", gamma=0.5)(1.0, 1.0))
    1.0
    """
    if callable(kernel):
        return CallableKernel(kernel)
    if kernel not in _BY_NAME:
        raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}, got {kernel!r}")
    kind = _BY_NAME[kernel]
    numbers = {"gamma": gamma, "coef0": coef0}
    given: dict[str, Any] = {n: float(value) for n, value in numbers.items() if value is not None}
    given["degree"] = int(degree)
    return kind(**{one.name: given[one.name] for one in fields(kind) if one.name in given})
