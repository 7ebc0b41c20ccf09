"""A penalised likelihood on a working set of groups: proximal Newton steps for one strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._beside import in_double, to_numpy, write_entries
from ...design import DesignMatrix
from ...penalties import GroupPenalty
from ..base import Result
from ..engines.group_products import PenalisedGroups
from ..losses.base import Loss
from ..losses.expansion import CompiledExpansion, Expansion
from . import many_outputs
from .engine import MIN_NEW_UNITS, PRODUCT_COLUMNS, Iterate, PathEngine, is_doubtful
from .free import check_bounds, minimise_free
from .proximal_newton import ModelHessian, Point, proximal_newton
from .quadratic_model import ranges

# Strengths that differ by less than this share are the same but for rounding.
SAME_STRENGTH = 1e-12


@dataclass(frozen=True)
class GroupCoefficients:
    """A solution, few of whose groups have weight.

    Attributes
    ----------
    groups : ndarray of int
        The groups with weight.
    columns : ndarray of int
        Their columns, one group after the other.
    blocks : ndarray of shape (len(columns), n_outputs)
        The coefficients of these columns.
    B : ndarray of shape (n_free, n_outputs)
        Coefficients of the columns without penalty.
    norms, correlation : array of shape (n_groups,)
        ||W_g||, and ||X_g' grad L|| / c_g: the strength at which a group without weight enters,
        which may lie beside X.
    gap : float
        The objective less a lower bound on that of every other solution.
    """

    groups: np.ndarray
    columns: np.ndarray
    blocks: np.ndarray
    B: np.ndarray
    norms: np.ndarray
    correlation: Any
    gap: float

    @cached_property
    def features(self) -> np.ndarray:
        """The columns with weight, each once."""
        return np.unique(self.columns)

    @cached_property
    def W(self) -> np.ndarray:
        """Coefficients of ``features``; where groups share a feature, their sum."""
        W = np.zeros((len(self.features), self.blocks.shape[1]))
        np.add.at(W, np.searchsorted(self.features, self.columns), self.blocks)
        return W


class LikelihoodModel:
    """A :class:`.engine.PathModel` of a penalised likelihood.

    Columns are rows of ``X``, those without penalty first, which are a block without cost; then one
    block per group of the working set.
    """

    n_joining: int = MIN_NEW_UNITS
    problem: PenalisedLikelihood
    loss: Any
    is_free: int
    n_rows: int
    X: np.ndarray
    n_at_once: int
    hessian: ModelHessian
    point: Point

    def __init__(self, problem: PenalisedLikelihood, start: GroupCoefficients) -> None:
        self.problem, self.loss = problem, problem.loss
        n_free = problem.free.shape[1]
        self.is_free = int(n_free > 0)
        self.n_rows = n_free
        self.X = np.array(problem.free.T, order="C")
        self.groups: np.ndarray = np.arange(0)
        self.starts: np.ndarray = np.array([0, n_free] if n_free else [0])
        self.weights: np.ndarray = np.zeros(self.is_free)
        self.can_enter: Any = problem.to_native(problem.penalised_groups.sizes > 0)
        self.n_at_once = max(1, PRODUCT_COLUMNS // self.loss.n_outputs)
        self.hessian = ModelHessian()
        self.older: list[tuple[float, Point]] = []  # solutions of the last two strengths
        F = problem.free @ start.B
        self.least: float = self.loss.dual_value(F, 0.0)  # no predictors have less
        self.point = self._make_point(start.B.copy(), F)
        if len(start.groups):
            self.add(start.groups)
            W = np.vstack((start.B, start.blocks))
            self.point = self._make_point(W, self.X[: self.n_rows].T @ W)

    def _make_point(self, W: np.ndarray, F: np.ndarray) -> Point:
        nothing = np.zeros(len(self.weights))
        return Point(W, F, self.loss.gradient(F), nothing, nothing)

    # -- what the engine asks ----------------------------------------------------------------

    def current_iterate(self) -> Iterate:
        return Iterate(np.inf, np.inf, 0, self.groups[:0], self.point)

    def add(self, units: np.ndarray) -> None:
        columns = self.problem.penalised_groups.members(units)
        added = np.asarray(self.problem.design.dense_columns(columns), dtype=np.float64)
        old, self.n_rows = self.n_rows, self.n_rows + len(columns)
        if self.n_rows > len(self.X):
            room = np.empty((max(self.n_rows, 2 * len(self.X)), len(added)))
            room[:old] = self.X[:old]
            self.X = room
        self.X[old : self.n_rows] = added.T
        self.starts = np.append(
            self.starts, old + np.cumsum(self.problem.penalised_groups.sizes[units])
        )
        self.groups = np.append(self.groups, units)
        self.weights = np.append(self.weights, self.problem.weights[units])
        write_entries(self.can_enter, units, False)
        self.hessian.widen(len(self.weights))
        self.point = self._pad_point(self.point)
        self.older = [(alpha, self._pad_point(point)) for alpha, point in self.older]

    def _pad_point(self, point: Point) -> Point:
        """With zeros for what has joined since."""
        missing = self.n_rows - len(point.W)
        if not missing:
            return point
        W = np.vstack((point.W, np.zeros((missing, point.W.shape[1]))))
        return point._replace(W=W)

    def entering(self, iterates: Sequence[Iterate]) -> Any:
        return self.problem.strengths(*(one.state.gradient for one in iterates))

    def gap(self, iterate: Iterate, alpha: float, largest: float) -> tuple[float, float]:
        value, gap = iterate.value, iterate.gap
        inside = max(alpha, float(iterate.state.strengths.max(initial=0.0)))
        if largest > (1.0 + SAME_STRENGTH) * inside:
            gap = value - self.loss.dual_value(iterate.state.F, alpha / largest)
        return gap, self._size(value)

    def _size(self, value: float) -> float:
        """What gaps are relative to.

        Losses of counts are without their constant terms, and may be close to zero by chance.
        """
        return max(abs(value), value - self.least)

    def in_doubt(self, iterate: Iterate, alpha: float, seen: np.ndarray) -> bool:
        point, rows, own = iterate.state, self.X[: self.n_rows], slice(self.is_free, None)
        D = self.loss.curvature(point.F).max(axis=1)
        squares = np.einsum("ji,i,ji->j", rows, D, rows)
        fits = 0.5 * self._sums(squares * np.einsum("jk,jk->j", point.W, point.W))[own]
        reach = np.sqrt(2.0 * self._sums(squares)[own]) / self.weights[own]
        doubtful = is_doubtful(fits, point.strengths[own], reach, alpha, iterate.gap)
        return bool((doubtful & ~seen[self.groups]).any())

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of every block."""
        if len(values) == len(self.weights):
            return values
        return np.add.reduceat(values, self.starts[:-1])

    def restore(self, iterate: Iterate) -> None:
        self.point = self._pad_point(iterate.state)
        self.older = []

    def solution(self, iterate: Iterate, strengths: Any, gap: float) -> GroupCoefficients:
        point, first = iterate.state, self.is_free
        places = first + np.flatnonzero(point.norms[first:])
        rows = ranges(self.starts[places], np.diff(self.starts)[places])
        groups, norms = self.groups[places - first], np.zeros(len(self.can_enter))
        norms[groups] = point.norms[places]
        columns, B = (
            self.problem.penalised_groups.members(groups),
            point.W[: self.problem.free.shape[1]],
        )
        return GroupCoefficients(groups, columns, point.W[rows], B, norms, strengths, gap)

    # -- one strength --------------------------------------------------------------------------

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        if not len(self.weights):
            return Iterate(self.loss.value(self.point.F), 0.0, 0, self.groups, self.point)
        self.point, value, gap, steps = self._descend(alpha, share, max_steps)
        self.older = [*self.older[-1:], (alpha, self.point)]
        active = self.groups[self.point.norms[self.is_free :] > 0.0]
        return Iterate(value, gap, steps, active, self.point)

    def _descend(
        self, alpha: float, share: float, max_steps: int
    ) -> tuple[Point, float, float, int]:
        """The point, the objective, the gap and the number of steps."""
        given: list[Any] = [self.X[: self.n_rows], self.starts, self.weights, alpha, share]
        given.append(self.least)
        point, ahead, steps = self.point, self._ahead(alpha), 0
        kinds: list[type[Expansion]] = [CompiledExpansion, Expansion]
        for kind in kinds[self.loss.compiled is None :]:
            found = proximal_newton(
                *(kind, self.loss, *given, max_steps - steps, point, ahead, self.hessian)
            )
            point, value, gap, steps = *found[:3], steps + found.n_steps
            closed = not gap > share * self._size(value) or steps >= max_steps
            if found.is_done and (closed or kind is Expansion):
                return point, value, gap, steps
            self.hessian.here = ahead = None  # the loss itself rounds less
        point, value, gap, more = many_outputs.descend(
            *(self.loss, *given, max_steps - steps, point)
        )
        return point, value, gap, steps + more

    def _ahead(self, alpha: float) -> Point | None:
        """The point at this strength of the line through the last two solutions."""
        if len(self.older) < 2 or self.older[0][0] == self.older[1][0]:
            return None
        (first, old), (second, new) = self.older
        ahead = (alpha - second) / (second - first)
        W, F = new.W + ahead * (new.W - old.W), new.F + ahead * (new.F - old.F)
        return new._replace(W=W, F=F)


