"""The outer loop of every path: a working set grows, is solved on, and X is read to certify.

A model is a penalised problem on units, features or groups of them. For several strengths in turn
the units that are expected to enter join the working set, and the problem on it is solved, each
strength from the last. One reading of X then gives the duality gap over all units for all of these
strengths. The first whose gap is too large is solved again, with the units that violate their
optimality condition or more exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..._beside import largest, mask_indices, read_entries
from ..base import Callback, Event, Result, relative

# Columns of a product with X that cost little more than one.
PRODUCT_COLUMNS = 16
# Strengths that one reading of X certifies at most; a path begins with one and doubles.
MAX_STRENGTHS = 8
# The gap on the working set that is asked for, as a share of the tolerance; how much smaller it
# gets where that did not do; and its share of the last gap while more units have to join.
INNER_SHARE, INNER_DECREASE, INNER_LOOSE = 0.8, 0.1, 0.03
# Units that join at once: at least so many, and so many times those with weight.
MIN_NEW_UNITS, NEW_PER_ACTIVE = 40, 2
# A unit joins where the strength at which it enters, continued as a line, comes as close to that of
# the penalty as this share of how far the penalty falls. Without a past this share of that fall is
# the slope.
JOINING_MARGIN = 0.3
# Readings between the two points of that line.
SLOPE_READINGS = 3
# A round without new units has to leave at most this share of the gap.
MAX_GAP_SHARE = 0.5
# A unit is nonzero for good where it fits more than this many gaps, and zero for good where the
# strength at which it enters stays below that of the penalty by this share of what the gap allows;
# a tenth suffices in practice.
NONZERO_GAPS, ZERO_SHARE = 10.0, 0.1
# Where units are in doubt, by how much the gap falls at once, and the smallest share to go on from.
DOUBT_DECREASE, MIN_SHARE = 1e-2, 1e-11


@dataclass
class Iterate:
    """A solution on the working set, for one strength.

    Attributes
    ----------
    value : float
        Objective.
    gap : float
        Duality gap of the problem on the working set.
    n_iter : int
        Steps of the model that led here.
    active : ndarray of int
        The units with weight.
    state : object
        What the model needs to go on from here.
    """

    value: float
    gap: float
    n_iter: int
    active: np.ndarray
    state: Any = None


class PathModel(Protocol):
    """A penalised problem on a working set of units.

    Attributes
    ----------
    can_enter : array of bool of shape (n_units,)
        Which units are not in the working set and may be; where ``entering`` gives its answers,
        beside X or on the host.
    n_at_once : int
        Iterates with which one reading of X costs little more than with one.
    n_joining : int
        Units that may join at once where few have weight.
    """

    can_enter: Any
    n_at_once: int
    n_joining: int

    def current_iterate(self) -> Iterate:
        """Where the model stands before the first strength; the objective does not matter."""

    def add(self, units: np.ndarray) -> None:
        """Take units into the working set, with zero weight."""

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        """Go on until the gap on the working set is at most ``share`` of what gaps are measured by.

        ``n_iter`` counts the steps of this call.
        """

    def entering(self, iterates: Sequence[Iterate]) -> Any:
        """The strength at which each unit would enter, a row per iterate: one reading of X."""

    def gap(self, iterate: Iterate, alpha: float, largest: float) -> tuple[float, float]:
        """The duality gap, and what it is relative to, given the largest of these strengths."""

    def in_doubt(self, iterate: Iterate, alpha: float, seen: np.ndarray) -> bool:
        """Whether the gap does not tell which units are zero, those ``seen`` before aside."""

    def restore(self, iterate: Iterate) -> None:
        """Go on from an earlier iterate; the working set stays."""

    def solution(self, iterate: Iterate, strengths: Any, gap: float) -> Any:
        """What goes into the result."""


@dataclass(frozen=True)
class PathEngine:
    """Solve a problem for falling strengths, each from the last.

    A subclass says by ``_model`` what the problem is on its working set.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times what the model measures gaps by.
    max_iter : int
        Largest number of steps for one strength.
    decided : bool
        Go on where the gap cannot tell which units are zero.
    """

    tol: float = 1e-6
    max_iter: int = 10_000
    decided: bool = False

    def _model(self, problem: Any, start: Result[Any] | None) -> PathModel:
        """The model of a problem, which begins at a result of one nearby."""
        raise NotImplementedError

    def solve(
        self, problem: Any, start: Result[Any] | None = None, callback: Callback | None = None
    ) -> Result[Any]:
        """Solve a problem for its own strength."""
        return next(self.path(problem, [problem.alpha], start, callback))

    def path(
        self,
        problem: Any,
        alphas: Iterable[float],
        start: Result[Any] | None = None,
        callback: Callback | None = None,
        enough: int | None = None,
    ) -> Iterator[Result[Any]]:
        """One result per strength of the penalty, the first from ``start``.

        Strengths of a sequence are looked at ahead; an iterator is asked for the next one when the
        last was answered. Nothing is solved ahead of a strength at which ``enough`` units have
        weight. A callback that returns True ends the path with the result it was told about.
        """
        model, tasks = self._model(problem, start), _Tasks(alphas)
        outlook = _Outlook(model.entering([model.current_iterate()])[0])
        seen, size, n_active = np.zeros(len(outlook.strengths), dtype=bool), 1, 0
        while batch := tasks.first(min(size, MAX_STRENGTHS, model.n_at_once)):
            batch, joining, all_of_them = outlook.joining(model, batch, n_active)
            if len(joining):
                model.add(joining)
            iterates: list[Iterate] = []
            for task in batch:
                task.n_joined = len(joining)
                iterates.append(self._solve_working_set_problem(model, task, seen, all_of_them))
                if enough is not None and len(iterates[-1].active) >= enough:
                    break
            for iterate, strengths in zip(iterates, model.entering(iterates), strict=True):
                task = tasks.waiting[0]
                gap, measure = model.gap(iterate, task.alpha, largest(strengths))
                is_last = task.judge(self, gap, relative(gap, measure), iterate)
                if not all_of_them:  # a gap of what was solved roughly says nothing about the next
                    task.gap = np.inf
                event = Event(task.n_iter, iterate.value, task.optimality, len(iterate.active))
                stop = bool(callback is not None and callback(event))
                outlook.learn(task.alpha, strengths)
                n_active = len(iterate.active)
                if not (is_last or stop):
                    model.restore(iterate)
                    size = 1
                    break
                seen[iterate.active] = True
                tasks.waiting.pop(0)
                solution = model.solution(iterate, strengths, gap)
                yield task.result(solution, iterate.value, task.optimality <= self.tol)
                if stop:
                    return
            else:
                size *= 2

    def _solve_working_set_problem(
        self, model: PathModel, task: _Task, seen: np.ndarray, all_of_them: bool
    ) -> Iterate:
        """The problem on the working set, as exactly as this round deserves."""
        share = task.share * self.tol
        if not all_of_them:  # more units have to join anyway
            share = max(share, INNER_LOOSE * min(task.optimality, 1.0))
        found = model.solve(task.alpha, share, self.max_iter - task.n_iter)
        task.n_iter += found.n_iter
        is_asked = self.decided and all_of_them
        while is_asked and share > MIN_SHARE and task.n_iter < self.max_iter:
            if not model.in_doubt(found, task.alpha, seen):
                break
            share *= DOUBT_DECREASE
            steps = found.n_iter
            found = model.solve(task.alpha, share, self.max_iter - task.n_iter)
            task.n_iter += found.n_iter
            found.n_iter += steps
        return found


@dataclass
class _Task:
    """What has been done about one strength."""

    alpha: float
    n_iter: int = 0
    n_joined: int = 0  # units, in the last round
    share: float = INNER_SHARE  # of the tolerance
    gap: float = np.inf
    optimality: float = np.inf
    trace: list[float] = field(default_factory=list)

    def judge(self, engine: PathEngine, gap: float, optimality: float, iterate: Iterate) -> bool:
        """Whether this was the last round: converged, or no other would help."""
        # What no step closes, and a gap that is no number, will not get better.
        idle = not self.n_joined and (iterate.n_iter == 0 or gap > MAX_GAP_SHARE * self.gap)
        stuck = not np.isfinite(gap) or (bool(self.trace) and idle)
        if not self.n_joined:
            self.share *= INNER_DECREASE
        self.gap, self.optimality = gap, optimality
        self.trace.append(iterate.value)
        return bool(optimality <= engine.tol) or stuck or self.n_iter >= engine.max_iter

    def result(self, solution: Any, value: float, converged: bool) -> Result[Any]:
        return Result(solution, value, self.optimality, self.n_iter, converged, self.trace)


class _Tasks:
    """Strengths in turn; only those of a sequence are known ahead."""

    def __init__(self, alphas: Iterable[float]) -> None:
        self.rest = iter(alphas)
        self.ahead: bool = isinstance(alphas, (Sequence, np.ndarray))
        self.waiting: list[_Task] = []

    def first(self, count: int) -> list[_Task]:
        """The first strengths that wait, at most so many."""
        count = count if self.ahead else 1
        while len(self.waiting) < count:
            alpha = next(self.rest, None)
            if alpha is None:
                break
            self.waiting.append(_Task(float(alpha)))
        return self.waiting[:count]


class _Outlook:
    """The strengths at which units would enter, and where they go as the penalty falls.

    They are arrays beside X.
    """

    def __init__(self, strengths: Any) -> None:
        self.readings: list[tuple[float, Any]] = [(largest(strengths), strengths)]

    @property
    def strengths(self) -> Any:
        return self.readings[-1][1]

    def learn(self, alpha: float, strengths: Any) -> None:
        """What the last reading at a strength of the penalty says."""
        kept = [reading for reading in self.readings if reading[0] > alpha]
        self.readings = [*kept[-SLOPE_READINGS:], (alpha, strengths)]

    def joining(
        self, model: PathModel, batch: list[_Task], n_active: int
    ) -> tuple[list[_Task], np.ndarray, bool]:
        """As many of the tasks as few enough units enter for, these units, and whether it is all.

        Where too many would have to join even for the first one, the strongest do.
        """
        can_enter = model.can_enter
        if not can_enter.any():
            return batch, np.arange(0), True
        room = max(model.n_joining, NEW_PER_ACTIVE * n_active)
        before, strengths = self.readings[-1]
        slope: Any = JOINING_MARGIN
        if len(self.readings) > 1:
            first, older = self.readings[0]
            slope = ((strengths - older) / (before - first)).clip(-1.0, 1.0)
        while True:
            fall = before - batch[-1].alpha
            near = strengths - slope * fall >= batch[-1].alpha - JOINING_MARGIN * max(fall, 0.0)
            units = mask_indices(can_enter & near)
            if len(batch) == 1 or len(units) <= room:
                break
            batch = batch[: (len(batch) + 1) // 2]
        if len(units) <= room:
            return batch, units, True
        strongest = np.argpartition(-read_entries(strengths, units), room - 1)[:room]
        return batch, np.sort(units[strongest]), False


def is_doubtful(
    fits: np.ndarray, strengths: np.ndarray, reach: np.ndarray, alpha: float, gap: float
) -> np.ndarray:
    """Which units are nonzero, or zero, by less than the gap can tell.

    A unit with weight that fits no more than the gap may have to be zero. The gap also bounds by
    how much the strength at which a unit enters is off: a unit without weight that comes that close
    may have to be nonzero.

    Parameters
    ----------
    fits : what each unit fits, in units of the objective; zero without weight.
    strengths : the strengths at which they enter.
    reach : by how much these are off where the gap is one; they go with its root.
    alpha : strength of the penalty.
    gap : the duality gap.
    """
    off = ZERO_SHARE * reach * np.sqrt(max(gap, 0.0))
    weighted = fits > 0.0
    return np.where(weighted, fits <= NONZERO_GAPS * gap, (reach > 0) & (alpha - strengths <= off))
