"""Least squares without samples: Gram matrices of X in blocks, whole or as they are needed.

Many features, far away: columns of X'X are fetched as a solver comes to need them.

A least-squares solver combines the target and the columns that it asks for, and nothing else.
In an orthonormal basis B of what was asked for so far these have few coordinates, and the
product of any of their combinations B r with X is P r, where P = X'B. Fetching a column x_j means
one pass over X for X'x_j, from which P gets its next column (the Gram-Schmidt step, without the
samples). So a fit moves one row of length n_features per feature looked at, and no samples.

Few samples that stand for many: least squares sees X and Y only through inner products.

Let G be the matrix of inner products of the centred, scaled, weighted columns of X and Y. The
columns of any F with F'F = G have the same inner products in no more rows than G has, so that
every least-squares problem on them is the one on X and Y: the same supports, coefficients and
objectives. G takes one pass over X beside the one for the moments, whatever the number of
features selected; worth it where features are few and samples many.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn, TypeGuard

import numpy as np
from scipy.linalg import blas, lapack

from ..base import DesignMatrix, Index
from ..dense import DenseDesign
from ..standardise import Standardisation, clip_bounds, column_standards
from .class_codes import Outputs, independent, totals
from .moments import gram_columns, normal_products, with_target
from .row_blocks import RowBlockedDesign

# What the basis leaves of a column, as a share of its squared norm, that is only rounding.
ROUNDING = 1e-12
# Columns that a solver may ask for in one fit.
MAX_COLUMNS = 8192
# With a column come others that look promising, for they cost little more than one; not where
# they would take more memory than this.
COLUMNS_PER_PASS, MAX_PASS_BYTES = 16, 64 << 20


class Source:
    """Z'Z M for the standardised, weighted Z, by one pass over X."""

    design: RowBlockedDesign
    weights: np.ndarray | None

    def __init__(
        self,
        design: RowBlockedDesign,
        centre: np.ndarray | None,
        scale: np.ndarray,
        weights: np.ndarray | None,
    ):
        self.design, self.weights = design, weights
        self._view = centre, scale

    def columns(self, index: np.ndarray) -> np.ndarray:
        """Z'Z of these columns."""
        return self.design._reduce(partial(gram_columns, *self._view, index), self.weights)

    def products(self, V: np.ndarray) -> np.ndarray:
        """Z'Z V."""
        return self.design._reduce(partial(normal_products, *self._view, V), self.weights)


