"""The machine that reaches a level with few features: a surrogate of their number, or the fewest.

**For sure.**
On the features S the best machine has 1 / kappa(S) = min N_1(w) + N_2(w) over D'w = 1. As
(a + b)^2 is the least a^2 / t + b^2 / (1 - t) over t in (0, 1),

    kappa(S)^2 = max over t of D_S'(Sigma_1 / t + Sigma_2 / (1 - t))_SS^-1 D_S,

and for t between t_1 and t_2 the matrix is at least M = Sigma_1 / t_2 + Sigma_2 / (1 - t_1). So
on every piece of (0, 1) the power D_S'M_SS^-1 D_S bounds kappa(S)^2 from above, and it falls when
features leave S. What it loses by one feature alone is v_j^2 / (M_SS^-1)_jj, v = M_SS^-1 D_S: a
feature that costs too much is in every support that reaches the level (Furnival and Wilson's
leaps and bounds). Supports that no bound excludes are solved. Where features nearly determine each
other, M cannot be inverted reliably; then only machines themselves exclude their subsets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...._clock import Deadline
from ....penalties.concave import Surrogate
from ....solvers.base import Callback, Event, Result
from ....solvers.engines.dca import DCA
from .column_generation import ConeFailure
from .l1_mpm import L1MPM
from .moments import TwoClassMoments
from .mpm import MPM
from .problem import Hyperplane, Minimax, required_kappa


class SurrogateProgram:
    """Minimise sum_j delta(w_j) as a DC program, under the constraints of the machine.

    Features without cost are not counted. A run: every step starts from the latest one.
    """

    free: np.ndarray
    problem: Minimax
    surrogate: Surrogate

    def __init__(self, problem: Minimax):
        assert problem.surrogate is not None
        self.problem, self.surrogate, self.free = problem, problem.surrogate, problem.free
        self.latest: Result[Hyperplane] | None = None

    def value(self, x: Result[Hyperplane] | None) -> float:
        """Surrogate of the number of features; the start (None: no weights) is infeasible."""
        if x is None:
            return np.inf
        return self.surrogate.total(np.delete(x.solution.weights, self.free))

    def linearise(self, x: Result[Hyperplane] | None) -> np.ndarray:
        """Slope of the concave part in |w|."""
        none = np.zeros(self.problem.moments.n_features)
        return self.surrogate.concave_gradient(none if x is None else x.solution.weights)

    def solve_convex(
        self, slope: np.ndarray, x0: Result[Hyperplane] | None
    ) -> Result[Hyperplane] | None:
        """The weighted l1 machine, from the working set of the latest.

        The step cannot gain more than what x0 costs; where that is next to nothing, x0 stays.
        A cone solver that gives up half way is no reason to lose what was found: None (of
        infinite value) ends the DC algorithm at the last good point.
        """
        costs = self.surrogate.slope_at_zero - slope
        costs[self.free] = 0.0
        if x0 is not None and costs @ np.abs(x0.solution.weights) <= 1e-7 * self.value(x0):
            return x0
        try:
            self.latest = L1MPM().solve(replace(self.problem, costs=costs), self.latest)
        except ConeFailure:
            if x0 is None:
                raise
            return None
        return self.latest

    def has_same_support(self, old: Result[Hyperplane] | None, new: Result[Hyperplane]) -> bool:
        """Whether the same features are used."""
        return old is not None and np.array_equal(old.solution.support, new.solution.support)


@dataclass(frozen=True)
class L0MPM:
    """The DC algorithm from zero weights, whose first step is the l1 machine.

    The optimality is the larger of the last relative decrease and the gap of the last step.
    """

    max_iter: int = 100
    tol: float = 1e-4

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Run from zero weights, or from a feasible machine."""

        def show(event: Event) -> bool | None:
            plane = event.solution.solution
            shown = replace(event, n_features=len(plane.support), solution=plane)
            return None if callback is None else callback(shown)

        program = SurrogateProgram(problem)
        # A change below tol, up or down, is within what was asked for.
        run = DCA(self.max_iter, self.tol, slack=max(self.tol, 1e-6)).solve(program, start, show)
        step: Result[Hyperplane] = run.solution
        plane, latest = step.solution, program.latest
        if latest is not None and np.array_equal(latest.solution.support, plane.support):
            # Those of the last program, also where rounding alone spoke against its weights.
            plane = replace(plane, tightness=latest.solution.tightness)
        optimality = max(run.optimality, step.optimality)
        converged = run.converged and optimality <= self.tol
        return Result(plane, run.objective, optimality, run.n_iter, converged, run.trace)


