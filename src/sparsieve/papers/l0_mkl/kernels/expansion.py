"""Separable expansions: a smooth kernel on a square is a short sum of products of polynomials.

On [-radius, radius] squared, k(u, v) = sum_pq C_pq T_p(u / radius) T_q(v / radius) up to rounding,
with Chebyshev polynomials T. A product with the kernel matrix of n values then takes O(n q)
operations instead of n^2 evaluations of the kernel. Unlike monomials the polynomials stay
between -1 and 1, so no precision is lost however many are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...._saved import Savable
from .functions import FeatureKernel

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
