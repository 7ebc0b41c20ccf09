"""Sums of kernel matrices, in the few directions that they reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
