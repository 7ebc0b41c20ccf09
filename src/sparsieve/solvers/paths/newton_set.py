"""A penalised likelihood on a working set of groups: proximal Newton steps for one strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._beside import put
from . import asked_loss, many_outputs
from .asked_loss import AskedLoss
from .engine import MIN_NEW_UNITS, PRODUCT_COLUMNS, Iterate, is_doubtful
from .quadratic import ranges

if TYPE_CHECKING:
    from ..losses.base import Loss
    from .likelihood import PenalisedLikelihood

# Coefficients whose Hessian is held in memory.
MAX_DENSE = 600
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


class Kept(NamedTuple):
    """Room for the Hessian of the blocks that have mattered since it was computed.

    Attributes
    ----------
    A : ndarray
        X'HX of the places of these blocks, as large as it can be; the outputs of a column are
        neighbours.
    known : ndarray of bool of shape (n_blocks,)
    blocks, rows : ndarray of int
        The blocks in the order of their places, and their rows of X.
    starts, offsets : ndarray of int
        Where the places and the eigenvectors of a block begin.
    values, vectors : ndarray
        Eigenvalues and eigenvectors of the part of A of every block.
    counts : ndarray of int
        Number of blocks, number of rows, and whether it is to be used further.
    """

    A: np.ndarray
    known: np.ndarray
    blocks: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    offsets: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray

    @classmethod
    def room(cls, sizes: np.ndarray, n_rows: int, older: Kept | None = None) -> Kept:
        """Room for blocks of these numbers of places, with what was known before."""
        n_places, n_blocks = min(int(sizes.sum()), MAX_DENSE), len(sizes)
        new = cls(
            np.empty((n_places, n_places)) if older is None else older.A,
            np.zeros(n_blocks, dtype=bool),
            np.zeros(n_blocks, dtype=np.int64),
            np.zeros(n_rows, dtype=np.int64),
            np.zeros(n_blocks + 1, dtype=np.int64),
            np.zeros(n_blocks + 1, dtype=np.int64),
            np.empty(n_places),
            np.empty(min(int((sizes**2).sum()), n_places**2)),
            np.zeros(3, dtype=np.int64),
        )
        if older is None:
            return new
        for before, now in zip(older[1:], new[1:], strict=True):
            now[: len(before)] = before
        if n_places <= len(older.A):
            return new
        A = np.empty((min(max(n_places, 2 * len(older.A)), MAX_DENSE),) * 2)
        A[: len(older.A), : len(older.A)] = older.A
        return new._replace(A=A)


class Known(NamedTuple):
    """What compiled code knows of a loss at predictors f.

    Attributes
    ----------
    f : ndarray of shape (n_samples,)
    samples : ndarray of shape (3, n_samples)
        Gradient, curvature, and risks for Cox.
    terms : ndarray of shape (n_blocks, 7)
        Sums over the blocks of Cox.
    """

    f: np.ndarray
    samples: np.ndarray
    terms: np.ndarray


class CompiledLoss(NamedTuple):
    """A loss for compiled code, and what is known of it here and where the Hessian was computed."""

    given: tuple[Any, ...]
    here: Known
    kept: Known

    @classmethod
    def of(cls, loss: Loss) -> CompiledLoss | None:
        """None where there is no compiled code for it."""
        if loss.compiled is None:
            return None
        n, n_blocks = loss.n_samples, len(loss.compiled[6])
        here, kept = (
            Known(np.empty(n), np.empty((3, n)), np.empty((n_blocks, 7))) for _ in range(2)
        )
        return cls(loss.compiled, here, kept)


class Point(NamedTuple):
    """Where a descent has come to.

    Attributes
    ----------
    W : ndarray of shape (n_rows, n_outputs)
        Coefficients of the rows of X.
    F, gradient : ndarray of shape (n_samples, n_outputs)
        The predictors that they give, and the gradient of the loss.
    norms, strengths : ndarray of shape (n_blocks,)
        ||W_b||, and the strength at which every block would enter.
    """

    W: np.ndarray
    F: np.ndarray
    gradient: np.ndarray
    norms: np.ndarray
    strengths: np.ndarray


class LikelihoodModel:
    """A :class:`.engine.PathModel` of a penalised likelihood.

    Columns are rows of ``X``, those without penalty first, which are a block without cost; then one
    block per group of the working set.
    """

    n_joining: int = MIN_NEW_UNITS
    problem: PenalisedLikelihood
    loss: Any
    compiled: Any
    asked: AskedLoss
    is_free: int
    n_rows: int
    X: np.ndarray
    n_at_once: int
    kept: Kept
    point: Point

    def __init__(self, problem: PenalisedLikelihood, start: GroupCoefficients) -> None:
        self.problem, self.loss = problem, problem.loss
        self.compiled, self.asked = CompiledLoss.of(self.loss), AskedLoss(self.loss)
        n_free = problem.free.shape[1]
        self.is_free = int(n_free > 0)
        self.n_rows = n_free
        self.X = np.array(problem.free.T, order="C")
        self.groups: np.ndarray = np.arange(0)
        self.starts: np.ndarray = np.array([0, n_free] if n_free else [0])
        self.weights: np.ndarray = np.zeros(self.is_free)
        self.can_enter: Any = problem.beside(problem.penalised.sizes > 0)
        self.n_at_once = max(1, PRODUCT_COLUMNS // self.loss.n_outputs)
        self.kept = Kept.room(np.diff(self.starts) * self.loss.n_outputs, n_free)
        self.older: list[tuple[float, Point]] = []  # solutions of the last two strengths
        F = problem.free @ start.B
        self.least: float = self.loss.dual_value(F, 0.0)  # no predictors have less
        self.point = self._at(start.B.copy(), F)
        if len(start.groups):
            self.add(start.groups)
            W = np.vstack((start.B, start.blocks))
            self.point = self._at(W, self.X[: self.n_rows].T @ W)

    def _at(self, W: np.ndarray, F: np.ndarray) -> Point:
        nothing = np.zeros(len(self.weights))
        return Point(W, F, self.loss.gradient(F), nothing, nothing)

    # -- what the engine asks ----------------------------------------------------------------

    def here(self) -> Iterate:
        return Iterate(np.inf, np.inf, 0, self.groups[:0], self.point)

    def add(self, units: np.ndarray) -> None:
        columns = self.problem.penalised.members(units)
        added = np.asarray(self.problem.design.dense_columns(columns), dtype=np.float64)
        old, self.n_rows = self.n_rows, self.n_rows + len(columns)
        if self.n_rows > len(self.X):
            room = np.empty((max(self.n_rows, 2 * len(self.X)), len(added)))
            room[:old] = self.X[:old]
            self.X = room
        self.X[old : self.n_rows] = added.T
        self.starts = np.append(self.starts, old + np.cumsum(self.problem.penalised.sizes[units]))
        self.groups = np.append(self.groups, units)
        self.weights = np.append(self.weights, self.problem.weights[units])
        put(self.can_enter, units, False)
        places = np.diff(self.starts) * self.loss.n_outputs
        self.kept = Kept.room(places, self.n_rows, self.kept)
        self.point = self._padded(self.point)
        self.older = [(alpha, self._padded(point)) for alpha, point in self.older]

    def _padded(self, point: Point) -> Point:
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
        self.point = self._padded(iterate.state)
        self.older = []

    def solution(self, iterate: Iterate, strengths: Any, gap: float) -> GroupCoefficients:
        point, first = iterate.state, self.is_free
        places = first + np.flatnonzero(point.norms[first:])
        rows = ranges(self.starts[places], np.diff(self.starts)[places])
        groups, norms = self.groups[places - first], np.zeros(len(self.can_enter))
        norms[groups] = point.norms[places]
        columns, B = self.problem.penalised.members(groups), point.W[: self.problem.free.shape[1]]
        return GroupCoefficients(groups, columns, point.W[rows], B, norms, strengths, gap)

    # -- one strength --------------------------------------------------------------------------

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        if not len(self.weights):
            return Iterate(self.loss.value(self.point.F), 0.0, 0, self.groups, self.point)
        norms, strengths = np.empty((2, len(self.weights)))
        W, F, gradient = (some.copy() for some in self.point[:3])
        found = self._descend(alpha, share, max_steps, (W, F, gradient, norms, strengths))
        self.point = Point(W, F, gradient, norms, strengths)
        self.older = [*self.older[-1:], (alpha, self.point)]
        active = self.groups[norms[self.is_free :] > 0.0]
        return Iterate(*found, active, self.point)

    def _descend(
        self, alpha: float, share: float, max_steps: int, point: Any
    ) -> tuple[float, float, int]:
        """The objective, the gap and the number of steps; the point moves in place."""
        from ._newton_kernels import DONE, NO_ROOM, proximal_newton

        given: Any = (self.X[: self.n_rows], self.starts, self.weights, alpha, share, self.least)
        line: Any = self._line(alpha)
        steps = 0
        if self.compiled is not None:
            compiled: Any = proximal_newton
            came, value, gap, steps = compiled(
                self.compiled, *given, max_steps, *point, *line, self.kept
            )
            closed = not gap > share * self._size(value) or steps >= max_steps
            if came == DONE and closed:
                return value, gap, steps
            if came != NO_ROOM:  # the loss itself rounds less
                self.kept.counts[:] = 0
            line = line[0][:0], line[1]
        came, value, gap, more = asked_loss.proximal_newton()(
            self.asked, *given, max_steps - steps, *point, *line, self.kept
        )
        if came != DONE:
            done = steps + more
            rest = self.loss, *given, max_steps - done, *point
            value, gap, more = many_outputs.descend(*rest)
            more += done - steps
        return value, gap, steps + more

    def _line(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The point at this strength of the line through the last two solutions."""
        if len(self.older) < 2 or self.older[0][0] == self.older[1][0]:
            return self.point.W[:0], self.point.F
        (first, old), (second, new) = self.older
        ahead = (alpha - second) / (second - first)
        return new.W + ahead * (new.W - old.W), new.F + ahead * (new.F - old.F)
