"""Kernels of single features: functions, their expansions, and their sums.

Kernels of two numbers: the value of one feature in two samples.

Separable expansions: a smooth kernel on a square is a short sum of products of polynomials.

On [-radius, radius] squared, k(u, v) = sum_pq C_pq T_p(u / radius) T_q(v / radius) up to rounding,
with Chebyshev polynomials T. A product with the kernel matrix of n values then takes O(n q)
operations instead of n^2 evaluations of the kernel. Unlike monomials the polynomials stay
between -1 and 1, so no precision is lost however many are needed.

Sums of kernel matrices, in the few directions that they reach.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..._saved import Savable


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


# Largest error of an expansion, as a share of the kernel's largest value.
MAX_ERROR = 1e-12
# Eigenvalues of the coefficients below this share of the largest are rounding.
EIGENVALUE_TOL = 1e-14


@dataclass(frozen=True)
class Expansion(Savable):
    """Coefficients of a kernel in Chebyshev polynomials on [-radius, radius]."""

    radius: float
    coefficients: np.ndarray

    @property
    def size(self) -> int:
        """Number of polynomials."""
        return len(self.coefficients)

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of the coefficients that count, and their vectors.

        Far fewer than there are polynomials: these are many to follow the functions, not because
        the functions are many.
        """
        eigenvalues, vectors = np.linalg.eigh(self.coefficients)
        kept = np.abs(eigenvalues) > EIGENVALUE_TOL * np.abs(eigenvalues).max(initial=0.0)
        return eigenvalues[kept], np.ascontiguousarray(vectors[:, kept])

    def polynomials(self, values: np.ndarray) -> np.ndarray:
        """T_p(values / radius), along a new last axis."""
        return np.polynomial.chebyshev.chebvander(values / self.radius, self.size - 1)

    def sums(self, values: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
        """Weighted sums of T_0, ..., T_(size - 1) over the last axis of ``values``."""
        x = values / self.radius
        found = np.empty((len(x), size))
        before, now, twice = np.ones_like(x), x.copy(), 2.0 * x
        found[:, 0] = weights.sum()
        for p in range(1, size):
            found[:, p] = now @ weights
            before *= -1.0
            before += twice * now
            before, now = now, before
        return found


def expand(kernel: FeatureKernel, radius: float, max_size: int) -> Expansion | None:
    """The shortest accurate expansion, or None when ``max_size`` polynomials do not suffice."""
    probes = radius * np.cos(np.linspace(0.0, np.pi, 41) ** 1.01 / np.pi**0.01)
    exact = kernel(probes[:, None], probes[None, :])
    allowed = MAX_ERROR * max(float(np.abs(exact).max()), np.finfo(float).tiny)
    size = 8
    while size <= 2 * max_size:
        coefficients = _coefficients(kernel, radius, size)
        reach = np.maximum(np.abs(coefficients).max(axis=0), np.abs(coefficients).max(axis=1))
        needed = int(np.flatnonzero(reach > 0.1 * allowed).max(initial=0)) + 1
        if needed <= size - 2:  # the last coefficients vanish: nothing was aliased
            if needed > max_size:
                return None
            found = Expansion(radius, np.ascontiguousarray(coefficients[:needed, :needed]))
            basis = found.polynomials(probes)
            error = np.abs(basis @ found.coefficients @ basis.T - exact).max()
            return found if error <= 10.0 * allowed else None
        size += max(4, size // 3)
    return None


def _coefficients(kernel, radius, size) -> np.ndarray:
    """Interpolation in the Chebyshev points, symmetric like the kernel."""
    angles = np.pi * (np.arange(size) + 0.5) / size
    transform = 2.0 / size * np.cos(np.outer(np.arange(size), angles))
    transform[0] *= 0.5
    nodes = radius * np.cos(angles)
    coefficients = transform @ kernel(nodes[:, None], nodes[None, :]) @ transform.T
    return 0.5 * (coefficients + coefficients.T)


@dataclass(frozen=True)
class CombinedKernel:
    """A matrix ``basis @ inner @ basis.T``, where the columns of ``basis`` are orthonormal.

    Attributes
    ----------
    inner : ndarray of shape (rank, rank)
    basis : ndarray of shape (n_samples, rank) or None
        None is the identity: ``inner`` is the matrix itself.
    """

    inner: np.ndarray
    basis: np.ndarray | None = None

    def shift(self) -> float:
        """max(0, -smallest eigenvalue)."""
        return max(0.0, -float(np.linalg.eigvalsh(self.inner)[0]))


class FactoredKernels:
    """The matrices A_m of a few features as Q T_m Q' with the same orthonormal columns Q.

    A separable expansion makes every A_m a sum of few outer products, up to rounding, so that the
    matrices of a few features have a basis of far fewer directions than there are samples.

    Parameters
    ----------
    factors : list of ndarray of shape (n_samples, rank_m)
    spectra : list of ndarray of shape (rank_m,)
        A_m = factors_m diag(spectra_m) factors_m'.
    """

    basis: np.ndarray

    def __init__(self, factors: list[np.ndarray], spectra: list[np.ndarray]):
        self.basis, triangle = np.linalg.qr(np.hstack(factors))
        ends = np.cumsum([len(spectrum) for spectrum in spectra])
        # Zero below its own columns, so that a short triangle says all of a factor.
        self._triangles = np.split(triangle, ends[:-1], axis=1)
        self._spectra = spectra

    def combine(self, places: np.ndarray, weights: np.ndarray) -> CombinedKernel:
        """The sum of the matrices at these places, with weights."""
        inner = np.zeros((self.basis.shape[1],) * 2)
        for place, weight in zip(places.tolist(), weights, strict=True):
            triangle, spectrum = self._triangles[place], self._spectra[place]
            reach = len(triangle) - int((~triangle.any(axis=1))[::-1].argmin())
            part = triangle[:reach]
            inner[:reach, :reach] += (part * (weight * spectrum)) @ part.T
        return CombinedKernel(inner, self.basis)
