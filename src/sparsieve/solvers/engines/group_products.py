"""Inner products of the columns of every group of features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import gamma

from ...design import DesignMatrix
from ...penalties import GroupPenalty

# Bytes of columns that are unpacked at a time.
BLOCK_BYTES = 1 << 26
# Sparse columns whose inner products are taken at a time.
SPARSE_COLUMNS = 1000
# Numbers that the inner products within all groups may be.
MAX_PRODUCTS = 200_000_000
# A column whose residual has shrunk to this share of its squared norm lies in the span of others
# (a duplicate, a constant): it has nothing left to add.
RANK_TOL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


def group_products(
    design: DesignMatrix, groups: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(groups, their columns, X_g'X_g) for every size of a group; empty ones are left out."""
    sizes = np.array([len(columns) for columns in groups])
    if float((sizes.astype(float) ** 2).sum()) > MAX_PRODUCTS:
        raise ValueError(
            f"the feature groups are too large (up to {sizes.max()} columns) for inner products "
            "of all their columns; divide them into smaller groups"
        )
    for size in np.unique(sizes[sizes > 0]).tolist():
        members = np.flatnonzero(sizes == size)
        columns = np.array([groups[int(g)] for g in members])
        if size == 1:
            norms = np.asarray(design.column_sq_norms(), dtype=np.float64)
            yield members, columns, norms[columns][:, :, None]
            continue
        products = np.empty((len(members), size, size))
        step = max(1, BLOCK_BYTES // (8 * design.shape[0] * size))
        if design.is_very_sparse:
            step = max(1, SPARSE_COLUMNS // size)
        for first in range(0, len(members), step):
            part = columns[first : first + step]
            if design.is_very_sparse:
                inner = design.inner(part.ravel()).reshape(len(part), size, len(part), size)
                products[first : first + step] = np.einsum("igih->igh", inner)
                continue
            X = np.asarray(design.dense_columns(part.ravel()), dtype=np.float64)
            X = X.T.reshape(len(part), size, -1)
            products[first : first + step] = X @ X.transpose(0, 2, 1)
        yield members, columns, products


def group_spectra(
    design: DesignMatrix, groups: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(groups, eigenvalues of X_g'X_g) for every size; of large groups those of X_g X_g'."""
    n_samples = design.shape[0]
    narrow = [some[:0] if len(some) > n_samples else some for some in groups]
    for members, _, products in group_products(design, narrow):
        yield members, np.maximum(np.linalg.eigvalsh(products), 0.0)
    for g, columns in enumerate(groups):
        if len(columns) > n_samples:
            X = np.asarray(design.dense_columns(columns), dtype=np.float64)
            yield np.array([g]), np.maximum(np.linalg.eigvalsh(X @ X.T), 0.0)[None]


def group_ranks(design: DesignMatrix, groups: Sequence[np.ndarray]) -> np.ndarray:
    """The rank of the columns of every group, as far as the precision of X tells."""
    tol = RANK_TOL[np.dtype(design.dtype)]
    ranks = np.zeros(len(groups), dtype=np.int64)
    for members, values in group_spectra(design, groups):
        ranks[members] = (values > tol * values[:, -1:]).sum(axis=1)
    return ranks


@dataclass(frozen=True)
class PenalisedGroups:
    """Groups of columns in a penalty sum_g c_g ||W_g||.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used. Groups of one size may be the rows
        of an array.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    """

    groups: Sequence[np.ndarray]
    weights: np.ndarray

    def strengths(self, G: np.ndarray) -> np.ndarray:
        """||G_g|| / c_g of every group, from one row per feature."""
        return self.entry_strengths(G, 1, GroupPenalty(1.0))[0]

    def entry_strengths(self, G: np.ndarray, count: int, penalty: GroupPenalty) -> np.ndarray:
        """The strength of a penalty at which every group enters, a row for each of several G.

        They lie beside each other.
        """
        if G.shape[1] == count:
            squares = np.square(G, dtype=np.float64)
        else:
            parts = G.reshape(len(G), count, -1)
            squares = np.einsum("ijk,ijk->ij", parts, parts, dtype=np.float64)
        starts, members = self._places
        squares = squares[: len(members)] if self._is_in_order else squares[members]
        used = np.flatnonzero(self.sizes)
        if len(used) == len(self.groups) > 0:
            entering = penalty.entering(squares, starts[:-1], self.weights)
            return np.ascontiguousarray(entering)
        found = np.zeros((count, len(self.groups)))
        if len(used):
            found[:, used] = penalty.entering(squares, starts[used], self.weights[used])
        return found

    def members(self, groups: np.ndarray) -> np.ndarray:
        """The columns of some groups, one group after the other."""
        starts, members = self._places
        sizes = self.sizes[groups]
        ends = np.cumsum(sizes)
        return members[np.repeat(starts[groups] - ends + sizes, sizes) + np.arange(sizes.sum())]

    @cached_property
    def sizes(self) -> np.ndarray:
        """Columns of every group."""
        return np.diff(self._places[0])

    @cached_property
    def are_columns(self) -> bool:
        """Whether every group is the column of its number, or empty."""
        sizes, members = self.sizes, self._places[1]
        return bool(sizes.max(initial=0) <= 1 and np.array_equal(members, np.flatnonzero(sizes)))

    @cached_property
    def _is_in_order(self) -> bool:
        """Whether the members of all groups are the first columns in their order."""
        return bool(np.array_equal(self._places[1], np.arange(self.size)))

    @property
    def size(self) -> int:
        """Columns of all groups together."""
        return len(self._places[1])

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where every group begins among the members of all groups, and these."""
        if isinstance(self.groups, np.ndarray):  # all of one size
            return np.arange(len(self.groups) + 1) * self.groups.shape[1], self.groups.ravel()
        sizes = [0, *(len(some) for some in self.groups)]
        return np.cumsum(sizes), np.concatenate([np.arange(0), *self.groups])


class GroupColumns:
    """Groups of columns, of which those with more columns than samples are factorised.

    Of X_g = L Q' with orthonormal columns in Q, least squares with any penalty on ||W_g|| needs L
    alone: the best W_g is Q times the best coefficients of L, and as long. L has as many columns as
    there are samples.

    Attributes
    ----------
    given : list of arrays of int
        The columns of X in every group.
    groups : list of arrays of int
        Columns of every group; those of factors are counted on after the last column of X.
    large : list of int
        The groups that are factorised.
    overlap : bool
        Whether some column is in several groups.
    """

    design: DesignMatrix
    given: list[np.ndarray]

    def __init__(self, design: DesignMatrix, groups: Sequence[np.ndarray]) -> None:
        self.design, self.given = design, list(groups)
        self.overlap: bool = have_shared_columns(groups)
        n_samples, n_features = design.shape
        self.large: list[int] = [g for g, some in enumerate(groups) if len(some) > n_samples]
        self._factors = [self.factor(g)[0] for g in self.large]
        self._extra = np.hstack([np.empty((n_samples, 0)), *self._factors])
        self.groups: list[np.ndarray] = list(groups)
        for i, g in enumerate(self.large):
            self.groups[g] = n_features + i * n_samples + np.arange(n_samples)

    def factor(self, g: int) -> tuple[np.ndarray, np.ndarray]:
        """L and Q' of a large group."""
        n_samples, columns = self.design.shape[0], self.given[g]
        X = np.asarray(self.design.dense_columns(columns), dtype=np.float64)
        Q, R = np.linalg.qr(X.T)
        L, back = np.zeros((n_samples, n_samples)), np.zeros((n_samples, len(columns)))
        L[:, : len(R)], back[: len(R)] = R.T, Q.T
        return L, back

    def narrow(self, g: int, columns: np.ndarray) -> None:
        """Leave a large group with these of its columns."""
        place = self.large.index(g)
        self.given[g] = columns
        self._factors[place] = L = self.factor(g)[0]
        self._extra[:, place * len(L) : (place + 1) * len(L)] = L

    def product(self, V: np.ndarray) -> np.ndarray:
        """X'V, and L'V of every factor below."""
        inner = self.design.rmatmul(V.astype(self.design.dtype, copy=False))
        inner = np.asarray(inner, dtype=np.float64)
        return np.vstack((inner, self._extra.T @ V)) if self.large else inner

    def columns(self, g: int) -> np.ndarray:
        """The columns of a group, or its factor."""
        if g in self.large:
            return self._factors[self.large.index(g)]
        return np.asarray(self.design.dense_columns(self.groups[g]), dtype=np.float64)

    def products(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(groups, their columns, inner products) as :func:`group_products` gives them."""
        small = [some[:0] if g in self.large else some for g, some in enumerate(self.given)]
        yield from group_products(self.design, small)
        if self.large:
            columns = np.array([self.groups[g] for g in self.large])
            yield np.array(self.large), columns, np.array([L.T @ L for L in self._factors])


def have_shared_columns(groups: Sequence[np.ndarray]) -> bool:
    """Whether some column is in several groups."""
    members = np.concatenate([np.arange(0), *groups])
    return len(np.unique(members)) < len(members)


def without_columns(
    blocks: np.ndarray, right: np.ndarray, out: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Blocks and right sides in which some columns, ``out`` of each, stand apart for nothing."""
    if not out.any():
        return blocks, right
    blocks = np.where(out[:, :, None] | out[:, None, :], 0.0, blocks)
    blocks += (out * size[:, None])[:, :, None] * np.eye(out.shape[1])
    return blocks, np.where(out[:, :, None], 0.0, right)


def solved_blocks(
    blocks: np.ndarray, right: np.ndarray, spent: np.ndarray, *, regular: bool
) -> np.ndarray:
    """blocks^-1 right for every block; eigenvalues up to ``spent`` count as infinite.

    ``regular`` says that there are none of these.
    """
    if blocks.shape[1] == 1:
        left = blocks[:, 0, 0]
        inverse = np.divide(1.0, left, out=np.zeros_like(left), where=left > spent)
        return inverse[:, None, None] * right
    if regular:
        return np.linalg.solve(blocks, right)
    values, vectors = np.linalg.eigh(blocks)
    kept = values > spent[:, None]
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    return vectors @ (inverse[:, :, None] * (vectors.transpose(0, 2, 1) @ right))


def noise_gains(
    design: DesignMatrix,
    groups: Sequence[np.ndarray],
    ridge: float,
    Y: np.ndarray,
    *,
    usual: float,
    freedom: float,
) -> tuple[np.ndarray, float]:
    """What the best of these groups would gain if all were noise, given each one's size.

    In variances of the noise; then the same of a single column with the squared norm ``usual``.
    Along the directions of a group, with h_i = s_i^2 / (s_i^2 + ridge),
    noise gains sum_i h_i chi^2, here as the gamma variable of the same mean and variance
    (Satterthwaite 1946), averaged over the outputs. The value is the one that a group of noise
    exceeds with a probability of one in the number of groups, so that each size wins as often.
    """
    squares = np.linalg.eigvalsh(Y.T.astype(np.float64) @ Y)
    power = float(squares.sum())
    n_outputs = power**2 / float((squares**2).sum()) if power > 0 else 1.0
    mean, spread = np.zeros(len(groups)), np.zeros(len(groups))
    for members, values in group_spectra(design, groups):
        values[values <= 1e-12 * values[:, -1:]] = 0.0
        share = np.divide(values, values + ridge, out=np.zeros_like(values), where=values > 0)
        mean[members], spread[members] = share.sum(axis=1), (share**2).sum(axis=1)
    empty = mean <= 0
    if empty.any():  # they gain nothing; they cost as much as the cheapest all the same
        least = np.argmin(np.where(empty, np.inf, mean))
        mean[empty], spread[empty] = (mean[least], spread[least]) if mean[least] > 0 else (1.0, 1.0)
    level = 1.0 / max(int((~empty).sum()), 2)
    single = usual / (usual + ridge)
    mean, spread = np.append(mean, single), np.append(spread, single**2)
    # The variance is measured on the same target, so that large shares of it vary less. Covariates
    # may leave no freedom at all.
    freedom = max(freedom, 1.0)
    rest = np.maximum(spread - mean**2 / freedom, 1e-3 * spread)
    shape = 0.5 * (n_outputs + 2.0 / freedom) * mean**2 / rest
    found = gamma.isf(level, shape, scale=mean / shape)
    return found[:-1], float(found[-1])


Operator = Callable[[np.ndarray], np.ndarray]
