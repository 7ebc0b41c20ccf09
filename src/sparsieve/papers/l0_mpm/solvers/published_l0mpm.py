"""The DC algorithm of L0-MPM as it was published, one cone program over all features per step.

The surrogate sum_j delta(w_j) is written as slope |w_j| less a smooth convex function h. A step
minimises

    slope e't - h'(w_k)'w   s.t.  -t <= w <= t  and the constraints of the machine.

The linear term has the sign of w_k, so that a weight that changes its sign costs more than one
that keeps it; the steps of ``L0MPM`` replace it by a weighted l1 norm, which treats both alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....solvers.base import Callback, Event, Result
from .column_generation import ConeFailure, InfeasibleError, quotient
from .conic import ConeSolution
from .hyperplane import Hyperplane, achieved_accuracy
from .problem import Minimax
from .split_program import split_program, without_noise


@dataclass(frozen=True)
class PublishedL0MPM:
    """From zero weights, whose first step is the l1 machine; the paper leaves the start open.

    It stops by the rule of the paper: the point moves by less than ``tol``, or the objective falls
    by no more than ``tol``. The optimality is the smaller of the two.
    """

    max_iter: int = 100
    tol: float = 1e-4

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Run from zero weights; ``start`` is not used."""
        surrogate = problem.surrogate
        assert surrogate is not None
        counted = np.ones(problem.moments.n_features, dtype=bool)
        counted[problem.free] = False
        program = _StepProgram(problem, surrogate.slope_at_zero * counted)
        point, value, optimality = np.zeros(len(counted) + 1), np.inf, np.inf
        plane: Hyperplane | None = None
        trace: list[float] = []
        while len(trace) < self.max_iter and not optimality < self.tol:
            weights = point[:-1]
            slope = np.sign(weights) * surrogate.concave_gradient(np.abs(weights)) * counted
            plane = program.solve(slope)
            new = np.append(plane.weights, plane.offset)
            after = surrogate.total(plane.weights[counted])
            moved, fallen = float(np.linalg.norm(new - point)), value - after
            optimality = min(moved, max(fallen, 0.0)) if trace else np.inf
            point, value = new, after
            trace.append(value)
            used = len(plane.support)
            event = Event(len(trace), value, optimality, n_features=used, solution=plane)
            if callback is not None and callback(event):
                break
        assert plane is not None
        return Result(plane, value, optimality, len(trace), optimality < self.tol, trace)


class _StepProgram:
    """The cone program of a step, whose cost alone changes.

    Variables are w and t in units of the features, b, and s >= ||w|| for the ridges.
    """

    def __init__(self, problem: Minimax, prices: np.ndarray):
        moments, kappa = problem.moments, problem.kappa
        self.moments, self.prices, self.units = moments, prices, moments.sizes
        d = moments.n_features
        sides = np.zeros((2, d + 2))  # how far the means lie on their side, with its sign
        sides[0, :d], sides[0, d] = -moments.means[0] / self.units, 1.0
        sides[1, :d], sides[1, d] = moments.means[1] / self.units, -1.0
        # Without a ridge the last cone only keeps s from being free.
        self.program = split_program(moments, prices, sides, sides, kappa, has_length=True)

    def solve(self, slope: np.ndarray) -> Hyperplane:
        """The machine that a step ends with; weights of solver accuracy are zeros."""
        d = len(slope)
        cost = self.program.q.copy()
        cost[:d] = -slope / self.units
        answer = self.program.solve(cost)
        if answer.status == "infeasible":
            raise InfeasibleError
        if answer.status != "solved":
            raise ConeFailure
        weights, offset = without_noise(answer.x[:d]) / self.units, float(answer.x[2 * d])
        accuracy = achieved_accuracy(self.moments, weights, offset)
        return Hyperplane(weights, offset, accuracy, self._tightness(answer, weights))

    def _tightness(self, answer: ConeSolution, weights: np.ndarray) -> np.ndarray:
        """The two multipliers of a feature's |w| add up to its price; used features take all."""
        d = len(weights)
        reduced = np.abs(answer.z[:d] - answer.z[d : 2 * d]) * self.units
        return np.where(weights != 0.0, 1.0, np.minimum(quotient(reduced, self.prices), 1.0))
