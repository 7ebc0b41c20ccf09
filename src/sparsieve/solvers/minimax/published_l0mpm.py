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
from scipy import sparse

from ..base import Callback, Event, Result
from ..engines.conic import ConeProgram, ConeSolution
from .column_generation import ZERO_WEIGHT_TOL, ConeFailure, InfeasibleError, quotient
from .hyperplane import Hyperplane, achieved_accuracy
from .problem import Minimax

CONE_TOL = 1e-9


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
        eye, rest = sparse.identity(d), sparse.csc_matrix((d, 2))
        sides = np.zeros((2, 2 * d + 2))  # how far the means lie on their side, with its sign
        sides[0, :d], sides[0, 2 * d] = -moments.means[0] / self.units, 1.0
        sides[1, :d], sides[1, 2 * d] = moments.means[1] / self.units, -1.0
        rows = [
            sparse.hstack([eye, -eye, rest]),
            sparse.hstack([-eye, -eye, rest]),
            sparse.csc_matrix(sides),
        ]
        sizes = []
        for which in (0, 1):
            factor = moments.columns(which, np.arange(d)) / self.units
            block = np.zeros((len(factor) + 2, 2 * d + 2))
            block[0] = sides[which]
            block[1:-1, :d] = -kappa * factor
            block[-1, -1] = -kappa * np.sqrt(moments.ridges[which])
            rows.append(sparse.csc_matrix(block))
            sizes.append(len(block))
        # Without a ridge the last cone only keeps s from being free.
        head = sparse.csc_matrix(([-1.0], ([0], [2 * d + 1])), shape=(1, 2 * d + 2))
        body = sparse.hstack([-sparse.diags(1.0 / self.units), sparse.csc_matrix((d, d + 2))])
        rows += [head, body]
        sizes.append(d + 1)
        A = sparse.vstack(rows, format="csc")
        b = np.zeros(A.shape[0])
        b[2 * d : 2 * d + 2] = -1.0
        self.cost = np.concatenate([np.zeros(d), prices / self.units, np.zeros(2)])
        self.program = ConeProgram(self.cost, A, b, 2 * d + 2, sizes, CONE_TOL)

    def solve(self, slope: np.ndarray) -> Hyperplane:
        """The machine that a step ends with; weights of solver accuracy are zeros."""
        d = len(slope)
        cost = self.cost.copy()
        cost[:d] = -slope / self.units
        answer = self.program.solve(cost)
        if answer.status == "infeasible":
            raise InfeasibleError
        if answer.status != "solved":
            raise ConeFailure
        scaled = answer.x[:d].copy()
        scaled[np.abs(scaled) <= ZERO_WEIGHT_TOL * np.abs(scaled).max()] = 0.0
        weights, offset = scaled / self.units, float(answer.x[2 * d])
        accuracy = achieved_accuracy(self.moments, weights, offset)
        return Hyperplane(weights, offset, accuracy, self._tightness(answer, weights))

    def _tightness(self, answer: ConeSolution, weights: np.ndarray) -> np.ndarray:
        """The two multipliers of a feature's |w| add up to its price; used features take all."""
        d = len(weights)
        reduced = np.abs(answer.z[:d] - answer.z[d : 2 * d]) * self.units
        return np.where(weights != 0.0, 1.0, np.minimum(quotient(reduced, self.prices), 1.0))
