"""The published alternation for rescaled linear regression.

With scale factors theta on the simplex, min over theta of sum_j ||w_j||^2 / theta_j is
(sum_j ||w_j||)^2, reached at theta_j = ||w_j|| / sum. The alternation takes W and theta in turn:
W is ridge regression with one ridge alpha / theta_j per feature. Rows shrink towards zero without
reaching it, at a rate that gets slower and slower; the duality gap says how far it got.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ....penalties import SquaredL21, critical_strength, row_norms
from ....solvers.base import Callback, Event, LeastSquares, Result, Rows, relative

# An iteration that lowers the objective by a smaller share has come to rest.
MIN_DECREASE = 1e-12


@dataclass(frozen=True)
class PublishedAlternation:
    """Minimise ||XW - Y||^2 + alpha (sum_j ||w_j||)^2 by solving for W and theta in turn.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of alternations.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Start from equal scale factors, or from those of a warm start."""
        penalty = problem.require_penalty(SquaredL21, "PublishedAlternation")
        if critical_strength(problem.design.rmatmul(problem.Y)) == 0:
            return problem.nothing()
        ridge = _ridge_solver(problem, penalty.alpha)
        n_features = problem.design.shape[1]
        theta = np.full(n_features, 1.0 / n_features)
        if start is not None:
            theta = _scales(start.solution.W)
        trace: list[float] = []
        bound = 0.0
        while True:
            W = ridge(theta)
            rows, value, own_bound = problem.assess(W.astype(problem.design.dtype, copy=False))
            bound = max(bound, own_bound)
            optimality = relative(value - bound, value, problem.floor)
            resting = len(trace) > 0 and not trace[-1] - value > MIN_DECREASE * value
            trace.append(value)
            converged = optimality <= self.tol
            event = Event(len(trace), value, optimality, int(W.any(axis=1).sum()))
            stop = callback is not None and callback(event)
            if converged or resting or stop or len(trace) >= self.max_iter:
                return Result(rows, value, optimality, len(trace), converged, trace)
            theta = _scales(W)


def _scales(W: np.ndarray) -> np.ndarray:
    norms = row_norms(W.astype(np.float64, copy=False))
    return norms / norms.sum()


def _ridge_solver(problem: LeastSquares, alpha: float):
    """From theta to (X'X + alpha diag(1 / theta))^-1 X'Y, through the smaller side of X.

    With D = diag(theta) this is D X'(X D X' + alpha I)^-1 Y, and D^1/2 (D^1/2 X'X D^1/2 + alpha
    I)^-1 D^1/2 X'Y; neither minds factors of zero.
    """
    n_samples, n_features = problem.design.shape
    X = problem.design.dense_columns(np.arange(n_features)).astype(np.float64, copy=False)
    Y = problem.Y.astype(np.float64)
    if n_samples <= n_features:
        return lambda theta: (
            theta[:, None] * (X.T @ _solve_shifted_system((X * theta) @ X.T, alpha, Y))
        )
    gram, correlation = X.T @ X, X.T @ Y

    def ridge(theta: np.ndarray) -> np.ndarray:
        root = np.sqrt(theta)[:, None]
        return root * _solve_shifted_system(root * gram * root.T, alpha, root * correlation)

    return ridge


def _solve_shifted_system(system: np.ndarray, alpha: float, right: np.ndarray) -> np.ndarray:
    """(system + alpha I)^-1 right; NaN where the system has no Cholesky factor."""
    system[np.diag_indices_from(system)] += alpha
    try:
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return np.full_like(right, np.nan)
    return cho_solve(factor, right, check_finite=False)
