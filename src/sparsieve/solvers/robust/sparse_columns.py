"""Columns of a sparse design that are never made dense, with a few dense ones beside them."""

from __future__ import annotations

import numpy as np

from ...design import DesignMatrix


class SparseColumns:
    """[X, F] for a sparse design X in double precision and dense columns F: ``@`` and ``.T @``."""

    def __init__(self, X: DesignMatrix, F: np.ndarray) -> None:
        self.X: DesignMatrix = X
        self.F: np.ndarray = F
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1] + F.shape[1])

    @property
    def without_dense(self) -> SparseColumns:
        """X alone."""
        return SparseColumns(self.X, self.F[:, :0])

    @property
    def T(self) -> Transposed:
        """The transposed matrix."""
        return Transposed(self)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        size = self.X.shape[1]
        return self.X.matmul(np.ascontiguousarray(V[:size])) + self.F @ V[size:]

    def weighted_gram(self, weights: np.ndarray) -> np.ndarray:
        """[X, F]' diag(weights) [X, F]."""
        weighted = weights[:, None] * self.F
        beside = self.X.rmatmul(weighted)
        among = self.X.inner(np.arange(self.X.shape[1]), weights)
        return np.block([[among, beside], [beside.T, self.F.T @ weighted]])


class Transposed:
    """[X, F]'."""

    def __init__(self, columns: SparseColumns) -> None:
        self.columns: SparseColumns = columns

    def __matmul__(self, M: np.ndarray) -> np.ndarray:
        X, F = self.columns.X, self.columns.F
        return np.vstack([X.rmatmul(np.ascontiguousarray(M)), F.T @ M])
