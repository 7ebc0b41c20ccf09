"""The exclusive lasso with more features than samples: proximal points, solved in the dual.

min ||XW - Y||^2 + beta sum_j ||w_j||_1^2 keeps at least one entry of every feature, so there is no
small working set, and coordinate descent stalls when beta is small. Here every iteration solves

    min_W ||XW - Y||^2 + beta sum_j ||w_j||_1^2 + ||W - W_k||^2 / (2 sigma)

through its dual, a smooth concave function of the n_samples x n_outputs residual R alone:

    W(R) = prox(W_k + 2 sigma X'R),   gradient = 2 (Y - X W(R) - R).

The proximal map is piecewise linear, so Newton's method applies; its matrix I + 2 sigma X J X' has
the size of R. J keeps the nonzero entries of a row, less 2q/(1+2qm) s s' with q = sigma beta, m
their number and s their signs. The equations are solved by conjugate gradients, preconditioned by
a matrix per output or, while most entries are nonzero, a common one. sigma grows, which makes the
outer iteration converge superlinearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...design import DesignMatrix, in_double
from ...penalties import require, row_norms
from ...solvers.base import Callback, Event, LeastSquares, Result, Rows, relative
from ...solvers.engines.conjugate_gradients import conjugate_gradients
from .dual_preconditioner import CommonMatrix, OwnMatrix, products_for_factor

# sigma starts at this multiple of 1 / (2 ||X||^2), a gradient step; it grows as long as the
# subproblems take few Newton steps, and shrinks when one takes too many.
SIGMA_INIT = 10.0
# A proximal point may be found as roughly as this share of the way it moves.
PPA_INEXACTNESS = 0.5
# Newton steps per subproblem. Many subproblems of few steps cost less than few of many: far from
# its start a subproblem's Newton steps only find out which entries are nonzero.
MAX_NEWTON = 8
# The next subproblem starts from this multiple of the way to the last proximal point, unless that
# was found at once: then the proximal points converge fast by themselves.
OVER_RELAXATION = 1.6
CG_FORCING_TERM, CG_MAX_ITER = 0.1, 200
# While most entries are nonzero the outputs share a preconditioner; it takes about so many steps.
COMMON_CG_STEPS = 10


@dataclass(frozen=True)
class ProximalDualNewton:
    """Minimise ||XW - Y||^2 + beta sum_j ||w_j||_1^2 for any number of features.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of Newton steps.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Solve from a warm start."""
        # In single precision the last digits of the gap would be noise, and never small enough.
        penalty, design = problem.penalty, in_double(problem.design)
        require(penalty, "row_strengths", "prox", "dual_bound", solver="ProximalDualNewton")
        alpha, beta = penalty.row_strengths()
        if alpha != 0 or not beta > 0:
            raise ValueError(f"ProximalDualNewton is for alpha = 0 < beta, got ({alpha}, {beta})")
        if not np.isfinite(design.column_sq_norms()).all():
            raise ValueError("X has values too large to be squared; rescale its columns")
        Y = problem.Y.astype(np.float64)
        W = np.zeros((design.shape[1], Y.shape[1]))
        if start is not None:
            W = start.solution.W.astype(np.float64)
        dual = R = Y - design.matmul(W)
        correlations = design.rmatmul(dual)
        value = float(np.vdot(R, R)) + penalty.value(W)
        sigma = SIGMA_INIT / (2.0 * max(design.spectral_norm() ** 2, np.finfo(float).tiny))
        trace: list[float] = []
        n_steps = 0
        centre = W
        own, common = [OwnMatrix(design) for _ in range(Y.shape[1])], CommonMatrix(design)
        while True:
            subproblem = _Subproblem(design, Y, penalty, beta, centre, sigma, own, common)
            point, steps = _maximise(subproblem, dual, correlations, self.max_iter - n_steps)
            n_steps += max(1, steps)
            W, R, dual = point.W, Y - point.fitted, point.R
            value = float(np.vdot(R, R)) + penalty.value(W)
            # The dual variable of the subproblem is a better dual point than the residual,
            # which differs from it by what the subproblem left unsolved.
            correlations = design.rmatmul(dual)
            bound = penalty.dual_bound(Y, dual, 2.0 * correlations)
            optimality = relative(value - bound, value, problem.floor)
            trace.append(value)
            converged = optimality <= self.tol
            event = Event(n_steps, value, optimality, int(W.any(axis=1).sum()))
            stop = callback is not None and callback(event)
            if converged or stop or n_steps >= self.max_iter or not np.isfinite(optimality):
                break
            centre = centre + OVER_RELAXATION * (W - centre) if steps > 1 else W
            sigma *= 4.0 if steps <= 1 else 1.6 if steps <= 3 else 0.7
        rows = Rows(W.astype(problem.design.dtype), 2.0 * row_norms(correlations))
        return Result(rows, value, optimality, n_steps, converged, trace)


@dataclass
class _Point:
    """The subproblem at some R."""

    R: np.ndarray
    correlations: np.ndarray  # X'R
    W: np.ndarray
    value: float  # minus the dual objective
    fitted: np.ndarray | None = None  # XW, where the point was taken

    def residual(self, Y):
        """Half the gradient of the dual objective."""
        return Y - self.fitted - self.R


@dataclass
class _Subproblem:
    design: DesignMatrix
    Y: np.ndarray
    penalty: Any
    beta: float
    centre: np.ndarray
    sigma: float
    own: list[OwnMatrix]
    common: CommonMatrix
    factor: np.ndarray | None = None  # of the common matrix

    def evaluate(self, R, correlations) -> _Point:
        V = self.centre + 2.0 * self.sigma * correlations
        W = self.penalty.prox(V, self.sigma)
        apart = W - V
        envelope = float(np.vdot(apart, apart)) - float(np.vdot(V, V))
        envelope += float(np.vdot(self.centre, self.centre))
        value = float(np.vdot(R, R)) - 2.0 * float(np.vdot(R, self.Y))
        value -= self.penalty.value(W) + envelope / (2.0 * self.sigma)
        return _Point(R, correlations, W, value)

    def newton(self, point: _Point):
        """Solve (I + 2 sigma X J X') step = residual, roughly."""
        signs = np.sign(point.W)
        dense = self._is_dense(np.count_nonzero(signs, axis=0))
        apply, precondition = self._mean_preconditioner(signs) if dense else self._per_output(signs)
        return conjugate_gradients(
            apply,
            point.residual(self.Y),
            precondition,
            tol=CG_FORCING_TERM,
            max_steps=CG_MAX_ITER,
            on_top=not dense,
        )

    def _is_dense(self, used: np.ndarray) -> bool:
        """Whether a matrix per output costs more than a common one and the steps it needs."""
        n, d = self.design.shape
        own = products_for_factor(n, used).sum()
        return bool(own > (d + n / 3.0) * n**2 + COMMON_CG_STEPS * 4.0 * n * d * len(used))

    def _strengths(self, counts: np.ndarray) -> np.ndarray:
        """The multiple of s s' that 2 sigma J lacks in a row with so many entries."""
        q = self.sigma * self.beta
        return 4.0 * self.sigma * q / (1.0 + 2.0 * q * counts)

    def _mean_preconditioner(self, signs):
        """Products with X, preconditioned by the mean of the outputs' matrices."""
        strengths = self._strengths(np.count_nonzero(signs, axis=1))
        if self.factor is None:  # good enough for all Newton steps of the subproblem
            weights = (2.0 * self.sigma - strengths) * np.abs(signs).mean(axis=1)
            self.factor = self.common.factor(weights)

        def apply(V):
            T = signs * self.design.rmatmul(V)
            T = 2.0 * self.sigma * T - strengths[:, None] * T.sum(axis=1, keepdims=True)
            return V + self.design.matmul(signs * T)

        return apply, lambda V: lapack.dpotrs(self.factor, V, lower=1)[0]

    def _per_output(self, signs):
        """What couples the outputs, and a matrix for every output without it.

        That matrix treats all features of several outputs as if they had two; only such features
        need their columns in the coupling, and they are few where beta is large.
        """
        counts = np.count_nonzero(signs, axis=1)
        weights = 2.0 * self.sigma - self._strengths(np.array([1, 2]))
        solvers = [
            own.solver(
                np.flatnonzero((column != 0) & (counts == 1)),
                np.flatnonzero((column != 0) & (counts > 1)),
                weights,
            )
            for own, column in zip(self.own, signs.T, strict=True)
        ]
        tied = np.flatnonzero(counts > 1)
        design, signs = self.design.columns(tied), signs[tied]
        strengths = self._strengths(counts[tied])[:, None]
        rest = 2.0 * self.sigma - weights[1]

        def couple(V):
            T = signs * design.rmatmul(V)
            T = rest * T - strengths * T.sum(axis=1, keepdims=True)
            return design.matmul(signs * T)

        def precondition(V):
            return np.stack([solve(v) for solve, v in zip(solvers, V.T, strict=True)], axis=1)

        return couple, precondition


def _maximise(subproblem: _Subproblem, R, correlations, max_steps: int):
    """Newton's method with a line search on the dual of a subproblem."""
    design = subproblem.design
    point = subproblem.evaluate(R, correlations)
    for step in range(min(MAX_NEWTON, max_steps) + 1):
        point.fitted = design.matmul(point.W)
        if step == min(MAX_NEWTON, max_steps):
            break
        residual = point.residual(subproblem.Y)
        size = float(np.vdot(residual, residual))
        moved = point.W - subproblem.centre
        way = PPA_INEXACTNESS**2 * float(np.vdot(moved, moved)) / (2.0 * subproblem.sigma)
        if size <= max(way, 1e-20 * float(np.vdot(R, R))):
            break
        direction = subproblem.newton(point)
        slope = -2.0 * float(np.vdot(residual, direction))
        slack = 1e-14 * abs(point.value)
        change = design.rmatmul(direction)
        length = 1.0
        while True:
            trial = subproblem.evaluate(
                point.R + length * direction, point.correlations + length * change
            )
            if trial.value <= point.value + 1e-4 * length * slope + slack or length < 1e-3:
                break
            length *= 0.5
        point = trial
    return point, step
