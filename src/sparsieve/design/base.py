"""What a solver may ask of the data matrix X, whatever X is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np

from .ranking import best_first, ranks

# Bytes of a block of rows or columns that is added up at a time: it stays in the second-level
# cache, and is large enough for BLAS to work at full speed.
CACHE_BLOCK_BYTES = 1 << 19
# Bytes of a dense X up to which it may be copied, because solvers read it hundreds of times; a
# larger one is standardised lazily and read by compiled passes, so that memory stays at little more
# than X.
MAX_COPY_BYTES = 64 << 20
# Dense blocks of features in double precision hold about this many bytes.
_DENSE_BLOCK_BYTES = 1 << 24
# Sizes of a column, and of its inverse, up to which squares and their products with weights and
# with each other neither overflow nor vanish.
COLUMN_LIMITS = {np.dtype(np.float64): 2.0**332, np.dtype(np.float32): 2.0**56}
# Steps towards the largest singular value.
MAX_LANCZOS_STEPS = 200
# Groups of rows whose sums are taken together.
GROUPS = 64
# Rows or columns by their numbers, or a mask.
Index: TypeAlias = np.ndarray | list[int]
# Of a matrix with so small a share of nonzeros, products of two sparse columns beat dense ones.
VERY_SPARSE = 0.05


class DesignMatrix(ABC):
    """A samples x features matrix known only through its products.

    Only X is exotic: the arrays that go in and come out are plain NumPy arrays.
    Implementations provide the products and the column statistics; everything else has a
    sensible default here.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    # What one stands for in the units of the user, column by column: powers of two where columns
    # were of extreme size. ``standardise_columns`` reports centre and scale in the units of the
    # user.
    unit: np.ndarray | float = 1.0

    # With how many columns at a time products cost little more than with one.
    columns_at_once = 1
    directions_at_once = 1  # the same where the largest singular value is sought

    is_on_device = False  # whether products are taken by a GPU (or what stands in for one)

    def rank_scores(
        self,
        scores: np.ndarray,
        first: np.ndarray | None,
        last: np.ndarray | None,
        ties: Sequence[np.ndarray] = (),
    ) -> np.ndarray:
        """Ranks by falling scores, equal ones by ``ties`` and then in order: done where X is.

        See :func:`best_first` and :func:`ranks`.
        """
        return ranks(best_first(scores, ties), first, last)

    def in_memory(self) -> np.ndarray | None:
        """X as a NumPy array, where an external X lies in the memory of the host anyway."""
        return None

    @property
    def n_entries(self) -> int:
        """How many numbers a product with X reads: fewer than all where zeros are not kept."""
        return self.shape[0] * self.shape[1]

    @property
    def is_very_sparse(self) -> bool:
        """Whether inner products of columns are found faster from what is stored alone."""
        return self.n_entries <= VERY_SPARSE * self.shape[0] * self.shape[1]

    @property
    def passes(self) -> int:
        """How often X was read from a file or a cluster; 0 where it is held in memory."""
        return 0

    @property
    def is_remote(self) -> bool:
        """Whether moving a row of X costs more than working with it."""
        return False

    def ready(self) -> Self:
        """Do what has to be done once before the first pass, such as counting the rows of X."""
        return self

    def _adopt_unit(self, other: DesignMatrix, columns: Index | slice | None = None) -> Self:
        """Give this design, made of (some columns of) another, its unit."""
        if np.ndim(other.unit):
            unit = np.asarray(other.unit)
            self.unit = unit if columns is None else unit[columns]
        return self

    @abstractmethod
    def matmul(self, W: np.ndarray) -> np.ndarray:
        """X @ W for W of shape (n_features, n_outputs)."""

    @abstractmethod
    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """X.T @ R for R of shape (n_samples, n_outputs)."""

    @abstractmethod
    def rows(self, index: Index | slice) -> DesignMatrix:
        """The design of these samples."""

    @abstractmethod
    def columns(self, index: Index | slice) -> DesignMatrix:
        """The design of these features."""

    @abstractmethod
    def dense_columns(self, index: Index) -> np.ndarray:
        """These features as a plain (n_samples, len(index)) array in Fortran order."""

    def sparse_columns(self, index: Index) -> tuple[Any, np.ndarray, np.ndarray] | None:
        """(S, U, C) with these features as S - U C, where S is a sparse matrix; None if dense."""
        return None

    def take_columns(self, index: Index) -> Any:
        """These columns as ``transform`` gives them to the user of an X out of memory."""
        return np.ascontiguousarray(self.dense_columns(index))

    @abstractmethod
    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Weighted mean and (population) variance of every column, in double precision."""

    @abstractmethod
    def column_sq_norms(self) -> np.ndarray:
        """Squared Euclidean norm of every column."""

    def to_native(self, array: np.ndarray) -> Any:
        """An array where X is: see ``sparsieve._beside``."""
        return array

    def native_projection(self, R: np.ndarray) -> Any:
        """X.T @ R as :meth:`rmatmul`, left where X is."""
        return self.rmatmul(R)

    def native_sq_norms(self) -> Any:
        """As :meth:`column_sq_norms`, left where X is."""
        return self.column_sq_norms()

    def native_moments(self, weights: np.ndarray | None = None) -> tuple[Any, Any]:
        """As :meth:`column_moments`, left where X is."""
        return self.column_moments(weights)

    def native_group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """As :meth:`group_moments`, left where X is."""
        return self.group_moments(codes, n_groups, weights)

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weighted means and variances of every column in every group of rows.

        Two arrays of shape (n_groups, n_features); ``codes`` say which of the groups, none of
        them empty, a row belongs to.
        """
        means = np.empty((n_groups, self.shape[1]))
        variances = np.empty_like(means)
        for k in range(n_groups):
            rows = np.flatnonzero(codes == k)
            some = None if weights is None else weights[rows]
            means[k], variances[k] = self.rows(rows).column_moments(some)
        return means, variances

    def group_sums(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Weighted sums of every column over every group of rows: (n_groups, n_features)."""
        sums = np.empty((n_groups, self.shape[1]))
        for part in slices(n_groups, GROUPS):
            inside = np.flatnonzero((codes >= part.start) & (codes < part.stop))
            members = np.eye(part.stop - part.start)[codes[inside] - part.start]
            if weights is not None:
                members *= weights[inside, None]
            design = self if n_groups <= GROUPS else self.rows(inside)
            sums[part] = design.rmatmul(members).T
        return sums

    def column_minima(self) -> np.ndarray:
        """The smallest value of every column."""
        return self.dense_columns(np.arange(self.shape[1])).min(axis=0)

    def hint_columns(self, index: Index) -> None:  # noqa: B027
        """Say which columns may be asked for next: a hint that saves passes over a file."""

    def column_magnitudes(self) -> np.ndarray:
        """A bound on the norm of the numbers that a product with each column goes through.

        Rounding errors of ``rmatmul`` are proportional to it; it exceeds the norm of the column
        where that is the small difference of large numbers.
        """
        return np.sqrt(self.column_sq_norms().astype(np.float64))

    def gram(self) -> np.ndarray:
        """X.T @ X, for who has no more features than samples."""
        dense = self.dense_columns(np.arange(self.shape[1]))
        return dense.T @ dense

    def cross_gram(self) -> np.ndarray:
        """X @ X.T, accumulated over blocks of columns."""
        n_samples, n_features = self.shape
        step = max(1, CACHE_BLOCK_BYTES // (8 * n_samples), n_samples)
        total = np.zeros((n_samples, n_samples), dtype=self.dtype)
        for start in range(0, n_features, step):
            block = self.dense_columns(np.arange(start, min(start + step, n_features)))
            total += block @ block.T
        return total

    def inner(self, index: Index, weights: np.ndarray | None = None) -> np.ndarray:
        """X.T @ diag(weights) @ X over these features alone, in double precision."""
        columns = self.dense_columns(index).astype(np.float64, copy=False)
        return columns.T @ (columns if weights is None else weights[:, None] * columns)

    def outer(self, index: Index) -> np.ndarray:
        """X @ X.T over these features alone, in double precision."""
        columns = self.dense_columns(index).astype(np.float64, copy=False)
        return columns @ columns.T

    def normal_products(self, V: np.ndarray) -> np.ndarray:
        """X.T @ X @ V."""
        return self.rmatmul(self.matmul(V.astype(self.dtype, copy=False)))

    def spectral_norm(self, tol: float = 1e-6) -> float:
        """Largest singular value, by Lanczos' method with full reorthogonalisation, in blocks.

        A few steps suffice; the estimate is a lower bound that has converged to ``tol``
        relative, so callers that need an upper bound should allow that margin.
        """
        n_features = self.shape[1]
        width = min(self.directions_at_once, n_features)
        block = np.linalg.qr(np.random.default_rng(0).standard_normal((n_features, width)))[0]
        basis, images = np.empty((2, n_features, 0))
        estimate = 0.0
        for _ in range(MAX_LANCZOS_STEPS):
            image = self.normal_products(block).astype(np.float64, copy=False)
            basis, images = np.hstack([basis, block]), np.hstack([images, image])
            inner = basis.T @ images
            previous, estimate = estimate, float(np.linalg.eigvalsh(0.5 * (inner + inner.T))[-1])
            has_converged = basis.shape[1] >= 4 and estimate - previous <= 0.1 * tol * estimate
            if has_converged or basis.shape[1] >= n_features:
                break
            for _ in range(2):  # the second pass removes what rounding left of the first
                image = image - basis @ (basis.T @ image)
            if np.linalg.norm(image) <= 1e-12 * estimate:
                break
            block = np.linalg.qr(image)[0][:, : n_features - basis.shape[1]]
        return float(np.sqrt(max(estimate, 0.0)))


Base = TypeVar("Base", bound=DesignMatrix)


class TransformedView(DesignMatrix, Generic[Base]):
    """A design that is computed from another one when it is read."""

    dtype: np.dtype
    shape: tuple[int, int]

    def __init__(self, base: Base):
        self.base = base
        self.shape, self.dtype = base.shape, base.dtype

    @property
    def n_entries(self) -> int:
        return self.base.n_entries

    @property
    def passes(self) -> int:
        return self.base.passes

    @property
    def is_remote(self) -> bool:
        return self.base.is_remote

    def hint_columns(self, index: Index) -> None:
        self.base.hint_columns(index)


def slices(count: int, step: int) -> Iterator[slice]:
    """The places of so many things, ``step`` at a time."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def feature_blocks(design: DesignMatrix) -> Iterator[tuple[slice, np.ndarray]]:
    """(place, dense columns in double precision) of a few features at a time."""
    n_samples, n_features = design.shape
    for place in slices(n_features, max(1, _DENSE_BLOCK_BYTES // (8 * n_samples))):
        yield place, design.dense_columns(np.arange(place.start, place.stop)).astype(np.float64)
