"""The published augmented Lagrangian method for the exclusive l2,1 problem.

Splits W = Z; every iteration solves for Z row by row (the exclusive part), passes once over the
rows of W (the l2,1 part), moves the multipliers and makes the penalty parameter grow. Because the
parameter grows while only one pass is made over W, the method freezes before the optimum is
reached; it is here for comparison, and its duality gap is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...penalties import ExclusiveL21, require, row_norms
from ...solvers.base import Callback, Event, LeastSquares, Result, Rows, relative


class SplitIterate(NamedTuple):
    """The two copies of the coefficients, which agree in the end."""

    W: np.ndarray
    Z: np.ndarray

    @property
    def copy_distance(self) -> float:
        """How far the copies are apart."""
        return float(np.abs(self.Z - self.W).max(initial=0.0))


@dataclass(frozen=True)
class ExclusiveALM:
    """Augmented Lagrange multipliers for ||XW - Y||^2 + alpha ||W||_{2,1} + beta ||W||_{1,2}^2.

    Parameters
    ----------
    growth : float
        Factor on the penalty parameter.
    first : float or None
        Where the penalty parameter starts; None is 1 / ||X||_F.
    change, split : float
        Stop when the objective changes by at most ``change`` relative and W and Z differ by at
        most ``split`` in every entry.
    max_iter : int
        Maximum number of iterations.
    tol : float
        ``converged`` says whether the duality gap is at most ``tol`` times the objective; the
        method itself does not look at it.
    """

    growth: float = 1.1
    change: float = 1e-8
    split: float = 1e-5
    max_iter: int = 1000
    tol: float = 1e-6
    first: float | None = None

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Run from zero or a warm start; the callback sees a ``SplitIterate``."""
        from ._alm_kernels import residual_pass

        penalty = problem.penalty
        require(penalty, "row_strengths", "dual_bound", solver="ExclusiveALM")
        alpha, beta = penalty.row_strengths()
        exclusive = ExclusiveL21(0.0, beta)
        n_features = problem.design.shape[1]
        Y = problem.Y.astype(np.float64)
        X = problem.design.dense_columns(np.arange(n_features)).astype(np.float64, copy=False)
        norms = np.einsum("ij,ij->j", X, X)
        W = np.zeros((n_features, Y.shape[1]))
        if start is not None:
            W = start.solution.W.astype(np.float64)
        multipliers, row = np.zeros_like(W), np.empty(Y.shape[1])
        nu = np.float64(self.first or 1.0 / np.sqrt(max(norms.sum(), np.finfo(float).tiny)))
        residual = np.ascontiguousarray((Y - X @ W).T)

        def objective() -> float:
            return float(np.vdot(residual, residual)) + penalty.value(W)

        value = objective()
        trace: list[float] = []
        while len(trace) < self.max_iter:
            Z = exclusive.prox(W - multipliers / nu, 1.0 / nu)
            linear = nu * Z + multipliers
            residual_pass(X, norms, residual, W, linear, alpha, nu, row)
            multipliers += nu * (Z - W)
            nu *= self.growth
            previous, value = value, objective()
            trace.append(value)
            iterate = SplitIterate(W, Z)
            event = Event(len(trace), value, solution=iterate)
            if not np.isfinite(value) or (callback is not None and callback(event)):
                break
            if (
                abs(value - previous) <= self.change * previous
                and iterate.copy_distance <= self.split
            ):
                break
        # The residual that was updated along the way has drifted: certify with a fresh one.
        R = Y - X @ W
        G = 2.0 * (X.T @ R)
        value = float(np.vdot(R, R)) + penalty.value(W)
        optimality = relative(value - penalty.dual_bound(Y, R, G), value, problem.floor)
        rows = Rows(W.astype(problem.design.dtype, copy=False), row_norms(G))
        return Result(rows, value, optimality, len(trace), optimality <= self.tol, trace)
