"""The exclusive lasso with more features than samples: proximal points, solved in the dual.

min ||XW - Y||^2 + beta sum_j ||w_j||_1^2 keeps at least one entry of every feature, so there is no
small working set, and coordinate descent stalls when beta is small. Here every iteration solves

    min_W ||XW - Y||^2 + beta sum_j ||w_j||_1^2 + ||W - W_k||^2 / (2 sigma)

through its dual, a smooth concave function of the n_samples x n_outputs residual R alone:

    W(R) = prox(W_k + 2 sigma X'R),   gradient = 2 (Y - X W(R) - R).

The proximal map is piecewise linear, so Newton's method applies; its matrix I + 2 sigma X J X' has
the size of R. J keeps the nonzero entries of a row, less 2q/(1+2qm) s s' with q = sigma beta, m
their number and s their signs. The equations are solved by conjugate gradients, preconditioned by
a Cholesky factor per output (of its samples or of its features, whichever are fewer) or, while
most entries are nonzero, a common one. sigma grows, which makes the outer iteration converge
superlinearly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ...design import DesignMatrix, in_double
from ...penalties import require, row_norms
from ..base import Callback, Event, Result, relative
from ..engines.conjugate_gradients import conjugate_gradients
from .problem import Problem, Rows

# sigma starts at this multiple of 1 / (2 ||X||^2), a gradient step; it grows as long as the
# subproblems take few Newton steps, and shrinks when one takes too many.
FIRST_STEP = 10.0
# A proximal point may be found as roughly as this share of the way it moves.
LOOSENESS = 0.5
# Newton steps per subproblem. Many subproblems of few steps cost less than few of many: far from
# its start a subproblem's Newton steps only find out which entries are nonzero.
LAST = 8
# The next subproblem starts from this multiple of the way to the last proximal point, unless that
# was found at once: then the proximal points converge fast by themselves.
BEYOND = 1.6
FORCING, INNER_STEPS = 0.1, 200
# An output that uses fewer features than this share of the samples has a matrix of their number.
FEATURES_SIDE = 0.5
# While most entries are nonzero the outputs share a preconditioner; it takes about so many steps.
SHARED_STEPS = 10
BLOCK = 4096  # columns as dense numbers at a time


@dataclass(frozen=True)
class ProximalDualNewton:
    """Minimise ||XW - Y||^2 + beta sum_j ||w_j||_1^2 for any number of features.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of Newton steps.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    def solve(
        self, problem: Problem, W0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Result[Rows]:
        """Solve from a warm start."""
        # In single precision the last digits of the gap would be noise, and never small enough.
        penalty, design = problem.penalty, in_double(problem.design)
        require(penalty, "row_strengths", "prox", "dual_bound", solver="ProximalDualNewton")
        alpha, beta = penalty.row_strengths()
        if alpha != 0 or not beta > 0:
            raise ValueError(f"ProximalDualNewton is for alpha = 0 < beta, got ({alpha}, {beta})")
        if not np.isfinite(design.column_sq_norms()).all():
            raise ValueError("X is too large for its squares; rescale its columns")
        Y = problem.Y.astype(np.float64)
        W = np.zeros((design.shape[1], Y.shape[1])) if W0 is None else W0.astype(np.float64)
        dual = R = Y - design.matmul(W)
        value = float(np.vdot(R, R)) + penalty.value(W)
        sigma = FIRST_STEP / (2.0 * max(design.spectral_norm(rng=0) ** 2, np.finfo(float).tiny))
        trace: list[float] = []
        n_steps = 0
        centre = W
        while True:
            subproblem = _Subproblem(design, Y, penalty, beta, centre, sigma)
            point, steps = _maximise(subproblem, dual, self.max_iter - n_steps)
            n_steps += max(1, steps)
            W, R, dual = point.W, Y - point.fitted, point.R
            value = float(np.vdot(R, R)) + penalty.value(W)
            # The dual variable of the subproblem is a better dual point than the residual,
            # which differs from it by what the subproblem left unsolved.
            G = 2.0 * design.rmatmul(point.R)
            optimality = relative(value - penalty.dual_bound(Y, point.R, G), value, problem.floor)
            trace.append(value)
            converged = optimality <= self.tol
            event = Event(n_steps, value, optimality, int(W.any(axis=1).sum()))
            stop = callback is not None and callback(event)
            if converged or stop or n_steps >= self.max_iter or not np.isfinite(optimality):
                break
            centre = centre + BEYOND * (W - centre) if steps > 1 else W
            sigma *= 4.0 if steps <= 1 else 1.6 if steps <= 3 else 0.7
        rows = Rows(W.astype(problem.design.dtype), row_norms(G))
        return Result(rows, value, optimality, n_steps, converged, trace)


@dataclass
class _Point:
    """The subproblem at some R."""

    R: np.ndarray
    W: np.ndarray
    fitted: np.ndarray
    value: float  # minus the dual objective

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
    matrices: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    common: _OnSamples | None = None

    def at(self, R) -> _Point:
        V = self.centre + 2.0 * self.sigma * self.design.rmatmul(R)
        W = self.penalty.prox(V, self.sigma)
        apart = W - V
        envelope = float(np.vdot(apart, apart)) - float(np.vdot(V, V))
        envelope += float(np.vdot(self.centre, self.centre))
        value = float(np.vdot(R, R)) - 2.0 * float(np.vdot(R, self.Y))
        value -= self.penalty.value(W) + envelope / (2.0 * self.sigma)
        return _Point(R, W, self.design.matmul(W), value)

    def newton(self, point: _Point):
        """Solve (I + 2 sigma X J X') step = residual."""
        signs = np.sign(point.W)
        q = self.sigma * self.beta
        counts = np.count_nonzero(signs, axis=1)
        share = 2.0 * q / (1.0 + 2.0 * q * counts)
        weights = 2.0 * self.sigma * (1.0 - share)
        if self._crowded(np.count_nonzero(signs, axis=0)):
            apply, precondition = self._shared(signs, weights, share)
        else:
            apply, precondition = self._per_output(signs, weights, counts, share)
        return conjugate_gradients(
            apply, point.residual(self.Y), precondition, tol=FORCING, max_steps=INNER_STEPS
        )

    def _crowded(self, used: np.ndarray) -> bool:
        """Whether a matrix per output costs more than a common one and the steps it needs."""
        n, d = self.design.shape
        few = used < FEATURES_SIDE * n
        own = np.where(few, (n + used / 3.0) * used**2, (used + n / 3.0) * n**2).sum()
        return bool(own > (d + n / 3.0) * n**2 + SHARED_STEPS * 4.0 * n * d * len(used))

    def _shared(self, signs, weights, share):
        """Products with X, preconditioned by the mean of the outputs' matrices."""
        if self.common is None:  # good enough for all Newton steps of the subproblem
            self.common = _OnSamples(self._matrix(weights * np.abs(signs).mean(axis=1)))
        strengths = 2.0 * self.sigma * share[:, None]

        def apply(V):
            T = signs * self.design.rmatmul(V)
            T = signs * (2.0 * self.sigma * T - strengths * T.sum(axis=1, keepdims=True))
            return V + self.design.matmul(T)

        return apply, self.common.solve

    def _per_output(self, signs, weights, counts, share):
        """A matrix for every output, and what couples them."""
        own = [self._output(k, weights * np.abs(column)) for k, column in enumerate(signs.T)]
        coupling = _Coupling(self.design, signs, counts, 2.0 * self.sigma * share)

        def apply(V):
            columns = [each.apply(v) for each, v in zip(own, V.T, strict=True)]
            return coupling.subtract_from(np.stack(columns, axis=1), V)

        def precondition(V):
            return np.stack([each.solve(v) for each, v in zip(own, V.T, strict=True)], axis=1)

        return apply, precondition

    def _output(self, k: int, weights: np.ndarray):
        """I + X diag(weights) X' of an output, from the smaller side."""
        used = np.flatnonzero(weights)
        if len(used) < FEATURES_SIDE * self.design.shape[0]:
            return _OnFeatures(self.design.dense_columns(used) * np.sqrt(weights[used]))
        # From one Newton step to the next few features change.
        known = self.matrices.get(k)
        if known is None or np.count_nonzero(weights != known[0]) > 0.4 * len(used):
            matrix = self._matrix(weights)
        else:
            matrix = known[1] + self._matrix(weights - known[0])
        self.matrices[k] = weights, matrix
        return _OnSamples(matrix)

    def _matrix(self, weights: np.ndarray) -> np.ndarray:
        """X diag(weights) X'."""
        n = self.design.shape[0]
        matrix = np.zeros((n, n))
        used = np.flatnonzero(weights)
        for first in range(0, len(used), BLOCK):
            block = used[first : first + BLOCK]
            columns = self.design.dense_columns(block)
            if (weights[block] > 0).all():
                columns = columns * np.sqrt(weights[block])
                matrix += columns @ columns.T
            else:
                matrix += (columns * weights[block]) @ columns.T
        return matrix


class _OnFeatures:
    """I + U U' and its inverse, by the matrix I + U'U of an output with few features."""

    def __init__(self, columns: np.ndarray):
        self.columns = columns
        matrix = columns.T @ columns
        matrix[np.diag_indices_from(matrix)] += 1.0
        self.factor = lapack.dpotrf(matrix, lower=1, overwrite_a=1)[0]

    def apply(self, v: np.ndarray) -> np.ndarray:
        return v + self.columns @ (self.columns.T @ v)

    def solve(self, v: np.ndarray) -> np.ndarray:
        if not self.columns.shape[1]:
            return v
        return v - self.columns @ lapack.dpotrs(self.factor, self.columns.T @ v, lower=1)[0]


class _OnSamples:
    """I + matrix, and its inverse, for vectors or several columns."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix
        shifted = matrix.copy()
        shifted[np.diag_indices_from(shifted)] += 1.0
        self.factor = lapack.dpotrf(shifted, lower=1, overwrite_a=1)[0]

    def apply(self, v: np.ndarray) -> np.ndarray:
        return v + self.matrix @ v

    def solve(self, v: np.ndarray) -> np.ndarray:
        return lapack.dpotrs(self.factor, v, lower=1)[0]


class _Coupling:
    """What features that several outputs use add between these outputs.

    Only such features need their columns here: they are few where beta is large, and what a
    feature adds within an output is part of that output's own matrix.
    """

    def __init__(self, design: DesignMatrix, signs, counts, strengths):
        shared = np.flatnonzero(counts > 1)
        self.design = design.columns(shared)
        self.signs = signs[shared]
        self.strengths = strengths[shared, None]

    def subtract_from(self, out, V):
        T = self.signs * self.design.rmatmul(V)
        others = T.sum(axis=1, keepdims=True) - T
        out -= self.design.matmul(self.signs * (self.strengths * others))
        return out


def _maximise(subproblem: _Subproblem, R, max_steps: int):
    """Newton's method with a line search on the dual of a subproblem."""
    point = subproblem.at(R)
    for step in range(min(LAST, max_steps)):
        residual = point.residual(subproblem.Y)
        size = float(np.vdot(residual, residual))
        moved = point.W - subproblem.centre
        way = LOOSENESS**2 * float(np.vdot(moved, moved)) / (2.0 * subproblem.sigma)
        if size <= max(way, 1e-20 * float(np.vdot(R, R))):
            return point, step
        direction = subproblem.newton(point)
        slope = -2.0 * float(np.vdot(residual, direction))
        blur = 1e-14 * abs(point.value)
        length = 1.0
        while True:
            trial = subproblem.at(point.R + length * direction)
            if trial.value <= point.value + 1e-4 * length * slope + blur or length < 1e-3:
                break
            length *= 0.5
        point = trial
    return point, min(LAST, max_steps)