class FetchedDesign(DesignMatrix):
    """The coordinates of the columns in a basis that grows with what is asked for.

    The first directions of the basis are those of Y. Vectors over the samples have ``shape[0]``
    coordinates, of which those beyond the basis are zero; there are no samples to choose from.

    Parameters
    ----------
    source : _Source
        Gives columns of Z'Z.
    squares : ndarray of shape (n_features,)
        Their diagonal.
    cross : ndarray of shape (n_features, n_targets)
        Z'B with an orthonormal basis B of the target.
    """

    directions_at_once = 8

    def __init__(self, source: Source, squares: np.ndarray, cross: np.ndarray):
        self._source = source
        self._squares = squares
        n_features, self._n_targets = cross.shape
        self.shape: tuple[int, int] = (self._n_targets + min(n_features, MAX_COLUMNS), n_features)
        self.dtype: np.dtype = np.dtype(np.float64)
        self._P = np.asfortranarray(cross)
        self._size = self._n_targets
        self._left = squares - np.einsum("ij,ij->i", self._P, self._P)  # outside of the basis
        self._seen = np.zeros(n_features, dtype=bool)
        self._asked: list[int] = []
        self._hinted = np.empty(0, dtype=np.int64)

    @property
    def passes(self) -> int:
        return self._source.design.passes

    @property
    def _products(self) -> np.ndarray:
        return self._P[:, : self._size]

    def hint_columns(self, index: Index) -> None:
        self._hinted = np.asarray(index)

    def matmul(self, W: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(W.any(axis=1))
        unseen = used[~self._seen[used]]
        if len(unseen) > W.shape[1]:  # cheaper to fetch the product itself
            self._add(self._source.products(W), squares=None, combination=W)
        else:
            self._fetch(unseen)
        out = np.zeros((self.shape[0], W.shape[1]))
        out[: self._size] = self._products[used].T @ W[used]
        return out

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        if R[self._size :].any():
            raise ValueError("a vector outside of what was asked for has no known products")
        return np.asfortranarray(self._products @ R[: self._size])

    def dense_columns(self, index: Index | slice) -> np.ndarray:
        index = np.arange(self.shape[1])[index]
        self._fetch(index[~self._seen[index]])
        columns = np.zeros((self.shape[0], len(index)), order="F")
        columns[: self._size] = self._products[index].T
        return columns

    def rows(self, index: Index | slice) -> NoReturn:
        raise TypeError("a design that was fetched column by column has no rows to choose from")

    def columns(self, index: Index | slice) -> DenseDesign:
        return DenseDesign(self.dense_columns(index))

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        # Only the sum of squares has a meaning without samples.
        if weights is not None and not (np.asarray(weights) == 1.0).all():
            raise TypeError("a design that was fetched column by column has no samples to weigh")
        return np.zeros(self.shape[1]), self._squares / self.shape[0]

    def column_sq_norms(self) -> np.ndarray:
        return self._squares.copy()

    def column_minima(self) -> NoReturn:
        raise TypeError("a design that was fetched column by column has no values")

    def normal_products(self, V: np.ndarray) -> np.ndarray:
        return self._source.products(V)

    # --------------------------------------------------------------------------------------------

    def _fetch(self, features: np.ndarray) -> None:
        """Make these columns combinations of the basis."""
        features = features[self._squares[features] > 0]  # zeros are
        if not len(features):
            return
        self._asked.extend(features.tolist())
        index = np.concatenate([features, self._company(COLUMNS_PER_PASS - len(features))])
        index = np.asarray(list(dict.fromkeys(index.tolist())))
        if self._size + len(index) > self.shape[0]:
            raise ValueError(
                f"the fit needs more than {MAX_COLUMNS} features of an X that is too large for "
                "memory; request fewer features or use a stronger penalty"
            )
        products = self._source.columns(index)
        for k, j in enumerate(index):
            if not self._seen[j]:
                self._add(products[:, [k]], squares=self._squares[j], feature=int(j))
                self._seen[j] = True

    def _add(self, products, *, squares=None, feature=None, combination=None) -> None:
        """Extend the basis by a column x_j, or by all columns of X W, given X' of them."""
        width = products.shape[1]
        self._reserve(width)
        for k in range(width):
            # What the basis knows of the new vector, and its squared norm.
            if feature is None:
                w = combination[:, k]
                coordinates, whole = self._products.T @ w, float(w @ products[:, k])
            else:
                coordinates, whole = self._products[feature].copy(), float(squares)
            rest = products[:, k] - self._products @ coordinates
            left = whole - float(coordinates @ coordinates)
            if feature is not None:
                left = float(rest[feature])  # the same, with fewer digits lost
            if left <= ROUNDING * whole:
                continue
            rest /= np.sqrt(left)
            rest[self._seen] = 0.0  # orthogonal to them
            self._P[:, self._size] = rest
            self._size += 1
            self._left -= rest**2
        # With as many directions as X has samples nothing is left of any column.
        self._seen |= self._left <= ROUNDING * self._squares

    def _reserve(self, width: int) -> None:
        if self._size + width <= self._P.shape[1]:
            return
        wider = np.empty((len(self._P), max(self._size + width, 2 * self._size)), order="F")
        wider[:, : self._size] = self._products
        self._P = wider

    def _company(self, count: int) -> np.ndarray:
        """Other columns that a solver is likely to ask for next.

        Those that it named, or that say most about what the columns asked for so far leave of the
        target.
        """
        count = min(count, MAX_PASS_BYTES // (8 * self.shape[1]), self.shape[0] - self._size - 1)
        hinted = self._hinted[~self._seen[self._hinted]]
        if len(hinted):
            return hinted[: max(count, 0)]
        if count <= 0 or not self._n_targets:
            return np.empty(0, dtype=np.int64)
        known = [j for j in self._asked if self._seen[j]]
        target = np.eye(self._size, self._n_targets)
        columns = self._products[known].T
        rest = target - columns @ np.linalg.lstsq(columns, target, rcond=1e-8)[0]
        correlation = np.einsum("ij,ij->i", *[self._products @ rest] * 2)
        varies = self._squares > 0
        gain = np.divide(
            correlation, self._squares, out=np.zeros_like(correlation), where=varies & ~self._seen
        )
        best = np.argpartition(-gain, min(count, len(gain) - 1))[:count]
        return best[gain[best] > 0]


# Up to this many features (200 MB of inner products in double precision) G is formed.
MAX_FEATURES = 5000
# What is left of a column once it falls below this share of its squared norm is rounding.
PIVOT_ROUNDING = 1e-13


# Numbers of X in memory from which on condensing pays.
MIN_NUMBERS = 1 << 18
# A product with all columns at once is so many times as fast as one with a few.
GRAM_SPEED = 10
# To read X again, to standardise it and to take a product costs so many times as much, and the
# shortest pass as much as one of so many numbers.
PASS_COST, MIN_PASS = 100, 1 << 22


class DenseBlocks(RowBlockedDesign):
    """An array in memory, to be read as the others are: as one block of rows."""

    def __init__(self, design: DenseDesign):
        super().__init__(design.shape, design.dtype)
        self.dense = design
        self._adopt_unit(design)

    def _raw_blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        yield 0, self.dense.array

    def native_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the columns as they are: known, or one fast pass."""
        return self.dense.column_moments(weights)


def to_condense(design: DesignMatrix, n_outputs: int, n_products: float) -> DesignMatrix:
    """An array in memory as blocks, if condensing it costs less than so many products with it."""
    n_samples, n_features = design.shape
    is_tall = type(design) is DenseDesign and n_samples > 2 * (n_features + n_outputs)
    if not is_tall or n_samples * n_features < MIN_NUMBERS or n_features > MAX_FEATURES:
        return design
    assert isinstance(design, DenseDesign)
    return DenseBlocks(design) if GRAM_SPEED * n_products >= n_features else design


def _pays(design: DesignMatrix, n_products: float) -> bool:
    """Whether inner products of all columns cost less than passes for those that are looked at.

    So they do where nobody says how many that are.
    """
    n_samples, n_features = design.shape
    by_passes = PASS_COST * n_products * (n_samples * n_features + MIN_PASS)
    return not 0 < by_passes < n_samples * n_features**2 or isinstance(design, DenseBlocks)


def can_condense(design: DesignMatrix, n_outputs: int) -> TypeGuard[RowBlockedDesign]:
    """Whether X is read in blocks and has few enough features, and enough samples, to condense."""
    if not isinstance(design, RowBlockedDesign):
        return False
    n_samples, n_features = design.shape
    return n_features <= MAX_FEATURES and n_samples > n_features + n_outputs


def without_samples(
    design: DesignMatrix,
    Y: Outputs,
    *,
    centre: bool,
    scale: bool,
    sample_weight: np.ndarray | None = None,
    clip: float | None = None,
    n_products: float = 0.0,
) -> tuple[Standardisation, np.ndarray] | None:
    """X standardised as by ``standardise_columns`` and Y, weighted, for least squares without
    samples.

    Y is centred already where it should be, and not weighted yet. The first pass over X takes its
    moments; shifted by them, the products of the clipped columns that the second takes lose no
    digits to large offsets. Few features are condensed to few rows. Columns of many, on a cluster,
    are fetched in a pass for every few, and where ``n_products`` of a vector with X cost less than
    those of all columns. None where X is to be used as it is.
    """
    is_few = can_condense(design, Y.shape[1])
    if not (is_few or (isinstance(design, RowBlockedDesign) and design.is_remote)):
        return None
    is_few = is_few and _pays(design, n_products)
    if clip is not None and not centre:
        raise ValueError("clip counts from the mean, and needs centred columns")
    means, deviations, constant = column_standards(design, sample_weight)
    size = float(design.shape[0] if sample_weight is None else sample_weight.sum())
    spread = np.where(constant, 1.0, deviations)
    held: Any = design
    base = means if centre else None
    if clip is not None:
        low, high = clip_bounds(means, deviations, clip)
        held = held.clip_columns(low, high)
        if held.is_sparse:
            base = means - np.clip(0.0, low, high)  # clipped up to this shift, see clipped_sparse
    mix, rotation = independent(Y, sample_weight)
    if is_few:
        gram, cross, sums = held.joint_gram(
            Y, mix, centre=base, scale=spread, weights=sample_weight
        )
    else:
        work = partial(with_target, base, spread, mix)
        gram, cross, sums = held._reduce(work, Y, sample_weight)
    drift = np.zeros_like(means)
    if base is not None:
        drift = sums / size  # of clipped columns from the means of the first pass
        if is_few:
            gram = blas.dger(-size, drift, drift, a=gram, overwrite_a=1)
        else:
            gram -= size * drift**2
        cross -= np.outer(drift, totals(Y, sample_weight) @ mix)
        gram[constant] = cross[constant] = 0.0
        base = base + drift * spread
    rescale = np.ones_like(means) if scale else spread
    if clip is not None and scale:
        rescale = np.sqrt(np.maximum(gram.diagonal() if is_few else gram, 0.0) / size)
        rescale = 1.0 / np.where(rescale == 0, 1.0, rescale)
    scales, cross = spread / rescale, cross * rescale[:, None]
    if is_few:
        gram[:, constant & centre] = 0.0
        gram *= rescale
        gram *= rescale[:, None]
        few, target = _factor(gram, cross)
        view: DesignMatrix = DenseDesign(few.astype(design.dtype, copy=False))
        target = target @ rotation
    else:
        view = FetchedDesign(Source(held, base, scales, sample_weight), gram * rescale**2, cross)
        target = np.zeros((view.shape[0], Y.shape[1]))
        target[: len(rotation)] = rotation
    shift = means + drift * spread if centre else drift
    unit = design.unit
    return Standardisation(view, shift * unit, scales * unit, constant), target


def _factor(gram: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, T) with F'F = gram, F'T = cross and orthonormal columns of T.

    By Cholesky with pivoting for F; what F leaves of T is put into rows below it. ``gram`` is
    written over: beside F nothing of its size is held.
    """
    n_features, n_outputs = cross.shape
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    gram /= lengths
    gram /= lengths[:, None]
    upper, pivots, rank, _ = lapack.dpstrf(gram, tol=PIVOT_ROUNDING * n_features, overwrite_a=1)
    order = pivots - 1
    F = np.zeros((rank + n_outputs, n_features), order="F")
    for column, place in enumerate(order):
        height = min(column + 1, rank)
        F[:height, place] = upper[:height, column]
    F *= lengths
    solved = np.zeros((rank, n_outputs))
    if rank and n_outputs:
        given = np.asfortranarray((cross / lengths[:, None])[order[:rank]])
        solved = lapack.dtrtrs(upper[:rank, :rank], given, trans=1)[0]
    values, vectors = np.linalg.eigh(np.eye(n_outputs) - solved.T @ solved)
    return F, np.vstack([solved, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T])
