"""A design whose rows come in blocks: from a file, from workers of a cluster, from a device.

Everything that a solver asks is one *pass*: every block of rows gives a small result, and the
results are merged (:meth:`RowBlockedDesign._reduce`) or put below each other (``_stack``). The
work done on a block is a picklable function of the block and of the operands' rows that belong to
it, so that it can be sent to where the block is. A subclass provides the blocks
(:meth:`RowBlockedDesign._raw_blocks`), or replaces the two kinds of pass altogether.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..._checks import format_names
from ...memory import memory_limit
from ..base import GROUPS, DesignMatrix, Index, slices
from ..dense import DenseDesign
from ..sparse import SparseDesign
from ..views import ClippedDense, clipped_sparse
from .moments import (
    Moments,
    block_moments,
    joint_gram,
    merge_moments,
    moments_and_minima,
)

# Columns that were read once are kept in this share of the memory limit: a solver asks for the
# same few again and again, and each time would be a pass.
COLUMNS_SHARE = 8
# The squares of columns that are smaller lose their digits.
MIN_MAGNITUDE = 2.0**-332


class _Block(DenseDesign):
    """Rows that are used once, and should not take longer than reading them did."""

    streams_above = 1 << 20

    def rows(self, index: Index | slice) -> DenseDesign:
        return _Block(self.array[index])


@dataclass(frozen=True)
class BlockView:
    """From raw rows of X to a design: which columns, clamped to what, in which precision."""

    dtype: np.dtype
    columns: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def __call__(self, raw: Any) -> DesignMatrix:
        """The rows as a dense or sparse design, held in memory."""
        if self.columns is not None:
            raw = raw[:, self.columns]
        if sparse.issparse(raw):
            few = SparseDesign(raw.astype(self.dtype, copy=False))
            if self.low is None or self.high is None:
                return few
            return clipped_sparse(few, self.low, self.high)
        dense = _Block(np.asarray(raw, dtype=self.dtype))
        if self.low is None or self.high is None:
            return dense
        return ClippedDense(dense, self.low, self.high)

    def of_columns(self, index: np.ndarray) -> BlockView:
        """The same view of some of its columns."""
        columns = index if self.columns is None else self.columns[index]
        if self.low is None or self.high is None:
            return replace(self, columns=columns)
        return replace(self, columns=columns, low=self.low[index], high=self.high[index])


@dataclass
class Ledger:
    """What reading X has cost so far; shared by all designs made of the same X."""

    passes: int = 0
    bytes_read: int = 0


# -- what is done with a block; every one can be pickled ---------------------------------------


def transposed_product(block: DesignMatrix, R: np.ndarray) -> np.ndarray:
    """The share of one block in X.T @ R."""
    # Sums over many blocks are collected in double precision.
    return block.rmatmul(np.asfortranarray(R)).astype(np.float64, copy=False)


def _squares(block: DesignMatrix) -> np.ndarray:
    return block.column_sq_norms().astype(np.float64, copy=False)


def add_results(first: Any, second: Any) -> Any:
    """Sum of two results of blocks: arrays, or tuples of arrays."""
    if isinstance(first, tuple):
        return tuple(add_results(a, b) for a, b in zip(first, second, strict=True))
    first += second
    return first


# ------------------------------------------------------------------------------------------------


@dataclass
class _Known:
    """What passes over one view of X have found out already."""

    moments: list[tuple[np.ndarray | None, Moments]] = field(default_factory=list)
    minima: np.ndarray | None = None
    columns: dict[int, np.ndarray] = field(default_factory=dict)
    wanted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


class RowBlockedDesign(DesignMatrix):
    """Rows in blocks that are read, used and forgotten; every question is one pass over them.

    Attributes
    ----------
    feature_names : ndarray of str or None
        Names of the columns, where X knows them.
    passes : int
        How often X was read from its first row to its last, by this design and by all that were
        made of it.
    """

    feature_names: np.ndarray | None = None
    is_sparse = False  # whether blocks are sparse matrices

    def __init__(self, shape: tuple[int, int], dtype: Any):
        self.shape = shape
        self.dtype: np.dtype = np.dtype(dtype)
        self.view: BlockView = BlockView(self.dtype)
        self.index: np.ndarray | None = None  # rows of X that these are; None: all of them
        self._in_order: bool | None = None  # whether they are as X has them; None: not known yet
        self.ledger: Ledger = Ledger()
        self._known = _Known()

    # -- the two kinds of pass -------------------------------------------------------------------

    def _raw_blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield (number of its first row, block) for all rows of X from first to last."""
        raise NotImplementedError

    def _reduce(
        self,
        work: Callable[..., Any],
        *by_row: np.ndarray | None,
        merge: Callable[[Any, Any], Any] = add_results,
    ) -> Any:
        """One pass: merge ``work(block, *operands)`` of all blocks, operands cut to their rows."""
        total = None
        for _, part in self._parts(work, by_row):
            total = part if total is None else merge(total, part)
        return total

    def _stack(self, work: Callable[..., np.ndarray], *by_row: np.ndarray | None) -> np.ndarray:
        """One pass: the results of ``work``, which have a row for every row, below each other."""
        out = None
        for place, part in self._parts(work, by_row):
            if out is None:
                out = np.empty((self.shape[0], part.shape[1]), dtype=part.dtype, order="F")
            out[place] = part
        assert out is not None
        return out

    def _parts(self, work: Callable[..., Any], by_row: tuple) -> Iterator[tuple[Any, Any]]:
        """(places of its rows in this design, result) for every block; counts as a pass."""
        self.ledger.passes += 1
        for start, raw in self._raw_blocks():
            place: Any = slice(start, start + raw.shape[0])
            if self.index is not None:
                place = self._locate_rows(place)
                if not len(self.index[place]):
                    continue
                raw = raw[self.index[place] - start]
            yield (
                place,
                work(self.view(raw), *(None if rows is None else rows[place] for rows in by_row)),
            )

    def _locate_rows(self, rows: slice) -> Any:
        """Where this design has these rows of X."""
        assert self.index is not None
        if self._in_order is None:
            self._in_order = bool((self.index[1:] >= self.index[:-1]).all())
        if self._in_order:
            return slice(*np.searchsorted(self.index, [rows.start, rows.stop]).tolist())
        return np.flatnonzero((self.index >= rows.start) & (self.index < rows.stop))

    @property
    def passes(self) -> int:
        return self.ledger.passes

    # -- what a solver asks ----------------------------------------------------------------------

    def matmul(self, W: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(W.any(axis=1))
        if len(used) <= len(self._known.columns) and all(j in self._known.columns for j in used):
            return self.dense_columns(used) @ W[used]
        return self._stack(methodcaller("matmul", W))

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return self._product(self._reduce(transposed_product, R), R)

    def _product(self, product: np.ndarray, R: np.ndarray) -> np.ndarray:
        self._check_finite(product.sum(axis=1))
        return product.astype(np.result_type(self.dtype, R), copy=False)

    def rows(self, index: Index | slice) -> Self:
        known = np.arange(self.shape[0]) if self.index is None else self.index
        chosen = known[index]
        smaller = self._replace(shape=(len(chosen), self.shape[1]), index=chosen, _in_order=None)
        return smaller._adopt_unit(self)

    def columns(self, index: Index | slice) -> Self:
        index = np.arange(self.shape[1])[index]
        names = None if self.feature_names is None else self.feature_names[index]
        smaller = self._replace(
            shape=(self.shape[0], len(index)),
            view=self.view.of_columns(index),
            feature_names=names,
        )
        return smaller._adopt_unit(self, index)

    def clip_columns(self, low: np.ndarray, high: np.ndarray) -> Self:
        """Every column clamped to an interval; of sparse blocks up to a shift of every column."""
        low, high = np.asarray(low, dtype=self.dtype), np.asarray(high, dtype=self.dtype)
        if self.view.low is not None and self.view.high is not None:
            low, high = np.maximum(low, self.view.low), np.minimum(high, self.view.high)
        return self._replace(view=replace(self.view, low=low, high=high))

    def in_double(self) -> Self:
        """The same numbers, with every product taken in double precision."""
        double = np.dtype(np.float64)
        return self._replace(view=replace(self.view, dtype=double), dtype=double)

    def dense_columns(self, index: Index) -> np.ndarray:
        index = np.arange(self.shape[1])[index]
        kept = self._known.columns
        missing = np.array([j for j in dict.fromkeys(index.tolist()) if j not in kept], dtype=int)
        if len(missing) > self.max_cached_columns():
            return np.asfortranarray(self._stack(methodcaller("dense_columns", index)))
        read = {}
        if len(missing):
            columns = self._stack(methodcaller("dense_columns", missing))
            read = dict(zip(missing.tolist(), columns.T, strict=True))
        found = np.empty((self.shape[0], len(index)), dtype=self.dtype, order="F")
        for k, j in enumerate(index.tolist()):
            found[:, k] = read[j] if j in read else kept[j]
        self._keep_columns(read)
        return found

    def max_cached_columns(self) -> int:
        """How many columns may be kept."""
        size = max(1, self.dtype.itemsize * self.shape[0])
        return max(1, memory_limit() // COLUMNS_SHARE // size)

    def _keep_columns(self, read: dict[int, np.ndarray]) -> None:
        kept = self._known.columns
        kept.update(read)
        while len(kept) > self.max_cached_columns():
            kept.pop(next(iter(kept)))  # the one read first

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        known = self._moments(None, 1, weights)
        return known.means[0], known.squares[0] / known.sizes[0]

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        known = self._moments(np.asarray(codes), n_groups, weights)
        return known.means, known.squares / known.sizes[:, None]

    def group_sums(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> np.ndarray:
        # Sums are asked for of counts, and with them whether all are positive.
        known = self._moments(np.asarray(codes), n_groups, weights, with_minima=True)
        return known.sizes[:, None] * known.means

    def column_minima(self) -> np.ndarray:
        if self._known.minima is None:
            self._known.minima = self._reduce(methodcaller("column_minima"), merge=np.minimum)
        return self._known.minima

    def column_sq_norms(self) -> np.ndarray:
        if self._known.moments:  # X was read once for its moments already
            moments = self._moments(None, 1, None, at_hand=True)
            if moments is not None:
                squares = moments.squares[0] + moments.sizes[0] * moments.means[0] ** 2
                return squares.astype(self.dtype)
        return self._reduce(_squares).astype(self.dtype)

    def joint_gram(
        self,
        Y: Any,
        mix: np.ndarray,
        *,
        centre: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Z'DZ, Z'DB, and Z'D1 of Z = (X - centre) / scale and B = Y mix: one pass.

        D are the weights. In double precision; centre and scale None leave the columns as they
        are.
        """
        half = self._reduce(partial(joint_gram, centre, scale, mix), Y, weights)
        n_features, n_more = self.shape[1], mix.shape[1] + 1
        gram = np.zeros((n_features, n_features), order="F")
        ends = np.cumsum(np.arange(1, n_features + n_more + 1)).tolist()
        for j in range(n_features):
            gram[: j + 1, j] = half[ends[j] - j - 1 : ends[j]]
        more = [half[end : end + n_features] for end in ends[n_features - 1 : -1]]
        for part in slices(n_features, GROUPS):  # below the diagonal, with nothing held beside
            own = np.triu(gram[part, part])
            gram[part, part] = own + np.triu(own, 1).T
            gram[part.stop :, part] = gram[part, part.stop :].T
        return gram, np.array(more[:-1]).reshape(-1, n_features).T, more[-1].copy()

    # --------------------------------------------------------------------------------------------

    def _replace(self, **changes: Any) -> Self:
        """A design of the same X that differs in some attributes; what is known is forgotten."""
        other = copy.copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        other._known = _Known()
        return other

    def _moments(
        self,
        codes: np.ndarray | None,
        n_groups: int,
        weights: np.ndarray | None,
        at_hand: bool = False,
        with_minima: bool = False,
    ) -> Any:
        """Moments by group; those of all rows are kept for the weights they were taken with."""
        weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        if codes is None:
            for others, moments in self._known.moments:
                if _same(weights, others):
                    return moments
            if at_hand:
                return None
        found: Moments
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
            if with_minima:
                work = partial(moments_and_minima, n_groups)
                found, lowest = self._reduce(work, codes, weights, merge=merge_moments)
                self._known.minima = lowest
            else:
                found = self._reduce(
                    partial(block_moments, n_groups), codes, weights, merge=Moments.merge
                )
            whole = found.together()
        self._check_finite(whole.means[0])
        self._check_squares(whole)
        self._known.moments = [*self._known.moments[-1:], (weights, whole)]
        return found

    def _check_finite(self, totals: np.ndarray) -> None:
        """Refuse columns whose sums are no numbers: one of their values is none."""
        self._refuse(~np.isfinite(totals), "NaN or infinite values")

    def _check_squares(self, whole: Moments) -> None:
        """Refuse columns so large or so small that their squares overflow or vanish."""
        mean, square = np.abs(whole.means[0]), whole.squares[0]
        vanishing = (
            (mean < MIN_MAGNITUDE)
            & (square < whole.sizes[0] * MIN_MAGNITUDE**2)
            & (mean + square > 0)
        )
        self._refuse(~np.isfinite(square) | vanishing, "values whose squares are no numbers")

    def _refuse(self, columns_at_fault: np.ndarray, what: str) -> None:
        if not columns_at_fault.any():
            return
        where = np.flatnonzero(columns_at_fault)
        columns = where if self.view.columns is None else self.view.columns[where]
        labels = columns.tolist() if self.feature_names is None else self.feature_names[where]
        raise ValueError(
            f"Input X contains {what} in {len(where)} column{'s' * (len(where) != 1)} "
            f"({format_names(list(labels))}); impute, rescale or drop them before selecting"
        )


def _same(weights: np.ndarray | None, others: np.ndarray | None) -> bool:
    if weights is None or others is None:
        given = others if weights is None else weights
        return given is None or bool((given == 1.0).all())
    return weights is others or np.array_equal(weights, others)
