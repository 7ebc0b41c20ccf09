"""The l2,1-loss model on a given support, solved to a certified duality gap."""

from __future__ import annotations

import numpy as np

from ..base import Result
from .interior_point import RowNormProblem, minimise_row_norms, settle, unpenalised_basis
from .problem import RobustData, RobustSolution


def exact_fit(
    data: RobustData, features: np.ndarray, alpha: float, *, tol: float = 1e-6, max_iter: int = 200
) -> Result[RobustSolution]:
    """Minimise sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| on features; alpha >= 0."""
    n_samples, n_features = data.design.shape
    if alpha > 0:
        problem = data.restricted(features, alpha)
        found = minimise_row_norms(problem, tol=0.3 * tol, max_iter=max_iter)
        found = settle(problem, found, bound=found.solution.bound, tol=tol)
        rows = found.solution.W
        free = data.free_coefficients(problem.free @ found.solution.B)
    else:
        columns = np.hstack([data.columns(features), data.free])
        basis = unpenalised_basis(columns)
        nothing = np.empty((n_samples, 0))
        problem = RowNormProblem(nothing, data.Y, np.empty(0), data.weights, basis)
        found = minimise_row_norms(problem, tol=tol, max_iter=max_iter)
        fitted = np.linalg.lstsq(columns, basis @ found.solution.B, rcond=None)[0]
        rows, free = fitted[: len(features)], fitted[len(features) :]
    W = np.zeros((n_features, data.Y.shape[1]))
    W[features] = rows
    return Result(
        RobustSolution(W, free, data.pulls(found.solution.dual)),
        found.objective,
        found.optimality,
        max(found.n_iter, 1),
        found.optimality <= tol,
        found.trace,
    )
