"""Columns of groups in a working set, turned so that those of a group are orthogonal.

With X_g V = U S, where U has orthonormal columns and V is a rotation, penalties on ||W_g|| are the
same for V'W_g, and a group is minimised exactly by one root of one variable. A group is turned when
it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...design import DesignMatrix
from .quadratic_model import ranges

# Bytes of columns that are turned at a time.
BLOCK_BYTES = 1 << 25
# Of the square of a sparse column: where no more than this share is left without its part along U,
# too many digits are lost in differences of products.
CANCELLED_SHARE = 1e-4
# Directions of a group whose squared singular value is at most this share of the largest are
# rounding.
RANK_TOL = 1e-14


def turned_columns(
    design: DesignMatrix, members: Sequence[np.ndarray], n_outputs: int, *, turn: bool = True
) -> TurnedColumns:
    """An empty set of columns, packed where that is faster."""
    if design.is_very_sparse:
        sizes = members.shape[1:] if isinstance(members, np.ndarray) else map(len, members)
        parts = design.sparse_columns(np.arange(0))
        if parts is not None and max(sizes, default=0) <= design.shape[0]:
            return PackedColumns(design, members, turn, parts[1], n_outputs)
    return TurnedColumns(design, members, turn)


class TurnedColumns:
    """Dense columns of groups, a row each; of groups with more columns than samples a factor.

    Attributes
    ----------
    groups : ndarray of int
        The groups in the set.
    starts : ndarray of int of shape (len(groups) + 1,)
        Where their columns begin.
    sizes : ndarray of int of shape (len(groups),)
        How many columns each has.
    squares : ndarray of shape (n_columns,)
        The squared norms of the turned columns; where columns are not to be turned, the squared
        spectral norm of their group.
    packed : tuple of arrays or None
        What compiled code needs of sparse columns.
    """

    packed: tuple[Any, ...] | None = None
    design: DesignMatrix
    members: Sequence[np.ndarray]
    turns: bool

    def __init__(self, design: DesignMatrix, members: Sequence[np.ndarray], turn: bool) -> None:
        self.design, self.members, self.turns = design, members, turn
        self.n_samples: int = design.shape[0]
        self.groups: np.ndarray = np.arange(0)
        self.starts: np.ndarray = np.zeros(1, dtype=np.int64)
        self.sizes: np.ndarray = np.zeros(0, dtype=np.int64)
        self.squares: np.ndarray = np.empty(0)
        self.turned: np.ndarray = np.empty(0, dtype=bool)
        # Rotations of groups one after the other, and where that of the group of every column
        # begins, -1 without one.
        self.rotations: np.ndarray = np.empty(0)
        self.rotation_at: np.ndarray = np.empty(0, dtype=np.int64)
        self.factors: dict[int, np.ndarray] = {}  # V of groups with more columns than samples
        self.rows: np.ndarray = np.empty((0, self.n_samples))  # with space for more

    @property
    def size(self) -> int:
        """Columns in the set."""
        return len(self.squares)

    def norms(self, V: np.ndarray) -> np.ndarray:
        """The norm of the rows of every group."""
        if not len(self.groups):
            return np.zeros(0)
        return np.sqrt(np.add.reduceat(np.einsum("ij,ij->i", V, V), self.starts[:-1]))

    def add(self, groups: np.ndarray) -> None:
        """Append groups as they are."""
        old, sizes = self.size, np.array([len(self.members[g]) for g in groups])
        large = sizes > self.n_samples if self.turns else np.zeros(len(groups), dtype=bool)
        self._append(groups, np.where(large, self.n_samples, sizes))
        if len(small := groups[~large]):
            places = np.arange(old, self.size)[np.repeat(~large, self.sizes[-len(groups) :])]
            columns = np.concatenate([self.members[g] for g in small])
            self.rows[places] = self.design.dense_columns(columns).T
        for place in np.flatnonzero(large) + len(self.groups) - len(groups):
            g, own = int(self.groups[place]), self._own(int(place))
            X = np.asarray(self.design.dense_columns(self.members[g]), dtype=np.float64)
            values, U = _spectrum(X @ X.T)
            inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
            self.rows[own] = np.sqrt(values)[:, None] * U.T
            self.factors[g] = (X.T @ U) * np.sqrt(inverse)
            self.squares[own], self.turned[place] = values, True

    def _own(self, place: int) -> slice:
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    def _append(self, groups: np.ndarray, sizes: np.ndarray) -> None:
        self.starts = np.append(self.starts, self.starts[-1] + np.cumsum(sizes))
        self.sizes = np.append(self.sizes, sizes)
        total = int(self.starts[-1])
        self._reserve(total)
        self.squares = np.append(self.squares, np.zeros(total - self.size))
        self.groups = np.append(self.groups, groups)
        self.turned = np.append(self.turned, np.zeros(len(groups), dtype=bool))
        self.rotation_at = np.append(self.rotation_at, np.full(int(sizes.sum()), -1))

    def _reserve(self, total: int) -> None:
        if total > len(self.rows):
            rows = np.empty((max(total, 2 * len(self.rows)), self.n_samples))
            rows[: self.size] = self.rows[: self.size]
            self.rows = rows

    def turn(self, places: np.ndarray) -> bool:
        """Make the columns of some groups orthogonal; whether any were not."""
        places = places[~self.turned[places]]
        if not len(places):
            return False
        for some, index in self._by_size(places, BLOCK_BYTES // (8 * self.n_samples)):
            products, size = self._inner_products(index), index.shape[1]
            if size == 1:
                self.squares[index] = products[:, :, 0]
            elif self.turns:
                self.squares[index], V = _spectrum(products)
                at = len(self.rotations) + np.arange(len(some)) * size * size
                self.rotation_at[index] = at[:, None]
                self.rotations = np.append(self.rotations, V)
                if self.packed is None:
                    self.rows[index] = V.transpose(0, 2, 1) @ self.rows[index]
            else:
                self.squares[index] = np.linalg.eigvalsh(products)[:, -1:]
        self.turned[places] = True
        return True

    def _by_size(self, places: np.ndarray, at_once: int = 1 << 62):
        """(groups, their columns) of one size at a time."""
        sizes = self.sizes[places]
        for size in np.flatnonzero(np.bincount(sizes)).tolist():
            same = places[sizes == size]
            step = max(1, at_once // size)
            for first in range(0, len(same), step):
                some = same[first : first + step]
                yield some, self.starts[some][:, None] + np.arange(size)

    def _inner_products(self, index: np.ndarray) -> np.ndarray:
        """Inner products of columns within groups, before they are turned."""
        rows = self.rows[index]
        return rows @ rows.transpose(0, 2, 1)

    def rotate(
        self, rows: np.ndarray, places: np.ndarray, *, back: bool, compact: bool = False
    ) -> np.ndarray:
        """V times the rows of these groups, or V' times them; other rows stay.

        ``compact`` says that there are no other rows.
        """
        found, at = rows.copy(), self.starts[:-1]
        if compact:
            at, sizes = np.zeros_like(at), self.sizes[places]
            at[places] = np.cumsum(sizes) - sizes
        places = places[self.rotation_at[self.starts[places]] >= 0]
        for some, index in self._by_size(places):
            size = index.shape[1]
            V = self.rotations[self.rotation_at[index[:, :1]] + np.arange(size * size)]
            V = V.reshape(-1, size, size)
            index = at[some][:, None] + np.arange(size)
            found[index] = (V if back else V.transpose(0, 2, 1)) @ rows[index]
        return found

    def own_rows(self, W: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The rows of these groups, one after the other, for the columns of X as they are."""
        rows = self.rotate(W[self.index(places)], places, back=True, compact=True)
        return self._through_factors(rows, places, back=True)

    def turned_rows(self, blocks: np.ndarray) -> np.ndarray:
        """The reverse, for all groups."""
        everyone = np.arange(len(self.groups))
        self.turn(everyone)
        rows = self._through_factors(blocks, everyone, back=False)
        return self.rotate(rows, everyone, back=False)

    def _through_factors(self, rows: np.ndarray, places: np.ndarray, *, back: bool) -> np.ndarray:
        if not self.factors or not len(places):
            return rows
        groups = self.groups[places].tolist()
        sizes = self.sizes[places] if back else np.array([len(self.members[g]) for g in groups])
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        for i, g in enumerate(groups):
            if g in self.factors:
                factor = self.factors[g]
                parts[i] = (factor if back else factor.T) @ parts[i]
        return np.vstack(parts)

    def correlations(self, R: np.ndarray, old: int = 0, *, turned: bool = False) -> np.ndarray:
        """X'R of the columns from ``old`` on, from one row per output.

        If not ``turned``, only the norms of groups mean something.
        """
        return self.rows[old : self.size] @ R.T

    def fit(self, W: np.ndarray) -> np.ndarray:
        """(XW)', of as many of the first columns as there are rows."""
        used = np.flatnonzero(W.any(axis=1))
        return W[used].T @ self.rows[used]

    def inner(self, old: int) -> np.ndarray:
        """The products of the columns from ``old`` on with all columns."""
        return self.rows[old : self.size] @ self.rows[: self.size].T

    def dense(self, places: np.ndarray) -> np.ndarray:
        """The turned columns of these groups, a row each."""
        return self.rows[self.index(places)]

    def index(self, places: np.ndarray) -> np.ndarray:
        """The columns of these groups."""
        return ranges(self.starts[places], self.sizes[places])

    @property
    def n_entries(self) -> int:
        """Numbers that products with the set read."""
        return self.size * self.n_samples