MAX_FEATURES = 30
# A level counts as reached by a machine this close to it, as everywhere; bounds exclude a little
# less, so that rounding cannot exclude what reaches it.
LEVEL_TOL, BOUND_TOL = 1e-9, 1e-6
# Pieces of (0, 1) are halved until their ends differ by this factor, or are this close to 0 or 1.
PIECE_RATIO, PIECE_END = 1.1, 1e-2
# Least eigenvalue of M, with a unit diagonal, at which its inverse is good to less than BOUND_TOL.
MIN_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class FewestFeatures:
    """What the search ends with.

    Attributes
    ----------
    support : ndarray
        Features that reach the level, the free ones included.
    bound : int
        No fewer features that are not free do.
    """

    support: np.ndarray
    bound: int


class TooManyFeatures(ValueError):
    """There are more features than supports can be searched of."""


@dataclass(frozen=True)
class BestSubset:
    """Leaps and bounds: one size after the other is excluded, until a support is found.

    The optimality is (size - bound) / size: by what share a support could be smaller at most.
    """

    time_limit: float = np.inf  # seconds

    def solve(
        self,
        problem: Minimax,
        start: Result[Any] | None = None,
        callback: Callback | None = None,
    ) -> Result[FewestFeatures]:
        """The smallest support that reaches the level, or the smallest found and a bound.

        The solution of ``start`` has a ``support`` that reaches the level; None is all features.
        """
        n_features = problem.moments.n_features
        if n_features > MAX_FEATURES:
            raise TooManyFeatures(
                f'solver="exact" works for up to {MAX_FEATURES} features, but X has {n_features}; '
                'reduce them first, or use solver="surrogate"'
            )
        support = np.arange(n_features) if start is None else start.solution.support
        return _Search(problem, self.time_limit, callback).run(support)


class _OutOfTime(Exception):
    pass


