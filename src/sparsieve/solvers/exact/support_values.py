"""What supports reach, by orthogonal factorisations, and how sure that is.

With a_j = (x_j; sqrt(ridge) e_j) scaled to unit norm, the triangular factor of (A_S, Y) holds it
all: T of A_S, B = T W, and below B what A_S leaves of Y, of norm s. Householder's method computes
this factor for columns that are wrong by a small share e_j of their norms, and a target wrong by
e_0. To first order and beyond,

    sqrt(f(S)) <= s + e_0 + sum_j e_j ||w_j||,
    sqrt(f(S)) >= s - e_0 - ||e|| (||W|| (1 + t) + (e_0 + t s) / sigma),     t = ||e|| / sigma,

where sigma is at most the least singular value of A_S less ||e||: the second line needs the
coefficients of the exact problem, which are those of the computed one up to such a change. Where t
is not small the columns are dependent within their errors. Then S reaches what an independent
part of it does, and more by an amount that only exact arithmetic can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...design import DesignMatrix

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


def least_objective(power: float) -> float:
    """Machine precision relative to the target: gaps of smaller objectives are relative to this."""
    return max(EPS * power, TINY)


def rounding(n_terms: int) -> float:
    """What orthogonal steps over so many terms lose at most, relative to the norm of a column.

    The worst case of one step is n eps; several steps add up like random numbers, far below the
    factor that is allowed here.
    """
    return 4.0 * (n_terms + 32) * EPS


@dataclass(frozen=True)
class Accuracy:
    """Errors of the columns and of the target of a least-squares problem.

    Attributes
    ----------
    columns : ndarray of shape (n_features,)
        The norm of the error of every column is at most this.
    target : float
        The same of the target.
    relative : float
        What factorising adds to the error of a column, relative to its norm.
    removed : ndarray of shape (n_samples, n_directions)
        Orthonormal directions that the exact columns and target are orthogonal to: the intercept
        and covariates. What the columns still show of them is no part of the problem.
    from_products : bool
        Only inner products were computed, and the columns made of these: they may be far from the
        exact ones. The error of an inner product is at most ``relative`` times the ``columns`` of
        both, or the ``target``.
    exactly : callable or None
        Gives min ||Y - X_S W||^2 of some features as a fraction, without any rounding.
    """

    columns: np.ndarray
    target: float
    relative: float
    removed: np.ndarray
    from_products: bool = False
    exactly: Callable[[np.ndarray], Fraction] | None = None

    @classmethod
    def from_data(cls, design: DesignMatrix, Y: np.ndarray) -> Accuracy:
        """The accuracy of columns and a target that are exact as they are."""
        n_samples, n_features = design.shape
        return cls(np.zeros(n_features), 0.0, rounding(n_samples), np.zeros((n_samples, 0)))


# Columns count as independent where their errors change W by less than this share.
MAX_ERROR_SHARE = 0.1
# More columns than this take too long in exact arithmetic.
MAX_EXACT_COLUMNS = 32
# Bytes of the matrices that are factorised together.
BATCH_BYTES = 16 << 20


class Values(NamedTuple):
    """Objectives of several supports, and what they are at least and at most."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Whole(NamedTuple):
    """All of some features together: a lower bound, and what leaving each one out would cost."""

    low: float
    costs: np.ndarray


