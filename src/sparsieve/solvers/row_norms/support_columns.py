"""The columns of a support with the free ones beside them, and their weighted inner products.

Of sparse data they stay sparse: they are centred after the products, which costs no more digits
than the ratio of mean and standard deviation has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

from ...design import Scaled, SparseDesign
from .problem import RobustData

# Below so many samples dense columns are as fast, and where the fullest columns, which are among
# the most useful, have on average more nonzero values than this share.
MANY_SAMPLES, FULLEST, FILLED = 2000, 100, 0.2
# Means in standard deviations: two digits are lost with the square of this.
FAR_FROM_ZERO = 10.0


class SupportColumns(ABC):
    """Penalised columns, then the free ones; all columns of one search are of one kind."""

    @abstractmethod
    def products(
        self, weight: np.ndarray, V: np.ndarray, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The weighted inner products of all columns, each times its scale: with all, with V."""

    def gram(self, weight: np.ndarray) -> np.ndarray:
        """The weighted inner products of all columns."""
        nothing = np.empty((len(weight), 0))
        return self.products(weight, nothing, np.ones(self.n_columns))[0]

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns there are, the free ones included."""

    @abstractmethod
    def matmul(self, U: np.ndarray) -> np.ndarray:
        """All columns times U."""

    @abstractmethod
    def cross(self, weight: np.ndarray, others: Self) -> np.ndarray:
        """The weighted inner products of all columns with the penalised ones of others."""

    @abstractmethod
    def squares(self, weight: np.ndarray) -> np.ndarray:
        """The weighted squares of the penalised columns."""

    @abstractmethod
    def rearranged(self, places: np.ndarray, fresh: Self) -> Self:
        """These penalised columns, then the fresh ones."""


@dataclass(frozen=True)
class DenseColumns(SupportColumns):
    """Plain columns."""

    penalised: np.ndarray
    free: np.ndarray

    @property
    def n_columns(self) -> int:
        return self.penalised.shape[1] + self.free.shape[1]

    def products(
        self, weight: np.ndarray, V: np.ndarray, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        scaled = np.hstack([self.penalised, self.free]) * scale
        root = scaled * np.sqrt(weight)[:, None]
        return root.T @ root, scaled.T @ (weight[:, None] * V)

    def matmul(self, U: np.ndarray) -> np.ndarray:
        return np.hstack([self.penalised, self.free]) @ U

    def cross(self, weight: np.ndarray, others: Self) -> np.ndarray:
        return np.hstack([self.penalised, self.free]).T @ (others.penalised * weight[:, None])

    def squares(self, weight: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->j", self.penalised, self.penalised * weight[:, None])

    def rearranged(self, places: np.ndarray, fresh: Self) -> Self:
        columns = np.empty((len(self.free), len(places) + fresh.penalised.shape[1]), order="F")
        columns[:, : len(places)] = self.penalised[:, places]
        columns[:, len(places) :] = fresh.penalised
        return replace(self, penalised=columns)


@dataclass(frozen=True)
class SparseColumns(SupportColumns):
    """Columns ``stored`` - 1 centre', with few nonzero values stored."""

    stored: sparse.csc_array
    centre: np.ndarray
    free: np.ndarray

    @property
    def n_columns(self) -> int:
        return len(self.centre) + self.free.shape[1]

    def products(
        self, weight: np.ndarray, V: np.ndarray, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        size, centre = len(self.centre), self.centre
        weighted = self._weighted(weight).T
        sums, total, sums_of_V = weighted.sum(axis=1), weight.sum(), weight @ V
        matrix = np.empty((self.n_columns, self.n_columns))
        matrix[:size, :size] = (weighted @ self._by_row).toarray()
        matrix[:size, :size] -= np.outer(sums, centre) + np.outer(centre, sums - total * centre)
        with_V = np.empty((self.n_columns, V.shape[1]))
        with_V[:size] = weighted @ V - np.outer(centre, sums_of_V)
        if self._intercept is None:
            free = weight[:, None] * self.free
            matrix[:size, size:] = weighted @ self.free - np.outer(centre, free.sum(axis=0))
            matrix[size:, size:] = free.T @ self.free
            with_V[size:] = free.T @ V
        else:
            matrix[:size, size] = self._intercept * (sums - total * centre)
            matrix[size:, size:] = self._intercept**2 * total
            with_V[size:] = self._intercept * sums_of_V
        matrix[size:, :size] = matrix[:size, size:].T
        return matrix * np.outer(scale, scale), with_V * scale[:, None]

    def matmul(self, U: np.ndarray) -> np.ndarray:
        size = len(self.centre)
        product = self.stored @ U[:size]
        level = -(self.centre @ U[:size])
        if self._intercept is None:
            product += self.free @ U[size:]
        else:  # one number for all rows: nothing of their number is made
            level += self._intercept * U[size]
        product += level
        return product

    @cached_property
    def _intercept(self) -> float | None:
        """The value of the only free column, where it is a constant one."""
        free = self.free
        alone = free.shape[1] == 1 and len(free) > 0 and bool((free == free[0]).all())
        return float(free[0, 0]) if alone else None

    def cross(self, weight: np.ndarray, others: Self) -> np.ndarray:
        weighted = others._weighted(weight)
        sums, total = np.asarray(weighted.sum(axis=0)).ravel(), weight.sum()
        inner = (self.stored.T @ weighted).toarray()
        inner -= np.outer(self.stored.T @ weight, others.centre)
        inner -= np.outer(self.centre, sums - total * others.centre)
        free = (weighted.T @ self.free).T - np.outer(self.free.T @ weight, others.centre)
        return np.vstack([inner, free])

    def squares(self, weight: np.ndarray) -> np.ndarray:
        weighted = self._weighted(weight)
        sums = np.asarray(weighted.sum(axis=0)).ravel()
        squares = np.asarray(self.stored.multiply(weighted).sum(axis=0)).ravel()
        return squares - 2.0 * self.centre * sums + weight.sum() * self.centre**2

    def rearranged(self, places: np.ndarray, fresh: Self) -> Self:
        return replace(
            self,
            stored=sparse.csc_array(sparse.hstack([self.stored[:, places], fresh.stored])),
            centre=np.concatenate([self.centre[places], fresh.centre]),
        )

    @cached_property
    def _by_row(self) -> sparse.csr_array:
        return sparse.csr_array(self.stored)

    def _weighted(self, weight: np.ndarray) -> sparse.csc_array:
        stored = self.stored
        values = stored.data * weight[stored.indices]
        return sparse.csc_array((values, stored.indices, stored.indptr), shape=stored.shape)


def support_columns(
    data: RobustData, features: np.ndarray, sparsely: bool = False
) -> SupportColumns:
    """The columns of these features in double precision, kept sparse on demand."""
    if not sparsely:
        return DenseColumns(data.columns(features), data.free)
    base, centre, scale = _parts(data)
    stored = sparse.csc_array(base.by_column[:, features], dtype=np.float64)
    stored.data /= np.repeat(scale[features], np.diff(stored.indptr))
    return SparseColumns(stored, centre[features] / scale[features], data.free)


def better_sparse(data: RobustData) -> bool:
    """Whether columns are better kept sparse."""
    design = data.design
    if (
        len(data.Y) <= MANY_SAMPLES
        or not isinstance(design, Scaled)
        or not isinstance(design.base, SparseDesign)
        or design.row_scale is not None
        or design.scale is None
    ):
        return False
    base, centre, scale = _parts(data)
    filled = np.sort(np.diff(base.by_column.indptr))[-FULLEST:].mean() / len(data.Y)
    return bool(filled <= FILLED and (np.abs(centre) <= FAR_FROM_ZERO * scale).all())


def _parts(data: RobustData) -> tuple[SparseDesign, np.ndarray, np.ndarray]:
    design = data.design
    assert isinstance(design, Scaled)
    assert isinstance(design.base, SparseDesign)
    assert design.scale is not None
    centre = np.zeros(len(design.scale)) if design.centre is None else design.centre
    return design.base, centre.astype(np.float64), design.scale.astype(np.float64)