class _Search:
    def __init__(self, problem: Minimax, time_limit: float, callback: Callback | None):
        moments, level = problem.moments, problem.level
        self.moments, self.level, self.callback = moments, level, callback
        self.deadline = Deadline.after(time_limit)
        self.free = problem.costs == 0.0
        everything = np.arange(moments.n_features)
        factors = [moments.columns(which, everything) for which in (0, 1)]
        self.spread = [
            factor.T @ factor + ridge * np.eye(moments.n_features)
            for factor, ridge in zip(factors, moments.ridges, strict=True)
        ]
        self.used = self.free | _first_copies(moments)
        self.power = required_kappa(level) ** 2 * (1.0 - BOUND_TOL) if level < 1.0 else np.inf
        self.known: dict[bytes, bool] = {}
        self.n_nodes = 0
        self.trace: list[float] = []

    def run(self, start: np.ndarray) -> Result[FewestFeatures]:
        inside = self.free.copy()
        inside[start] = True
        best = self._thin_support(inside)
        bound = 0
        try:
            pieces: list[np.ndarray | None] = [None]
            if self._is_invertible():
                pieces = [*self._pieces(0.0, 1.0)]
            while bound < (size := self._count(best)):
                self._report(size, bound)
                found = next(
                    (s for m in pieces if (s := self._of_size(bound, m)) is not None), None
                )
                if found is not None:
                    best = found
                    break
                bound += 1
        except _OutOfTime:
            pass
        size = self._count(best)
        self.trace.append(float(size))
        gap = (size - bound) / size if size else 0.0
        fewest = FewestFeatures(np.flatnonzero(best), bound)
        return Result(fewest, float(size), gap, self.n_nodes, gap == 0.0, self.trace)

    def _count(self, inside: np.ndarray) -> int:
        return int(np.count_nonzero(inside & ~self.free))

    def _report(self, size: int, bound: int) -> None:
        self.trace.append(float(size))
        if self.callback is not None:
            gap = (size - bound) / size
            note = f"at least {bound}"
            if self.callback(Event(self.n_nodes, float(size), gap, size, note)):
                raise _OutOfTime

    def _reaches(self, inside: np.ndarray) -> bool:
        """Whether the machine on these features reaches the level."""
        key = np.packbits(inside).tobytes()
        if key not in self.known:
            support = np.flatnonzero(inside)
            self.known[key] = bool(
                np.any(self.moments.difference[support])
                and MPM().solve(Minimax(self.moments.restrict(support))).solution.accuracy
                >= self.level * (1.0 - LEVEL_TOL)
            )
        return self.known[key]

    def _thin_support(self, inside: np.ndarray) -> np.ndarray:
        """A support without features that it reaches the level without, one at a time."""
        for feature in np.flatnonzero(inside & ~self.free):
            fewer = inside.copy()
            fewer[feature] = False
            if self._reaches(fewer):
                inside = fewer
        return inside

    # -- bounds --------------------------------------------------------------------------

    def _pieces(self, low: float, high: float) -> list[np.ndarray]:
        """M of every piece of (low, high) on which all features together could reach the level."""
        matrix = self.spread[0] / high + self.spread[1] / (1.0 - low)
        d = self.moments.difference[self.used]
        if d @ np.linalg.solve(matrix[np.ix_(self.used, self.used)], d) < self.power:
            return []
        narrow = low > 0.0 and high < 1.0 and max(high / low, (1 - low) / (1 - high)) <= PIECE_RATIO
        if narrow or high <= PIECE_END or low >= 1.0 - PIECE_END:
            return [matrix]
        middle = 0.5 * (low + high)
        if low == 0.0:
            middle = max(0.25 * high, PIECE_END)
        elif high == 1.0:
            middle = 1.0 - max(0.25 * (1.0 - low), PIECE_END)
        return [*self._pieces(low, middle), *self._pieces(middle, high)]

    def _is_invertible(self) -> bool:
        """Whether M, on every piece, can be inverted; it is at least Sigma_1 + Sigma_2."""
        total = (self.spread[0] + self.spread[1])[np.ix_(self.used, self.used)]
        size = np.sqrt(np.diag(total))
        if len(size) == 0 or not size.min() > 0.0:
            return False
        return bool(np.linalg.eigvalsh(total / np.outer(size, size))[0] >= MIN_EIGENVALUE)

    # -- the search for one size ---------------------------------------------------------

    def _of_size(self, size: int, matrix: np.ndarray | None) -> np.ndarray | None:
        """A support with so many features that are not free, of those this bound allows."""
        used = np.flatnonzero(self.used)
        inverse = None if matrix is None else np.linalg.inv(matrix[np.ix_(used, used)])
        stack = [(used, inverse, self.free.copy())]
        while stack:
            left, inverse, held = stack.pop()
            self.n_nodes += 1
            if self.deadline.is_over:
                raise _OutOfTime
            lost = self._lost(left, inverse)
            if lost is None:
                continue
            costs, needed = lost
            held = held.copy()
            held[left[needed]] = True
            n_held = self._count(held)
            if n_held > size:
                continue
            if n_held == size or n_held + np.count_nonzero(~held[left]) <= size:
                inside = held.copy()
                if n_held < size:
                    inside[left] = True
                if self._reaches(inside):
                    return inside
                continue
            place = int(np.argmax(np.where(held[left], -np.inf, costs)))
            with_it = held.copy()
            with_it[left[place]] = True
            fewer = None if inverse is None else _downdate_inverse(inverse, place)
            stack.append((np.delete(left, place), fewer, held))
            stack.append((left, inverse, with_it))
        return None

    def _lost(self, left, inverse) -> tuple[np.ndarray, np.ndarray] | None:
        """What every feature of a set costs to drop, and if too much; None: not even all reach."""
        if inverse is None:
            inside = np.zeros(self.moments.n_features, dtype=bool)
            inside[left] = True
            if not self._reaches(inside):
                return None
            return np.zeros(len(left)), np.zeros(len(left), dtype=bool)
        d = self.moments.difference[left]
        v = inverse @ d
        power = float(d @ v)
        if power < self.power:
            return None
        costs = v * v / np.diag(inverse)
        return costs, power - costs < self.power


def _first_copies(moments: TwoClassMoments) -> np.ndarray:
    """Features that are neither constant nor equal to an earlier one: others add nothing."""
    columns = moments.design.dense_columns(np.arange(moments.n_features))
    first = np.zeros(moments.n_features, dtype=bool)
    first[np.unique(columns, axis=1, return_index=True)[1]] = True
    return first & (np.ptp(columns, axis=0) > 0)


def _downdate_inverse(inverse: np.ndarray, place: int) -> np.ndarray:
    """The inverse of what is left when a row and column of the matrix go."""
    row = inverse[place]
    smaller = inverse - np.outer(row, row / row[place])
    return np.delete(np.delete(smaller, place, axis=0), place, axis=1)