class PackedColumns(TurnedColumns):
    """Sparse columns as they are, s_j - U c_j, with the rotation of every group beside them."""

    def __init__(
        self,
        design: DesignMatrix,
        members: Sequence[np.ndarray],
        turn: bool,
        U: np.ndarray,
        n_outputs: int,
    ) -> None:
        super().__init__(design, members, turn)
        self.U: np.ndarray = np.ascontiguousarray(U.T, dtype=np.float64)
        self.matrix: Any = sparse.csr_array((0, self.n_samples))  # a row per column
        self.lost: np.ndarray = np.empty((0, len(self.U)))  # c_j
        self.shadow: np.ndarray = self.lost  # U's_j
        self.image: np.ndarray = self.lost  # U'x_j
        self.scratch: tuple[np.ndarray, ...] = (
            np.empty((len(self.U), n_outputs)),
            np.empty((len(self.U), n_outputs)),
        )

    def add(self, groups: np.ndarray) -> None:
        self._append(groups, np.array([len(self.members[g]) for g in groups]))
        parts = self.design.sparse_columns(np.concatenate([self.members[g] for g in groups]))
        assert parts is not None
        old, columns, lost = self.matrix, parts[0].tocsc(), np.asarray(parts[2].T, float)
        ends = np.append(old.indptr, old.indptr[-1] + columns.indptr[1:])
        entries = np.append(old.data, columns.data), np.append(old.indices, columns.indices)
        self.matrix = sparse.csr_array((*entries, ends), shape=(self.size, self.n_samples))
        shadow = self.matrix[old.shape[0] :] @ self.U.T
        self.lost, self.shadow = np.vstack((self.lost, lost)), np.vstack((self.shadow, shadow))
        self.image = np.vstack((self.image, shadow - lost @ (self.U @ self.U.T)))
        self._ends = self.matrix.indptr.astype(np.uintp)
        self._samples = self.matrix.indices.astype(np.uint32)

    @property
    def packed(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (
            *(self._ends, self._samples, self.matrix.data, self.rotations, self.rotation_at),
            *(self.U, self.lost, self.shadow, self.image, *self.scratch),
        )

    def _reserve(self, total: int) -> None:
        pass

    def _inner_products(self, index: np.ndarray) -> np.ndarray:
        from ._block_cd_kernels import fill_products

        found, spread = np.empty((*index.shape, index.shape[1])), np.zeros(self.n_samples)
        fill_products(self._ends, self._samples, self.matrix.data, index, spread, found)
        before = np.einsum("gpp->gp", found).copy()
        lost = self.lost[index]
        found -= lost @ self.shadow[index].transpose(0, 2, 1)
        found -= self.image[index] @ lost.transpose(0, 2, 1)
        # What differences of large numbers leave is computed from the columns themselves.
        cancelled = (np.einsum("gpp->gp", found) < CANCELLED_SHARE * before).any(axis=1)
        if cancelled.any():
            rows = self._dense(index[cancelled].ravel()).reshape(-1, index.shape[1], self.n_samples)
            found[cancelled] = rows @ rows.transpose(0, 2, 1)
        return found

    def _dense(self, places: np.ndarray) -> np.ndarray:
        """Columns as they are, a row each."""
        return self.matrix[places].toarray() - self.lost[places] @ self.U

    def _products(self, some: slice, others: slice) -> np.ndarray:
        """Inner products of columns as they are."""
        found = (self.matrix[some] @ self.matrix[others].T).toarray()
        found -= self.lost[some] @ self.shadow[others].T
        return found - self.image[some] @ self.lost[others].T

    def correlations(self, R: np.ndarray, old: int = 0, *, turned: bool = False) -> np.ndarray:
        found = self.matrix @ R.T - self.lost @ (self.U @ R.T)
        if turned:
            found = self.rotate(found, np.arange(len(self.groups)), back=False)
        return found[old:]

    def fit(self, W: np.ndarray) -> np.ndarray:
        rows = np.zeros((self.size, W.shape[1]))
        rows[: len(W)] = W
        rows = self.rotate(rows, np.flatnonzero(self.norms(rows)), back=True)
        return (self.matrix.T @ rows).T - (rows.T @ self.lost) @ self.U

    def inner(self, old: int) -> np.ndarray:
        found, everyone = np.zeros((self.size, self.size)), np.arange(len(self.groups))
        found[old:] = self._products(slice(old, self.size), slice(0, self.size))
        found = self.rotate(found.T, everyone, back=False).T
        return self.rotate(found, everyone[self.starts[:-1] >= old], back=False)[old:]

    def dense(self, places: np.ndarray) -> np.ndarray:
        return self.rotate(self._dense(self.index(places)), places, back=False, compact=True)

    @property
    def n_entries(self) -> int:
        return int(self.matrix.nnz) + self.lost.size


def _spectrum(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, those that are rounding as zeros, and eigenvectors."""
    values, vectors = np.linalg.eigh(products)
    return np.where(values > RANK_TOL * values[..., -1:], values, 0.0), vectors