class SupportValues:
    """Objectives of supports out of a few features.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_outputs)
    ridge : non-negative penalty on the squared coefficients.
    accuracy : that of the whole problem.
    features : the places of these columns in the whole problem.
    """

    columns: np.ndarray
    features: np.ndarray
    ridge: float

    def __init__(
        self,
        columns: np.ndarray,
        Y: np.ndarray,
        ridge: float,
        accuracy: Accuracy,
        features: np.ndarray,
    ):
        for _ in range(2):  # the second pass removes what rounding left of the first
            columns = columns - accuracy.removed @ (accuracy.removed.T @ columns)
            Y = Y - accuracy.removed @ (accuracy.removed.T @ Y)
        self.power: float = float(np.vdot(Y, Y))
        count = columns.shape[1]
        if len(columns) > count + Y.shape[1]:
            factor = np.asarray(np.linalg.qr(np.hstack([columns, Y]), mode="r"))
            columns, Y = factor[:, :count], factor[:, count:]
        self.columns, self.Y, self.ridge, self.features = columns, Y, ridge, features
        self.norms: np.ndarray = np.sqrt(np.einsum("ij,ij->j", columns, columns))
        self.errors: np.ndarray = accuracy.columns[features] + accuracy.relative * self.norms
        self.target_error: float = accuracy.target + accuracy.relative * np.sqrt(self.power)
        if accuracy.from_products:
            self.errors = accuracy.relative * accuracy.columns[features]
            self.target_error = accuracy.relative * accuracy.target
        self.least: float = least_objective(self.power)
        self.accuracy = accuracy
        lengths = np.sqrt(self.norms**2 + ridge)
        lengths[lengths == 0.0] = 1.0
        self._unit, self._roots = columns / lengths, np.sqrt(ridge) / lengths
        self._ratio = accuracy.columns[features] / lengths
        self._relative = self._ratio + accuracy.relative

    def __len__(self) -> int:
        return len(self.features)

    def evaluate(self, supports: np.ndarray) -> Values:
        """The values of supports of one size, given by the places of their features here."""
        count, size = supports.shape
        if size == 0:
            value, error = np.full(count, self.power), self.target_error
            if self.accuracy.from_products:
                products = self.accuracy.relative * self.accuracy.target**2
                return Values(value, *self._interval(np.sqrt(value), 0.0, 0.0, products))
            return Values(value, *self._interval(np.sqrt(value), error, error))
        each = 8 * (len(self.Y) + size) * (size + self.Y.shape[1])
        step = max(1, BATCH_BYTES // each)
        parts = [self._evaluate(supports[at : at + step]) for at in range(0, count, step)]
        return Values(*(np.concatenate(of) for of in zip(*parts, strict=True)))

    # What a search asks of the features that it chooses from; groups of them have other answers.
    prices: np.ndarray | None = None
    discounts: np.ndarray | None = None
    dearest: float = 0.0

    def column_places(self, units: np.ndarray) -> np.ndarray:
        """Places of the columns of these features."""
        return units

    def unit_numbers(self, units: np.ndarray) -> np.ndarray | None:
        """The place in ``units`` that each of these columns belongs to; None: to its own."""
        return None

    def sum_by_unit(self, values: np.ndarray) -> np.ndarray:
        """One number per column as one per feature."""
        return values

    def lows(self, supports: np.ndarray, k: int) -> np.ndarray:
        """What k features out of every support reach at least."""
        if self.ridge == 0.0 and supports.shape[1] >= len(self.Y):
            return np.zeros(len(supports))
        return self.evaluate(supports).low

    def whole(self, places: np.ndarray, k: int) -> Whole:
        """A lower bound for k features out of these, and what each of them is worth."""
        if self.ridge == 0.0 and len(places) >= len(self.Y):  # they explain everything
            return Whole(0.0, _row_squares(self._unit[:, places].T @ self.Y))
        kept = np.arange(len(places))
        part, inverse, weights, left = self._factor(places[None])
        low = float(self._interval(left, part.below, part.above, part.products)[0][0])
        if not part.sure[0]:
            low, kept = self._dependent(places)[1], self._independent(places)
            _, inverse, weights, _ = self._factor(places[kept][None])
        costs = np.zeros(len(places))
        costs[kept] = _row_squares(weights[0]) / _row_squares(inverse[0])
        return Whole(low, costs)

    def best_addition(self, support: np.ndarray) -> int | None:
        """The feature that lowers the objective of a support most, roughly; None if none does."""
        system = np.vstack([self._unit[:, support], np.diag(self._roots[support])])
        Q = np.linalg.qr(system)[0] if len(support) else system
        top, bottom = Q[: len(self.Y)], Q[len(self.Y) :]
        across = top.T @ self._unit
        rest, below = self._unit - top @ across, bottom @ across
        left = self.Y - top @ (top.T @ self.Y)
        sizes = np.einsum("ij,ij->j", rest, rest) + np.einsum("ij,ij->j", below, below)
        sizes += self._roots**2
        gains = _row_squares(self._unit.T @ left)
        possible = sizes > (10.0 * self._relative) ** 2
        if self.accuracy.from_products:
            possible = sizes > 10.0 * self.accuracy.relative * self._ratio**2
        gains = np.divide(gains, sizes, out=np.zeros_like(gains), where=possible)
        gains[support] = -1.0
        best = int(np.argmax(gains))
        return best if gains[best] > 0.0 else None

    # -- one size at a time ----------------------------------------------------------------

    def _evaluate(self, supports: np.ndarray) -> Values:
        part, _, _, left = self._factor(supports)
        low, high = self._interval(left, part.below, part.above, part.products)
        value = left**2
        for place in np.flatnonzero(~part.sure):
            value[place], low[place], high[place] = self._dependent(supports[place])
        return Values(value, low, high)

    def _factor(self, supports: np.ndarray):
        """Errors, the inverse of T, W (of the scaled columns) and s of every support."""
        count, size = supports.shape
        n_rows, n_outputs = self.Y.shape
        extra = size if self.ridge > 0.0 else 0
        system = np.zeros((count, n_rows + extra, size + n_outputs))
        system[:, :n_rows, :size] = np.moveaxis(self._unit[:, supports], 0, 1)
        if extra:
            system[:, n_rows + np.arange(size), np.arange(size)] = self._roots[supports]
        system[:, :n_rows, size:] = self.Y
        factor = np.asarray(np.linalg.qr(system, mode="r"))
        n_found = factor.shape[1]
        triangle = np.zeros((count, size, size))
        triangle[:, : min(size, n_found)] = factor[:, :size, :size]
        shown = np.zeros((count, size, n_outputs))
        shown[:, : min(size, n_found)] = factor[:, :size, size:]
        left = np.sqrt((factor[:, size:, size:] ** 2).sum(axis=(1, 2)))
        least = np.abs(np.einsum("bii->bi", triangle)).min(axis=1, initial=1.0)
        flat = least <= EPS
        triangle[flat] = np.eye(size)
        inverse = np.linalg.inv(triangle)
        weights = inverse @ shown
        return self._errors(supports, inverse, weights, left, flat), inverse, weights, left

    def _errors(self, supports, inverse, weights, left, flat) -> _Errors:
        relative = self._relative[supports]
        error = np.sqrt((relative**2).sum(axis=1))
        sigma = 0.9 / np.sqrt((inverse**2).sum(axis=(1, 2)))
        rows = 1.1 * np.sqrt((weights**2).sum(axis=2))
        size = np.sqrt((rows**2).sum(axis=1))
        if self.accuracy.from_products:
            share, target = self.accuracy.relative, self.accuracy.target
            ratio = np.sqrt((self._ratio[supports] ** 2).sum(axis=1))
            sure = (share * ratio**2 <= MAX_ERROR_SHARE * sigma**2) & ~flat
            more = share * ratio * (target + ratio * size) / np.where(sure, 0.9 * sigma**2, 1.0)
            nothing = np.zeros_like(size)
            return _Errors(sure, nothing, nothing, share * (target + ratio * (size + more)) ** 2)
        sigma = sigma - error
        sure = (error <= MAX_ERROR_SHARE * sigma) & ~flat
        share = error / np.where(sure, sigma, 1.0)
        further = (self.target_error + share * left) / np.where(sure, sigma, 1.0)
        below = self.target_error + error * (size * (1.0 + share) + further)
        above = self.target_error + (relative * rows).sum(axis=1)
        return _Errors(sure, below, above, np.zeros_like(size))

    def _interval(self, root, below, above, products=0.0) -> tuple[np.ndarray, np.ndarray]:
        slack = rounding(self.Y.size)
        low = np.maximum(root * (1.0 - slack) - below, 0.0) ** 2 - products
        high = (root * (1.0 + slack) + above) ** 2 + products
        return np.maximum(low, 0.0) * (1.0 - 8 * EPS), high * (1.0 + 8 * EPS)

    # -- columns that depend on each other ---------------------------------------------------

    def _independent(self, support: np.ndarray) -> np.ndarray:
        """Places of columns in a support that are independent beyond their errors."""
        errors = self._relative[support]
        if self.accuracy.from_products:
            errors = np.sqrt(self.accuracy.relative) * self._ratio[support]
        # Of the others nothing is known, alone or together.
        known = np.flatnonzero(errors <= MAX_ERROR_SHARE)
        if not len(known):
            return known
        system = np.vstack([self._unit[:, support[known]], np.diag(self._roots[support])[:, known]])
        factor, order = linalg.qr(system, mode="r", pivoting=True, check_finite=False)
        pivots = np.abs(factor.diagonal())
        for rank in range(int((pivots > errors[known].max()).sum()), 0, -1):
            kept = np.sort(known[order[:rank]])
            if self._factor(support[kept][None])[0].sure[0]:
                return kept
        return np.empty(0, dtype=np.int64)

    def _dependent(self, support: np.ndarray) -> tuple[float, float, float]:
        kept = support[self._independent(support)]
        part = SupportValues.evaluate(self, kept[None])
        low = 0.0
        if self.accuracy.exactly is not None and len(support) <= MAX_EXACT_COLUMNS:
            low = float(self.accuracy.exactly(self.features[support])) * (1.0 - 4 * EPS)
        return float(part.value[0]), min(low, float(part.high[0])), float(part.high[0])


class _Errors(NamedTuple):
    sure: np.ndarray  # whether the columns are independent beyond their errors
    below: np.ndarray  # of the norm of what is left of Y
    above: np.ndarray
    products: np.ndarray  # of its square


def _row_squares(matrix: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", matrix, matrix)


class GroupValues(SupportValues):
    """Objectives of sets out of a few groups; a column of several groups counts once.

    Relaxations see a copy of it in each of them. Copies share a coefficient, whose square they
    thereby lower, so that the relaxations still bound from below.

    Parameters
    ----------
    design, Y, ridge, accuracy : of the whole problem.
    groups : the columns of these groups.
    prices : what each of them adds to the objective.
    dearest : the largest price in the whole problem.
    """

    dearest: float
    prices: np.ndarray

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        accuracy: Accuracy,
        groups: list[np.ndarray],
        prices: np.ndarray,
        dearest: float,
    ):
        features = np.concatenate([np.arange(0), *groups])
        super().__init__(design.dense_columns(features), Y, ridge, accuracy, features)
        self._paid, self.prices, self.dearest = prices, prices, dearest
        self.discounts: np.ndarray = dearest - prices
        ends = np.cumsum([len(some) for some in groups], dtype=np.int64)
        self._spans = [
            np.arange(end - len(some), end) for some, end in zip(groups, ends, strict=True)
        ]
        self._sizes = np.array([len(some) for some in groups], dtype=np.int64)
        known, first, place = np.unique(features, return_index=True, return_inverse=True)
        self._once: np.ndarray | None = None  # the first of the copies of every column
        if len(known) < len(features):
            self._once = first[place]

    def __len__(self) -> int:
        return len(self._spans)

    def column_places(self, units: np.ndarray) -> np.ndarray:
        """Places of the columns of these groups, with all copies."""
        return np.concatenate([np.arange(0), *(self._spans[int(g)] for g in units)])

    def unit_numbers(self, units: np.ndarray) -> np.ndarray:
        """For each of these columns the place of its group in ``units``."""
        return np.repeat(np.arange(len(units)), self._sizes[units])

    def sum_by_unit(self, values: np.ndarray) -> np.ndarray:
        """One number per column added up within groups, upwards."""
        return np.array(
            [values[span].sum() * (1.0 + (len(span) + 4) * EPS) for span in self._spans]
        )

    def evaluate(self, supports: np.ndarray) -> Values:
        """The values of sets with one number of groups."""
        fit = self._fits(supports)
        paid = self._paid[supports].sum(axis=1)
        error = (supports.shape[1] + 4) * EPS
        low, high = fit.low + paid, fit.high + paid
        return Values(fit.value + paid, low * (1.0 - error), high * (1.0 + error))

    def lows(self, supports: np.ndarray, k: int) -> np.ndarray:
        """What k of the groups of every set reach at least."""
        if self.ridge == 0.0 and self._sizes[supports].sum(axis=1).max() >= len(self.Y):
            return np.full(len(supports), self._least_paid(k))
        return self._fits(supports).low + self._least_paid(k)

    def whole(self, places: np.ndarray, k: int) -> Whole:
        """A lower bound for k groups out of these, and roughly what each of them is worth."""
        columns = self._union(places)
        together = super().whole(columns, k)
        worth = np.zeros(len(self.features))
        worth[columns] = together.costs
        every = self.column_places(places)
        every = every if self._once is None else self._once[every]
        costs = np.bincount(self.unit_numbers(places), weights=worth[every], minlength=len(places))
        return Whole(together.low + self._least_paid(k), costs - self._paid[places])

    def best_addition(self, support: np.ndarray) -> int | None:
        """The group with which a set reaches least; None if there is no other."""
        others = np.setdiff1d(np.arange(len(self)), support)
        if not len(others):
            return None
        tried = np.hstack([np.repeat(support[None], len(others), axis=0), others[:, None]])
        return int(others[np.argmin(self.evaluate(tried).value)])

    def _least_paid(self, k: int) -> float:
        return float(np.sort(self._paid)[:k].sum()) * (1.0 - (k + 4) * EPS)

    def _union(self, units: np.ndarray) -> np.ndarray:
        """Places of the columns of these groups, each column once."""
        columns = self.column_places(units)
        return columns if self._once is None else np.unique(self._once[columns])

    def _fits(self, supports: np.ndarray) -> Values:
        """The values without prices; sets with as many columns are factorised together."""
        unions = [self._union(support) for support in supports]
        totals = np.array([len(columns) for columns in unions], dtype=np.int64)
        found = np.empty((3, len(supports)))
        for total in np.unique(totals):
            same = np.flatnonzero(totals == total)
            columns = np.array([unions[i] for i in same], dtype=np.int64)
            found[:, same] = super().evaluate(columns.reshape(len(same), int(total)))
        return Values(*found)
