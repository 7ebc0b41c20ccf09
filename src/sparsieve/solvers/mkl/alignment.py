"""Centred Gaussian kernels of single features with norm one, and their inner products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...design import DesignMatrix

# Kernels are evaluated in blocks of about this many bytes.
BLOCK_BYTES = 1 << 24


class CentredKernels:
    """The kernel matrices of all features on groups of samples, as vectors of norm one.

    Column j of ``design`` (of unit variance) gives exp(-(u - v)^2 / 2) for all pairs of samples in
    every group; the matrix of each group is centred in rows and columns, and all of them together
    are divided by their Frobenius norm. Constant columns give zero.

    The vectors are held in single precision if all fit ``max_memory`` bytes, and are evaluated
    again in every pass if they do not.

    Parameters
    ----------
    design : DesignMatrix
        Standardised features.
    groups : ndarray of shape (n_groups, group_size)
        Samples of every group.
    max_memory : float
        Bytes that the kernels may take.
    """

    def __init__(self, design: DesignMatrix, groups: np.ndarray, max_memory: float):
        self.design, self.groups = design, groups
        self.n_features = design.shape[1]
        self.size = groups.shape[0] * groups.shape[1] ** 2
        self._held: np.ndarray | None = None
        if 4 * self.size * self.n_features <= max_memory:
            self._held = np.empty((self.n_features, self.size), dtype=np.float32)
            for place, block in self._evaluated(np.arange(self.n_features)):
                self._held[place] = block

    def inner(self, vector: np.ndarray) -> np.ndarray:
        """Inner product of every kernel with this vector, in double precision."""
        if self._held is not None:
            return (self._held @ vector).astype(np.float64)
        products = np.empty(self.n_features)
        for place, block in self._evaluated(np.arange(self.n_features)):
            products[place] = block @ vector
        return products

    def kernel(self, feature: int) -> np.ndarray:
        """The kernel of one feature as a vector."""
        if self._held is not None:
            return self._held[feature]
        return next(self._evaluated(np.array([feature])))[1][0]

    def _evaluated(self, features: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        step = max(1, BLOCK_BYTES // (4 * self.size))
        for start in range(0, len(features), step):
            place = slice(start, min(start + step, len(features)))
            columns = self.design.dense_columns(features[place]).astype(np.float32, copy=False)
            values = np.moveaxis(columns[self.groups], -1, 0)  # features, groups, samples
            distances = values[..., :, None] - values[..., None, :]
            distances *= distances
            distances *= -0.5
            yield place, unit_vectors(np.exp(distances, out=distances))


def unit_vectors(matrices: np.ndarray) -> np.ndarray:
    """(..., groups, samples, samples) matrices centred, and together of norm one, as vectors."""
    matrices -= matrices.mean(axis=-1, keepdims=True)
    matrices -= matrices.mean(axis=-2, keepdims=True)
    vectors = matrices.reshape(*matrices.shape[:-3], -1)
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors, dtype=np.float64))[..., None]
    # What centring leaves of a constant is rounding.
    known = lengths > 1e-6 * np.sqrt(vectors.shape[-1])
    vectors *= np.divide(1.0, lengths, out=np.zeros_like(lengths), where=known)
    return vectors
