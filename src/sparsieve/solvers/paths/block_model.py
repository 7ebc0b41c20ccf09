"""Least squares with a penalty on groups of rows, on a working set of groups.

Columns of a group are turned until they are orthogonal, so that sweeps minimise over one group
after the other exactly; on the residual or, once they have cost as much as making it, on the Gram
matrix. Anderson's extrapolation and Newton's method in the group norms shorten the tail. A penalty
that is not convex is majorised before every few sweeps.

Groups may share columns: each of them has its own copy of a coefficient, and the copies add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...penalties.convex import bound_by_multiples
from ..base import FewRows, LeastSquares
from ..engines.group_products import PenalisedGroups
from .engine import MIN_NEW_UNITS, PRODUCT_COLUMNS, Iterate, is_doubtful
from .group_columns import turned_columns
from .group_descent import descend
from .norm_newton import ActiveGroups, newton_norms, newton_steps_work

# How many times faster matrix products do an operation than sweeps.
BLAS_SPEEDUP = 4.0
# Steps of Newton's method, on average, and sweeps before it is tried.
NEWTON_STEPS, MIN_SWEEPS = 4, 10
# Sweeps between two majorisations: one more than an extrapolation combines.
MAJORISED_SWEEPS = 6
# Where a sweep lowered the objective by little and the gap is still large, how much less it has to.
DECREASE_SHARE = 0.1
# Share of the strength from which on a group without weight may come to be in doubt.
NEAR_SHARE = 0.9


@dataclass(frozen=True)
class GroupRows(FewRows):
    """A solution on groups of rows.

    Attributes
    ----------
    features : ndarray of int
        The features of the groups with weight, one group after the other.
    rows : ndarray of shape (len(features), n_outputs)
        Their coefficients; where groups share a feature each has its own.
    correlation : ndarray of shape (n_groups,)
        The strength at which a group without weight would enter.
    dtype : dtype
        Of the design.
    n_features : int
        Of the design.
    norms : ndarray of shape (n_groups,)
        ||W_g|| of every group.
    """

    n_features: int
    norms: np.ndarray

    @property
    def W(self) -> np.ndarray:
        """All coefficients; where groups share a feature, their sum."""
        W = np.zeros((self.n_features, self.rows.shape[1]))
        np.add.at(W, self.features, self.rows)
        return W.astype(self.dtype, copy=False)

    @cached_property
    def nonzero_features(self) -> np.ndarray:
        """The features with a row that is not zero."""
        is_used = np.zeros(self.n_features, dtype=bool)
        is_used[self.features] = (self.W[self.features] != 0).any(axis=1)
        return np.flatnonzero(is_used)


@dataclass(frozen=True)
class _Point:
    """Coefficients of the working set and what follows from them."""

    W: np.ndarray
    R: np.ndarray  # one row per output: the residual, or X'R with the Gram matrix
    norms: np.ndarray  # of the groups in the working set
    strengths: np.ndarray  # at which these would enter
    residual: float  # ||R||^2
    inner: float  # <R, Y>
    off: float = 0.0  # residual of the stationarity conditions, where the penalty is not convex


class BlockModel:
    """The problem on the groups that a solution may use; ``problem.penalty`` at any strength."""

    n_joining: int = MIN_NEW_UNITS
    design: Any
    penalised: PenalisedGroups
    floor: float
    penalty: Any
    columns: Any
    weights: np.ndarray
    W: np.ndarray
    R: np.ndarray
    target: np.ndarray
    spent: float

    def __init__(self, problem: LeastSquares, penalised: PenalisedGroups) -> None:
        self.design, self.penalised, self.floor = problem.design, penalised, problem.floor
        self.penalty = problem.penalty
        self.Y: np.ndarray = np.ascontiguousarray(problem.Y.T, dtype=np.float64)
        self.power: float = problem.power
        self.can_enter: np.ndarray = penalised.sizes > 0
        self.n_at_once: int = max(1, PRODUCT_COLUMNS // len(self.Y))
        turn = self.penalty.rows is None
        self.columns = turned_columns(problem.design, penalised.groups, len(self.Y), turn=turn)
        self.weights = np.empty(0)
        self.W = np.empty((0, len(self.Y)))
        self.R = self.Y.copy()
        # With the Gram matrix X'R and X'Y take the places of the residual and of Y.
        self.gram: np.ndarray | None = None
        self.target = np.empty((len(self.Y), 0))
        self._compacted = np.arange(0), np.empty((0, 0))
        self.spent = 0.0  # operations in sweeps on the residual
        self.past: list[tuple[float, _Point]] = []

    # -- the working set -------------------------------------------------------------------------

    def begin(self, start: GroupRows) -> None:
        """Take in the groups of a solution with their rows."""
        known = np.flatnonzero(start.norms)
        if len(known):
            self.add(known)
            self.W = self.columns.turned_rows(start.rows)
            self.R = self.Y - self.columns.fit(self.W)

    def add(self, units: np.ndarray) -> None:
        if self.gram is not None and self._everything_is_cheap(units):
            units = np.flatnonzero(self.can_enter)
        old, columns = self.columns.size, self.columns
        columns.add(units)
        self.can_enter[units] = False
        self.weights = np.append(self.weights, self.penalised.weights[units])
        self.W = np.vstack((self.W, np.zeros((columns.size - old, self.W.shape[1]))))
        if self.gram is None:
            return
        if columns.size > self._most_for_gram:
            self.gram, self.past, self.spent = None, [], 0.0
            self.R = self.Y - columns.fit(self.W)
        else:
            self._extend_gram(old)

    def _everything_is_cheap(self, units: np.ndarray) -> bool:
        """Whether half of the columns are inside, and the Gram matrix of all is smaller than X."""
        n_columns = self.penalised.size
        inside = self.columns.size + len(self.penalised.members(units))
        return n_columns <= self._most_for_gram and 2 * inside >= n_columns

    @property
    def _most_for_gram(self) -> int:
        """Columns up to which sweeps on the Gram matrix are faster."""
        return min(self.columns.n_samples, 2 * self.columns.n_entries // max(self.columns.size, 1))

    def _extend_gram(self, old: int) -> None:
        """Go over to the Gram matrix, or extend it by the columns from ``old`` on."""
        columns = self.columns
        columns.turn(np.arange(len(columns.groups)))
        size, storage = columns.size, np.empty((0, 0)) if self.gram is None else self.gram
        if size > len(storage):
            grown = np.empty((max(size, 2 * old), max(size, 2 * old)))
            grown[:old, :old] = storage[:old, :old]
            storage = grown
        cross = columns.inner(old)
        storage[old:size, :size] = cross
        storage[:old, old:size] = cross[:, :old].T
        target = columns.correlations(self.Y, old, turned=True).T
        if self.gram is None:
            self.gram, self.past = storage, []
            self.target = np.ascontiguousarray(target)
            self.R = self._gram_residual(self.W)
        else:
            self.gram = storage
            active = np.flatnonzero(self.W.any(axis=1))
            self.target = np.hstack((self.target, target))
            self.R = np.hstack((self.R, target - self.W[active].T @ storage[active, old:size]))

    def _gram_residual(self, W: np.ndarray) -> np.ndarray:
        """X'R from the Gram matrix."""
        assert self.gram is not None
        active = np.flatnonzero(W.any(axis=1))
        return self.target - W[active].T @ self.gram[active, : self.columns.size]

    # -- solving ---------------------------------------------------------------------------------

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        penalty = replace(self.penalty, alpha=alpha)
        expected = self._predict(penalty)
        steps, wanted = 0, share
        while True:
            if expected is None:
                point = self._point(penalty)
                value, gap, measure = self._gap(point, penalty)
                if not gap > share * measure or steps >= max_steps:
                    break
            norms, strengths = expected or (point.norms, point.strengths)
            which = np.flatnonzero((norms > 0) | (strengths > alpha))
            if not len(which) and expected is None:
                break
            expected = None
            if len(which):
                slopes = penalty.norm_slopes(norms[which], self.weights[which])
                steps += self._descend(which, slopes, penalty, wanted, max_steps - steps)
                wanted *= DECREASE_SHARE
        self.past = [*self.past[-1:], (alpha, point)]
        return self._iterate(point, value, gap, steps)

    def _iterate(self, point: _Point, value: float, gap: float, steps: int) -> Iterate:
        return Iterate(value, gap, steps, self.columns.groups[point.norms > 0], point)

    def current_iterate(self) -> Iterate:
        return self._iterate(self._point(self.penalty), np.nan, np.nan, 0)

    def restore(self, iterate: Iterate) -> None:
        point: _Point = iterate.state
        self.past = []
        self.W[: len(point.W)], self.W[len(point.W) :] = point.W, 0.0
        self.R = point.R.copy() if self.gram is None else self._gram_residual(self.W)

    def _parts(self, W: np.ndarray, R: np.ndarray) -> tuple[float, float]:
        """||R||^2 and <R, Y>."""
        if self.gram is None:
            return float(np.vdot(R, R)), float(np.vdot(R, self.Y))
        inner = self.power - float(np.vdot(W.T, self.target))
        return max(inner - float(np.vdot(W.T, R)), 0.0), inner

    def _point(self, penalty: Any) -> _Point:
        columns = self.columns
        C = self.R.T
        if self.gram is None:
            C = columns.correlations(self.R, turned=not penalty.is_convex)
        off, norms, strengths = 0.0, columns.norms(self.W), np.empty(0)
        if columns.size:
            squares = 4.0 * np.einsum("ij,ij->i", C, C)[:, None]
            strengths = penalty.entering(squares, columns.starts[:-1], self.weights)[0]
        if not penalty.is_convex and columns.size:
            # Of groups with weight 2 X_g'R = phi'(||W_g||) W_g / ||W_g||.
            slopes = penalty.norm_slopes(norms, self.weights)
            pull = np.divide(slopes, norms, out=np.zeros_like(norms), where=norms > 0)
            left = columns.norms(2.0 * C - np.repeat(pull, columns.sizes)[:, None] * self.W)
            left = np.where(norms > 0, left / self.weights, strengths - penalty.alpha)
            off = float(left.max()) / penalty.alpha
        parts = self._parts(self.W, self.R)
        return _Point(self.W.copy(), self.R.copy(), norms, strengths, *parts, off)

    def _value(self, residual: float, W: np.ndarray, norms: np.ndarray, penalty: Any) -> float:
        values = penalty.norm_values(norms, self.weights[: len(norms)])
        return residual + float(values.sum()) + penalty.row_value(W)

    def _gap(self, point: _Point, penalty: Any) -> tuple[float, float, float]:
        """Objective and gap on the working set, and what it is relative to."""
        value = self._value(point.residual, point.W, point.norms, penalty)
        largest = float(point.strengths.max(initial=0.0))
        return (value, *self._duality_gap(point, value, penalty.alpha, largest))

    def _duality_gap(
        self, point: _Point, value: float, alpha: float, largest: float
    ) -> tuple[float, float]:
        if not self.penalty.is_convex:
            return max(point.off, largest / alpha - 1.0, 0.0), 1.0
        bound = bound_by_multiples(alpha, point.residual, point.inner, largest)
        return value - bound, max(value, self.floor)

    def _predict(self, penalty: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Start from the line through the last two solutions, if that is lower.

        Returns the norms of groups and the strengths expected there, where these are known.
        """
        if len(self.past) < 2 or self.past[0][0] == self.past[1][0]:
            return None
        (first, older), (second, last) = self.past
        ahead = (penalty.alpha - second) / (second - first)
        W = self.W.copy()
        W[: len(last.W)] += ahead * last.W
        W[: len(older.W)] -= ahead * older.W
        if self.gram is None:
            R = last.R + ahead * (last.R - older.R)
        else:
            moved = np.flatnonzero((W != self.W).any(axis=1))
            R = self.R - (W - self.W)[moved].T @ self.gram[moved, : len(W)]
        now, norms = self._value(last.residual, last.W, last.norms, penalty), self.columns.norms(W)
        lower = self._value(self._parts(W, R)[0], W, norms, penalty) < now
        if lower:
            self.W, self.R = W, np.ascontiguousarray(R)
        if not len(older.strengths) == len(last.strengths) == len(self.weights):
            return None
        if not lower:
            return last.norms, last.strengths
        return norms, last.strengths + ahead * (last.strengths - older.strengths)

    def _descend(
        self, which: np.ndarray, slopes: np.ndarray, penalty: Any, share: float, max_sweeps: int
    ) -> int:
        """Sweeps over some groups, and Newton's method where they do not get to the end.

        ``slopes`` are those of the penalty in their norms.
        """
        columns = self.columns
        columns.turn(which)
        index, sizes = columns.index(which), columns.sizes[which]
        starts = np.append(0, np.cumsum(sizes))
        count = len(index)
        work, until = self._sweep_work(count), self._sweeps_before_newton(which, count)
        can_finish = penalty.is_convex and penalty.rows is None
        most = MAJORISED_SWEEPS if not penalty.is_convex else until if can_finish else max_sweeps
        making = columns.n_samples * columns.size**2 / BLAS_SPEEDUP
        can_make = self.gram is None and columns.size <= self._most_for_gram
        if can_make:
            most = min(most, 1 + max(0, int((making - self.spent) / work)))
        W = before = np.ascontiguousarray(self.W[index].T)
        if self.gram is None:
            R, data = self.R, (columns.rows, columns.packed, columns.starts[which])
            target, power = self.Y, None
        else:
            before, R, power = W.copy(), np.ascontiguousarray(self.R[:, index]), self.power
            data = self._compact(index), None, starts[:-1]
            target = np.ascontiguousarray(self.target[:, index])
        sweeps = descend(
            *(*data, starts, columns.squares[index], W, R, target, power),
            *(0.5 * slopes, penalty.rows),
            share,
            0.5 * self.floor,
            min(most, max_sweeps),
        )
        self.W[index] = W.T
        if self.gram is not None:
            self.R -= (W - before) @ self.gram[index, : columns.size]
        else:
            self.spent += sweeps * work
            if can_make and self.spent >= making:
                self._extend_gram(0)
        if can_finish and sweeps >= until:
            self._newton(penalty, share)
        return sweeps

    def _compact(self, index: np.ndarray) -> np.ndarray:
        """The Gram matrix of these columns; copying it takes as long as a sweep."""
        assert self.gram is not None
        if not np.array_equal(index, self._compacted[0]):
            self._compacted = index, self.gram[np.ix_(index, index)]
        return self._compacted[1]

    def _sweep_work(self, count: int) -> float:
        """Operations of a sweep over so many columns."""
        if self.gram is not None:
            return 2.0 * count * count * len(self.Y)
        return 4.0 * count * self.columns.n_entries / self.columns.size * len(self.Y)

    def _sweeps_before_newton(self, which: np.ndarray, count: int) -> int:
        """Sweeps that take as long as Newton's method."""
        work = newton_steps_work(self.columns.n_samples, count, len(which), len(self.Y))
        work *= NEWTON_STEPS / BLAS_SPEEDUP
        return max(MIN_SWEEPS, int(work / self._sweep_work(count)))

    def _newton(self, penalty: Any, share: float) -> None:
        """Newton steps in the norms of the groups with weight, kept if they are lower."""
        columns = self.columns
        norms = columns.norms(self.W)
        active = np.flatnonzero(norms)
        if not len(active):
            return
        rows, sizes = columns.index(active), columns.sizes[active]
        few = len(rows) <= columns.n_samples
        X = columns.dense(active).T if self.gram is None or not few else np.empty((0, len(rows)))
        gram = None
        if few:
            gram = X.T @ X if self.gram is None else self.gram[np.ix_(rows, rows)]
        residual, _ = self._parts(self.W, self.R)
        value = self._value(residual, self.W, norms, penalty)
        groups = ActiveGroups(
            X=X,
            gram=gram,
            correlation=X.T @ self.Y.T if self.gram is None else self.target.T[rows],
            Y=self.Y.T,
            starts=np.cumsum(sizes) - sizes,
            weights=self.weights[active],
            alpha=penalty.alpha,
        )
        goal = 0.1 * share * max(value, self.floor)
        W, before = np.zeros_like(self.W), (self.W, self.R)
        W[rows] = newton_norms(groups, self.W[rows], self.power, goal)
        if self.gram is None:
            self.R = self.Y - columns.fit(W)
        else:
            self.R = self._gram_residual(W)
        self.W = W
        if not self._value(self._parts(W, self.R)[0], W, columns.norms(W), penalty) < value:
            self.W, self.R = before

    # -- all groups ------------------------------------------------------------------------------

    def entering(self, iterates: Sequence[Iterate]) -> np.ndarray:
        found = np.zeros((len(iterates), len(self.can_enter)))
        points: list[_Point] = [iterate.state for iterate in iterates]
        if self.can_enter.any():
            residuals = [point.R if point.R.shape == self.Y.shape and self.gram is None
                         else self.Y - self.columns.fit(point.W) for point in points]  # fmt: skip
            R = 2.0 * np.concatenate(residuals).T
            G = self.design.rmatmul(R.astype(self.design.dtype, copy=False))
            found = self.penalised.entry_strengths(np.asarray(G), len(iterates), self.penalty)
        for row, point in zip(found, points, strict=True):
            row[self.columns.groups[: len(point.strengths)]] = point.strengths
        return found

    def gap(self, iterate: Iterate, alpha: float, largest: float) -> tuple[float, float]:
        return self._duality_gap(iterate.state, iterate.value, alpha, largest)

    def in_doubt(self, iterate: Iterate, alpha: float, seen: np.ndarray) -> bool:
        if not self.penalty.is_convex:
            return False
        point, columns = iterate.state, self.columns
        new = np.flatnonzero(~seen[columns.groups])
        if not len(new):
            return False
        columns.turn(new[point.strengths[new] > NEAR_SHARE * alpha])
        fits = columns.norms(np.sqrt(columns.squares)[:, None] * point.W) ** 2
        spread = np.sqrt(np.maximum.reduceat(columns.squares, columns.starts[:-1]))
        reach = 2.0 * spread / self.weights
        doubtful = is_doubtful(fits, point.strengths, reach, alpha, iterate.gap)
        return bool(doubtful[new].any())

    def solution(self, iterate: Iterate, strengths: np.ndarray, gap: float) -> GroupRows:
        point, columns = iterate.state, self.columns
        norms = np.zeros(len(self.can_enter))
        norms[columns.groups] = point.norms
        active = np.flatnonzero(point.norms)
        active = active[np.argsort(columns.groups[active])]
        features = self.penalised.members(columns.groups[active])
        rows, design = columns.own_rows(point.W, active), self.design
        return GroupRows(features, rows, strengths, design.dtype, design.shape[1], norms)