@dataclass(frozen=True)
class PenalisedLikelihood:
    """A loss on a design, with columns that are penalised in groups and others that are not.

    Attributes
    ----------
    design : DesignMatrix
    loss : Loss
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    free : ndarray of shape (n_samples, n_free)
        Z, linearly independent: a column of ones for the intercept, and covariates.
    alpha : float
        Strength of the penalty where one problem is to be solved; a path brings its own.
    """

    design: DesignMatrix
    loss: Loss
    groups: Sequence[np.ndarray]
    weights: np.ndarray
    free: np.ndarray
    alpha: float = 1.0

    def strengths(self, *gradients: np.ndarray) -> Any:
        """||X_g' gradient|| / c_g of every group: the strength at which it would enter.

        A row for each gradient, in one reading of the design; beside X, if :meth:`to_native` is.
        """
        side_by_side = np.hstack(gradients).astype(self.design.dtype, copy=False)
        G = self.design.native_projection(side_by_side)
        if isinstance(G, np.ndarray) or not self.penalised_groups.are_columns:
            return self.penalised_groups.entry_strengths(
                to_numpy(G), len(gradients), GroupPenalty(1.0)
            )
        parts = in_double(G).T.reshape(len(gradients), -1, len(G))
        return (parts * parts).sum(axis=1).sqrt() * self._shares

    def to_native(self, array: np.ndarray) -> Any:
        """An array with an entry per group, where X is; that of groups of columns on the host."""
        return self.design.to_native(array) if self.penalised_groups.are_columns else array

    @cached_property
    def _shares(self) -> Any:
        """1 / c_g beside X; 0 for what is never used."""
        return self.design.to_native(
            np.where(self.penalised_groups.sizes > 0, 1.0 / self.weights, 0.0)
        )

    @cached_property
    def penalised_groups(self) -> PenalisedGroups:
        """The groups with their weights."""
        return PenalisedGroups(self.groups, self.weights)


@dataclass(frozen=True)
class LikelihoodL21(PathEngine):
    """Solve for falling strengths, each from the last.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of Newton steps for one strength.
    decided : bool
        Go on where the gap cannot tell which groups are zero.
    """

    max_iter: int = 1000

    def null(self, problem: PenalisedLikelihood) -> GroupCoefficients:
        """The model without penalised features, and the strength at which each group enters."""
        loss, Z = problem.loss, problem.free
        B = loss.null_coefficients(Z)
        _, gradient, further = minimise_free(loss, Z, Z @ B)
        check_bounds(Z, gradient)
        nothing, none = np.arange(0), np.empty((0, loss.n_outputs))
        (strengths,) = problem.strengths(gradient)
        norms = np.zeros(len(strengths))
        return GroupCoefficients(nothing, nothing, none, B + further, norms, strengths, 0.0)

    def _model(
        self, problem: PenalisedLikelihood, start: Result[GroupCoefficients] | None
    ) -> LikelihoodModel:
        return LikelihoodModel(problem, self.null(problem) if start is None else start.solution)
