"""Near copies: features that say what another feature says already.

The measure is the absolute correlation of two columns. Of groups of columns it is the multiple
correlation: the square root of the share of variance of the group's standardised columns that a
regression on the other group's columns explains, adjusted for their number; between single columns
this is the absolute correlation again. A group is judged by what is explained of it, so that a
group which another one contains is a near copy, but not the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from ...design import DesignMatrix

# A correlation this close to 1 is that of an exact copy: the rest is rounding.
COPY_TOL = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
# What is left of a column, as a share of its size, once its mean is taken off: less is rounding.
CONSTANT_TOL = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
# Singular values below this share of the largest are linear dependences between columns.
RANK_TOL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


class Redundancy:
    """Which features of a design are near copies of others.

    Parameters
    ----------
    design : DesignMatrix
        Whose inner products are those of centred, weighted columns; or, with ``weights``, the
        columns as they are.
    limit : float
        The correlation from which on a feature is a near copy.
    n_samples : float
        Number of samples, counted with their weights.
    weights : ndarray of shape (n_samples,) or None
        Weights of the samples, where columns are to be centred and weighted here.
    below : ndarray of shape (n_rows, n_features) or None
        Rows that were projected out of the design: columns count with these below them.
    groups : sequence of arrays of int or None
        The columns of every feature; None where every column is one.
    always : sequence of int
        Features that are kept from the start.
    """

    design: DesignMatrix
    n_samples: float
    below: np.ndarray | None
    groups: Sequence[np.ndarray] | None
    always: list[int]

    def __init__(
        self,
        design: DesignMatrix,
        limit: float,
        *,
        n_samples: float,
        weights: np.ndarray | None = None,
        below: np.ndarray | None = None,
        groups: Sequence[np.ndarray] | None = None,
        always: Sequence[int] = (),
    ) -> None:
        self.design, self.n_samples, self.below = design, n_samples, below
        self.groups, self.always = groups, list(always)
        self.limit: float = min(limit, 1.0 - COPY_TOL[np.dtype(design.dtype)])
        self.weights: np.ndarray | None = weights
        self._roots: np.ndarray | None = None if weights is None else np.sqrt(weights)
        # Near copies that were come across: by the feature that stays, with their correlations.
        self.found: dict[int, dict[int, float]] = {}
        self._searched: set[int] = set()

    @property
    def n_units(self) -> int:
        """How many features there are, groups counted once."""
        return self.design.shape[1] if self.groups is None else len(self.groups)

    @property
    def is_plain(self) -> bool:
        """Whether products of columns of the design are all that correlations are made of."""
        return self.weights is None and self.below is None and self.groups is None

    def unit_columns(self, unit: int) -> np.ndarray:
        """The columns of a feature."""
        return np.array([unit]) if self.groups is None else self.groups[unit]

    def values(self, index: np.ndarray) -> np.ndarray:
        """Columns of unit length, without constant ones."""
        return self._unit_length(self.design.dense_columns(index.tolist()), index)

    def _unit_length(self, columns: np.ndarray, index: np.ndarray) -> np.ndarray:
        if self.weights is None and self.below is None and columns.shape[1] == 1:
            column = columns[:, 0].astype(np.float64, copy=False)
            length = float(np.sqrt(column @ column))
            return (column / length)[:, None] if length > 0.0 else columns[:, :0]
        values = np.array(columns, dtype=np.float64)
        if self.weights is not None:
            gaps = np.isnan(values)
            if gaps.any():  # what is not known says nothing
                weights = np.where(gaps, 0.0, self.weights[:, None])
                values[gaps] = 0.0
                means = (weights * values).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
            else:
                means = self.weights @ values / self.weights.sum()
            size = np.abs(values).max(axis=0, initial=0.0)
            values -= means
            values[gaps] = 0.0
            least = CONSTANT_TOL[np.dtype(self.design.dtype)] * size
            values[:, np.abs(values).max(axis=0, initial=0.0) <= least] = 0.0
            values *= self._roots[:, None]  # type: ignore[index]
        if self.below is not None:
            values = np.vstack([values, self.below[:, index]])
        lengths = np.sqrt(np.einsum("ij,ij->j", values, values))
        known = lengths > 0.0
        return values[:, known] / lengths[known]

    def basis(self, values: np.ndarray) -> np.ndarray:
        """Orthonormal directions of the columns of a feature."""
        if values.shape[1] < 2:
            return values
        left, spread, _ = np.linalg.svd(values, full_matrices=False)
        return left[:, spread > RANK_TOL[np.dtype(self.design.dtype)] * spread[0]]

    def adjust(self, share: np.ndarray, ranks: np.ndarray | int) -> np.ndarray:
        """Correlations from the shares of variance that so many directions explain."""
        ranks = np.asarray(ranks)
        freedom = self.n_samples - 1.0 - ranks
        penalty = np.where(ranks > 1, (self.n_samples - 2.0) / np.maximum(freedom, 1e-300), 1.0)
        left = np.where((ranks > 1) & (freedom <= 0.0), 1.0, (1.0 - share) * penalty)
        return np.sqrt(np.clip(1.0 - left, 0.0, 1.0))

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared lengths of all columns."""
        if self.weights is not None:
            means, variances = self.design.column_moments(self.weights)
            deviations = np.sqrt(variances)
            least = CONSTANT_TOL[np.dtype(self.design.dtype)] * (np.abs(means) + deviations)
            return np.where(deviations > least, self.weights.sum() * variances, 0.0)
        squares = self.design.column_sq_norms().astype(np.float64)
        return squares if self.below is None else squares + (self.below**2).sum(axis=0)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths of all columns, infinite where nothing is known of one."""
        known = np.isfinite(self.squares) & (self.squares > 0.0)
        return np.sqrt(np.where(known, self.squares, np.inf))

    def copies(self, unit: int) -> np.ndarray:
        """All near copies of a feature: one product with the design."""
        if unit not in self._searched:
            self._searched.add(unit)
            self.found.setdefault(unit, {}).update(self._copies(unit))
        return np.fromiter(self.found[unit], dtype=np.int64)

    def _copies(self, unit: int) -> dict[int, float]:
        basis = self.basis(self.values(self.unit_columns(unit)))
        if not basis.shape[1]:
            return {}
        n_rows = self.design.shape[0]
        upper = basis[:n_rows] if self._roots is None else self._roots[:, None] * basis[:n_rows]
        upper = np.asfortranarray(upper, dtype=self.design.dtype)
        products = np.zeros((self.design.shape[1], basis.shape[1]))
        if self.below is None or upper.any():  # nothing is left of what was projected out
            products += self.design.rmatmul(upper)
        if self.below is not None:
            products += self.below.T @ basis[n_rows:]
        if self.groups is None:
            strength = products[:, 0] / self.lengths
        else:
            share = (products**2).sum(axis=1) / self.lengths**2
            share = np.where(np.isfinite(share), np.minimum(share, 1.0), 0.0)
            known = np.isfinite(self.lengths)
            means = [
                float(share[some[known[some]]].mean()) if known[some].any() else 0.0
                for some in self.groups
            ]
            strength = self.adjust(np.array(means), basis.shape[1])
        close = np.flatnonzero(np.abs(strength) >= self.limit).tolist()
        return {j: min(max(float(strength[j]), -1.0), 1.0) for j in close if j != unit}

    @property
    def passed_over(self) -> dict[int, dict[int, float]]:
        """The near copies that were come across, by the feature that they are copies of."""
        return {unit: dict(others) for unit, others in self.found.items() if others}

    def conflicts(self) -> np.ndarray:
        """Which features cannot be kept together: for few single columns."""
        values = np.zeros((self.n_units, self.n_units), dtype=bool)
        for j in range(self.n_units):
            values[j, self.copies(j)] = True
        return values | values.T


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """That of two centred columns, in double precision."""
    a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


class Company:
    """Features that are kept, and whether another one is a near copy of one of them."""

    def __init__(self, redundancy: Redundancy) -> None:
        self.redundancy: Redundancy = redundancy
        self.units: list[int] = []
        self._ranks: list[int] = []
        self._n_held = 0
        self._held: np.ndarray = np.empty((0, 0), order="F")
        self._last: tuple[int, np.ndarray] | None = None
        self._read: dict[int, np.ndarray] = {}
        for unit in redundancy.always:
            self.add(unit)

    def load(self, units: Sequence[int]) -> None:
        """Read features that will be asked about, all at once; those read before are forgotten."""
        self._read = {}
        if not units:
            return
        parts = [self.redundancy.unit_columns(unit) for unit in units]
        columns = self.redundancy.design.dense_columns(np.concatenate(parts))
        ends = np.cumsum([len(part) for part in parts])[:-1]
        self._read = dict(zip(units, np.split(columns, ends, axis=1), strict=True))

    def _values(self, unit: int, columns: np.ndarray | None) -> np.ndarray:
        """The columns of a feature, which mostly is asked about and then comes in."""
        if self._last is None or self._last[0] != unit:
            made, index = self.redundancy, self.redundancy.unit_columns(unit)
            columns = self._read.get(unit) if columns is None else columns
            found = made.values(index) if columns is None else made._unit_length(columns, index)
            self._last = unit, found
        return self._last[1]

    def closest(
        self, unit: int, columns: np.ndarray | None = None, without: Iterable[int] = ()
    ) -> int | None:
        """The feature inside that another one is a near copy of, if it is one.

        ``columns`` are those of the design, where they are at hand; features of ``without`` are
        taken to have left.
        """
        if not self.units:
            return None
        values = self._values(unit, columns)
        if not values.shape[1] or not self._n_held:
            return None
        strength = self._strength(values)
        sizes = np.abs(strength)
        if sizes.max() < self.redundancy.limit:  # most often nothing is near
            return None
        gone = set(without)
        for place in np.argsort(-sizes, kind="stable").tolist():
            if sizes[place] < self.redundancy.limit:
                return None
            if (near := self.units[place]) not in gone:
                self.redundancy.found.setdefault(near, {})[unit] = float(strength[place])
                return near
        return None

    def _strength(self, values: np.ndarray) -> np.ndarray:
        """Correlations of a feature with those inside."""
        held = self._held[:, : self._n_held]
        if self.redundancy.groups is None:
            return np.clip(values[:, 0] @ held, -1.0, 1.0)
        squares, ranks = ((held.T @ values) ** 2).sum(axis=1), np.array(self._ranks)
        if len(squares) > len(self.units) or not ranks.all():
            numbers = np.repeat(np.arange(len(ranks)), ranks)
            squares = np.bincount(numbers, weights=squares, minlength=len(ranks))
        return self.redundancy.adjust(np.minimum(squares / values.shape[1], 1.0), ranks)

    def add(self, unit: int, columns: np.ndarray | None = None) -> None:
        """Keep a feature."""
        basis = self.redundancy.basis(self._values(unit, columns))
        if self.redundancy.groups is None and not basis.shape[1]:
            basis = np.zeros((len(basis), 1))  # of a constant: a place, and no correlation
        first, last = self._n_held, self._n_held + basis.shape[1]
        if last > self._held.shape[1] or len(basis) != len(self._held):
            wider = np.zeros((len(basis), max(16, 2 * last)), order="F")
            if first:
                wider[:, :first] = self._held[:, :first]
            self._held = wider
        self._held[:, first:last] = basis
        self._n_held = last
        self.units.append(unit)
        self._ranks.append(basis.shape[1])

    def remove(self, unit: int) -> None:
        """Let a feature go."""
        place = self.units.index(unit)
        first, rank = sum(self._ranks[:place]), self._ranks[place]
        last, self._n_held = self._n_held, self._n_held - rank
        self._held[:, first : last - rank] = self._held[:, first + rank : last].copy()
        del self.units[place], self._ranks[place]

    def become(self, units: Sequence[int]) -> None:
        """Keep these features, and those that are kept from the start, and no others."""
        wanted = {*self.redundancy.always, *units}
        for unit in [unit for unit in self.units if unit not in wanted]:
            self.remove(unit)
        for unit in units:
            if unit not in self.units:
                self.add(unit)
