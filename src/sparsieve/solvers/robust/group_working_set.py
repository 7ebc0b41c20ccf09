"""A working set of groups for sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_g c_g ||W_g||.

As :mod:`.working_set`, with groups of columns in place of features. Dividing the columns of a group
by its weight c_g makes all weights one. A column of several groups has a row in each of them, and
these add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...design import as_design
from ..base import Callback, Event, Result, relative
from ..engines.group_products import PenalisedGroups
from .interior_point import InteriorPoint
from .polishing import polished
from .problem import RobustRegression, RobustSolution, lower_bound
from .working_set import ADD_THRESHOLD, INNER_TOL_LOOSE, KKT_VIOLATION_LOOSE

# Columns in the first working set and in every round, as far as whole groups allow.
INITIAL_COLUMNS, ADD_COLUMNS = 200, 100
# With no more columns than this all begin inside.
ALL_COLUMNS = 300


@dataclass(frozen=True)
class GroupSolution(RobustSolution):
    """A solution on groups; ``correlations`` are ||X_g' dual|| / c_g of every group.

    Attributes
    ----------
    inside : ndarray of int
        The groups of the working set.
    rows : ndarray
        Their rows, one group after the other; where groups share a feature each has its own.
    norms : ndarray of shape (n_groups,)
        ||W_g|| of every group.
    """

    inside: np.ndarray = field(kw_only=True)
    rows: np.ndarray = field(kw_only=True)
    norms: np.ndarray = field(kw_only=True)


@dataclass(frozen=True)
class GroupWorkingSet(PenalisedGroups):
    """Solve to a relative duality gap over all groups; alpha must be positive.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of interior-point iterations.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def at_dual(self, problem: RobustRegression, dual: np.ndarray) -> np.ndarray:
        """||X_g' dual|| / c_g of every group."""
        dual = np.asarray(dual, dtype=problem.design.dtype)
        return self.strengths(problem.design.rmatmul(dual))

    def columns(self, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns of some groups, and for each the place of its group."""
        return self.members(inside), np.repeat(np.arange(len(inside)), self.sizes[inside])

    def part(self, problem: RobustRegression, inside: np.ndarray) -> RobustRegression:
        """The problem on some groups, with equal weights."""
        columns, numbers = self.columns(inside)
        X = problem.columns(columns) / self.weights[inside][numbers]
        if problem.alpha == 0:
            return replace(problem, design=as_design(X), eligible=None)
        return replace(problem, design=as_design(X), eligible=None, numbers=numbers)

    def whole(
        self, problem: RobustRegression, inside: np.ndarray, found: RobustSolution
    ) -> GroupSolution:
        """A solution of such a part for all features and groups."""
        columns, numbers = self.columns(inside)
        rows = found.W / self.weights[inside][numbers][:, None]
        W = np.zeros((problem.design.shape[1], rows.shape[1]))
        np.add.at(W, columns, rows)
        norms = np.zeros(len(self.groups))
        squares = np.einsum("ij,ij->i", rows, rows)
        norms[inside] = np.sqrt(np.bincount(numbers, weights=squares, minlength=len(inside)))
        strengths = self.at_dual(problem, found.dual)
        return GroupSolution(
            W, found.free, strengths, found.dual, inside=inside, rows=rows, norms=norms
        )

    def solve(
        self,
        problem: RobustRegression,
        start: Result[GroupSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[GroupSolution]:
        """Begin with the groups of ``start``; the callback is called after every round."""
        alpha, sizes = problem.alpha, self.sizes
        open_ = sizes > 0
        inside = np.flatnonzero(open_)
        last: Result[RobustSolution] | None = None
        if start is not None and start.solution.norms.any():
            inside = start.solution.inside[start.solution.norms[start.solution.inside] > 0]
            last = self._moved(start, start.solution.inside, inside)
        elif sizes.sum() > ALL_COLUMNS:
            strengths = self.at_dual(problem, problem.without_features().solution.dual)
            inside = np.sort(self._strongest(strengths, open_, INITIAL_COLUMNS))
        trace: list[float] = []
        n_iter, violation = 0, np.inf
        while True:
            outside = open_.copy()
            outside[inside] = False
            loose = bool(outside.any()) and violation > KKT_VIOLATION_LOOSE
            tol = max(INNER_TOL_LOOSE, self.tol) if loose else 0.3 * self.tol
            part = self.part(problem, inside)
            inner = InteriorPoint(tol, max(self.max_iter - n_iter, 1)).solve(part, last)
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            strengths = self.at_dual(problem, inner.solution.dual)
            violation = max(1.0, float(strengths[open_].max(initial=0.0)) / alpha)
            bound = lower_bound(inner) / violation
            gap = relative(inner.objective - bound, inner.objective)
            event = Event(n_iter, inner.objective, gap, len(inside))
            stop = callback is not None and callback(event)
            exhausted = not loose and not (outside & (strengths > alpha)).any()
            if gap <= self.tol or exhausted or n_iter >= self.max_iter or stop:
                break
            most = max(ADD_COLUMNS, int(sizes[inside].sum()))
            entering = outside & (strengths > ADD_THRESHOLD * alpha)
            grown = np.union1d(inside, self._strongest(strengths, entering, most))
            last = self._moved(inner, inside, grown)
            inside = grown
        found = polished(part, inner, bound=bound, tol=self.tol)
        optimality = relative(found.objective - bound, found.objective)
        solution = self.whole(problem, inside, found.solution)
        solution = replace(solution, correlations=solution.correlations / violation)
        converged = optimality <= self.tol
        return Result(solution, found.objective, optimality, max(n_iter, 1), converged, trace)

    def _strongest(self, strengths: np.ndarray, some: np.ndarray, most: int) -> np.ndarray:
        """The strongest of some groups, one at least, of not many more columns than this."""
        order = np.flatnonzero(some)
        order = order[np.argsort(-strengths[order], kind="stable")]
        sizes = self.sizes[order]
        return order[np.cumsum(sizes) - sizes < most]

    def _moved(self, last: Result, inside: np.ndarray, grown: np.ndarray) -> Result[RobustSolution]:
        """A result on some groups as one on others."""
        solution = last.solution
        _, numbers = self.columns(inside)
        rows = solution.W
        if isinstance(solution, GroupSolution):
            rows = solution.rows * self.weights[inside][numbers][:, None]
        known = {int(g): rows[numbers == i] for i, g in enumerate(inside)}
        n_outputs = rows.shape[1]
        parts = [known.get(int(g), np.zeros((len(self.groups[int(g)]), n_outputs))) for g in grown]
        W = np.vstack([np.empty((0, n_outputs)), *parts])
        moved = RobustSolution(W, solution.free, solution.correlations, solution.dual)
        return Result(moved, last.objective, last.optimality, last.n_iter, last.converged)
