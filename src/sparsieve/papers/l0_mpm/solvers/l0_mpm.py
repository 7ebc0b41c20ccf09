"""The machine that reaches a level with few features: a surrogate of their number, by DC steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....penalties.concave import Surrogate
from ....solvers.base import Callback, Event, Result
from ....solvers.engines.dca import DCA
from .column_generation import ConeFailure
from .hyperplane import Hyperplane
from .l1_mpm import L1MPM
from .problem import Minimax


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
