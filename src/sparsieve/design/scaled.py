"""Centring, scaling and row weighting without touching the data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from .base import DesignMatrix, Index, TransformedView

# Inner products of sparse columns are centred afterwards where that leaves this share of their
# squares: two digits at most are lost.
MIN_SHARE_AFTER_CENTRING = 0.01


class Scaled(TransformedView[DesignMatrix]):
    """diag(row_scale) (B - 1 centre') diag(1 / scale), applied lazily to a base design B.

    X W = r * (B (W / s) - 1 (c / s)' W)   and   X' R = (B' (r * R) - c 1'(r * R)) / s,
    so a sparse B stays sparse. Any of the three parts may be None.
    """

    centre: np.ndarray | None
    scale: np.ndarray | None
    row_scale: np.ndarray | None

    def __init__(
        self,
        base: DesignMatrix,
        centre: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        row_scale: np.ndarray | None = None,
    ):
        super().__init__(base)
        self.columns_at_once: int = base.columns_at_once
        self.centre, self.scale, self.row_scale = (
            None if part is None else np.asarray(part, dtype=self.dtype)
            for part in (centre, scale, row_scale)
        )

    def matmul(self, W: np.ndarray) -> np.ndarray:
        if self.scale is not None:
            W = W / self.scale[:, None]
        product = self.base.matmul(W)
        if self.centre is not None:
            product -= self.centre @ W
        return product if self.row_scale is None else product * self.row_scale[:, None]

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if self.row_scale is not None:
            R = R * self.row_scale[:, None]
        sums = R.sum(axis=0, dtype=np.float64).astype(R.dtype, copy=False)
        return self._unshift(self.base.rmatmul(R), sums)

    def _unshift(self, product: np.ndarray, sums: np.ndarray) -> np.ndarray:
        # In place, output by output: a second array of the size of the product would cost as
        # much as reading it.
        for k, total in enumerate(sums):
            column = product[:, k]
            if self.centre is not None:
                column -= self.centre * total
            if self.scale is not None:
                column /= self.scale
        return product

    def rows(self, index: Index | slice) -> Self:
        row_scale = None if self.row_scale is None else self.row_scale[index]
        return type(self)(self.base.rows(index), self.centre, self.scale, row_scale)

    def columns(self, index: Index | slice) -> Self:
        return type(self)(
            self.base.columns(index),
            None if self.centre is None else self.centre[index],
            None if self.scale is None else self.scale[index],
            self.row_scale,
        )

    def dense_columns(self, index: Index) -> np.ndarray:
        columns = np.array(self.base.dense_columns(index), order="F")
        if self.centre is not None:
            columns -= self.centre[index]
        if self.scale is not None:
            columns /= self.scale[index]
        if self.row_scale is not None:
            columns *= self.row_scale[:, None]
        return columns

    def sparse_columns(self, index: Index) -> tuple[Any, np.ndarray, np.ndarray] | None:
        parts = self.base.sparse_columns(index)
        if parts is None:
            return None
        S, U, C = parts
        if self.centre is not None:
            U = np.hstack((U, np.ones((self.shape[0], 1))))
            C = np.vstack((C, self.centre[index][None]))
        if self.scale is not None:
            S, C = S @ sparse.diags_array(1.0 / self.scale[index]), C / self.scale[index]
        if self.row_scale is not None:
            S, U = sparse.diags_array(self.row_scale) @ S, self.row_scale[:, None] * U
        return S, U, C

    def inner(self, index: Index, weights: np.ndarray | None = None) -> np.ndarray:
        if self.row_scale is not None or not self.is_very_sparse:
            return super().inner(index, weights)
        found = self.base.inner(index, weights)
        if self.centre is not None:
            squares, centre = found.diagonal().copy(), self.centre[index].astype(np.float64)
            of_samples = np.ones(self.shape[0]) if weights is None else weights
            sums = self.base.columns(index).rmatmul(of_samples[:, None].astype(self.dtype))
            sums = sums[:, 0].astype(np.float64)
            found -= np.outer(sums - of_samples.sum() * centre, centre)
            found -= np.outer(centre, sums)
            if (found.diagonal() < MIN_SHARE_AFTER_CENTRING * squares).any():
                return super().inner(index, weights)
        if self.scale is not None:
            scale = self.scale[index].astype(np.float64)
            found /= scale
            found /= scale[:, None]
        return found

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        if self.row_scale is None:
            means, variances = self.base.column_moments(weights)
            if self.centre is not None:
                means = means - self.centre
            if self.scale is not None:
                means, variances = means / self.scale, variances / self.scale.astype(float) ** 2
            return means, variances
        n_samples = self.shape[0]
        weights = np.ones(n_samples) if weights is None else np.asarray(weights, dtype=float)
        total = weights.sum()
        means = (self.rmatmul(weights[:, None].astype(self.dtype)) / total)[:, 0].astype(float)
        squares = self._weighted_squares(weights)
        return means, np.maximum(squares / total - means**2, 0.0)

    def column_sq_norms(self) -> np.ndarray:
        return self._weighted_squares(None).astype(self.dtype)

    def column_magnitudes(self) -> np.ndarray:
        sizes = self.base.column_magnitudes()
        if self.centre is not None:
            sizes = sizes + np.sqrt(self.shape[0]) * np.abs(self.centre.astype(np.float64))
        if self.row_scale is not None:
            sizes = sizes * float(np.abs(self.row_scale).max(initial=0.0))
        return sizes if self.scale is None else sizes / self.scale.astype(np.float64)

    def _weighted_squares(self, weights: np.ndarray | None) -> np.ndarray:
        """sum_i weights_i x_ij^2 through the base's moments, which never form X."""
        if self.row_scale is not None:
            squared = self.row_scale.astype(float) ** 2
            weights = squared if weights is None else weights * squared
        means, variances = self.base.column_moments(weights)
        centre = 0.0 if self.centre is None else self.centre.astype(float)
        total = self.shape[0] if weights is None else weights.sum()
        squares = total * (variances + (means - centre) ** 2)
        return squares if self.scale is None else squares / self.scale.astype(float) ** 2
