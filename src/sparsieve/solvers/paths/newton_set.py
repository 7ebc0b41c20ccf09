"""A penalised likelihood on a working set of groups: proximal Newton steps for one strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._beside import write_entries
from ..losses.expansion import CompiledExpansion, Expansion
from . import many_outputs
from .engine import MIN_NEW_UNITS, PRODUCT_COLUMNS, Iterate, is_doubtful
from .proximal_newton import ModelHessian, Point, proximal_newton
from .quadratic_model import ranges

if TYPE_CHECKING:
    from .likelihood import PenalisedLikelihood

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
