"""Linear support vector machines that count features, by the DC algorithm.

The number of features is replaced by a concave surrogate of the weights, or by one switch per
feature with an exact penalty. Either is linearised at the current point, which leaves the weighted
l1 machine of ``column_generation``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....penalties import Surrogate
from ....solvers.base import Callback, Event, Result, relative
from ....solvers.engines.dca import DCA
from .column_generation import ColumnGeneration, Hinge, SparsePlane


@dataclass(frozen=True)
class SurrogateSVM:
    """sum_j delta(w_j) + sum_i C_i xi_i."""

    hinge: Hinge
    surrogate: Surrogate

    def value(self, plane: SparsePlane) -> float:
        """The objective."""
        weights = plane.weights[self.hinge.penalty_mask(plane)]
        return self.surrogate.total(weights) + self.hinge.loss(plane)

    def costs(self, plane: SparsePlane) -> np.ndarray:
        """Cost of every feature in the linear program of this point."""
        costs = self.hinge.uniform_costs(self.surrogate.slope_at_zero)
        counted = self.hinge.penalty_mask(plane)
        costs[plane.features[counted]] = self.surrogate.weight(plane.weights[counted])
        return costs

    def switch(self, plane: SparsePlane, before: SparsePlane) -> SparsePlane:
        """There are no switches."""
        return plane


@dataclass(frozen=True)
class ExactPenaltySVM:
    """sum_j u_j + t min(u_j, 1 - u_j) + sum_i C_i xi_i with |w_j| <= B u_j, 0 <= u <= 1.

    The best u for given weights is |w| / B, or 1 where that is cheaper, so a point is the
    weights and the set of features switched to u = 1. A linear program charges (1 + t) / B for
    features that are off and nothing for those that are on. A feature is switched on beyond
    B / 2, where the linearisation of min(u, 1 - u) changes sides, and off again where u = |w| / B
    has become cheaper; neither can raise the objective.
    """

    hinge: Hinge
    penalty: float

    @property
    def cost(self) -> float:
        """Of a unit of weight of a feature that is off."""
        return (1.0 + self.penalty) / self.hinge.bound

    def value(self, plane: SparsePlane) -> float:
        """The objective."""
        off = self.hinge.penalty_mask(plane) & ~np.isin(plane.features, plane.switched)
        charge = self.cost * float(np.abs(plane.weights[off]).sum())
        return charge + len(plane.switched) + self.hinge.loss(plane)

    def costs(self, plane: SparsePlane) -> np.ndarray:
        """Cost of every feature in the linear program of this point."""
        costs = self.hinge.uniform_costs(self.cost)
        costs[plane.switched] = 0.0
        return costs

    def switch(self, plane: SparsePlane, before: SparsePlane) -> SparsePlane:
        """The plane with its switches, which follow from those of the point before."""
        size, B = np.abs(plane.weights), self.hinge.bound
        was_on = np.isin(plane.features, before.switched)
        stays = np.where(was_on, (1.0 + self.penalty) * size >= B, size > 0.5 * B)
        return replace(plane, switched=plane.features[stays & self.hinge.penalty_mask(plane)])


L0Problem = SurrogateSVM | ExactPenaltySVM


class _Steps:
    """A run of the DC algorithm; every linear program starts from the latest one."""

    def __init__(self, problem: L0Problem):
        self.problem = problem
        self.value, self.linearise = problem.value, problem.costs
        self.latest: Result[SparsePlane] | None = None

    def solve_convex(self, costs: np.ndarray, plane: SparsePlane) -> SparsePlane:
        return self.problem.switch(self.program(costs).solution, plane)

    def program(self, costs: np.ndarray) -> Result[SparsePlane]:
        """The linear program of these costs."""
        hinge = replace(self.problem.hinge, costs=costs)
        self.latest = ColumnGeneration().solve(hinge, self.latest)
        return self.latest


@dataclass(frozen=True)
class L0SVM:
    """The DC algorithm until the point certifies itself.

    The optimality is how far the point is from solving the linear program that it defines
    itself, relative to the objective, or that program's own optimality, if larger. ``costs`` of the
    solution are those of this program.
    """

    max_iter: int = 50
    tol: float = 1e-6

    def solve(
        self,
        problem: SurrogateSVM | ExactPenaltySVM,
        start: Result[SparsePlane] | None = None,
        callback: Callback | None = None,
    ) -> Result[SparsePlane]:
        """Run from zero weights, or from a plane."""
        hinge, steps = problem.hinge, _Steps(problem)
        x = hinge.origin() if start is None else start.solution
        trace: list[float] = []
        n_iter = 0

        def show(event: Event) -> bool | None:
            n_features = len(event.solution.features)
            here = replace(event, n_iter=n_iter + event.n_iter, n_features=n_features)
            return None if callback is None else callback(here)

        while True:
            run = DCA(max_iter=self.max_iter - n_iter, tol=self.tol).solve(steps, x, show)
            x, n_iter = run.solution, n_iter + run.n_iter
            trace += run.trace
            costs = problem.costs(x)
            own = steps.program(costs)
            here = float(costs[x.features] @ np.abs(x.weights)) + hinge.loss(x)
            shortfall = relative(here - own.objective, run.objective, hinge.zero_loss)
            optimality = max(shortfall, own.optimality)
            # A rise within the accuracy of the linear programs ends the loop like a small decrease.
            converged = optimality <= self.tol
            unreachable = own.optimality > self.tol  # the next programs would be solved no better
            if converged or unreachable or n_iter >= self.max_iter or not run.converged:
                plane = replace(x, costs=costs)
                return Result(plane, run.objective, optimality, n_iter, converged, trace)
