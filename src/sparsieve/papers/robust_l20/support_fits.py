"""Reweighted least squares on a support: a few steps, enough to compare supports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv, dpotri

from ...penalties import row_norms
from ...solvers.robust.problem import RobustRegression

# Reweighting steps per support at most; a fit that gains nothing more ends earlier.
MAX_ITER_FIT = 30


@dataclass(frozen=True)
class Support:
    """A set of features, and the objective that it reaches."""

    features: np.ndarray
    objective: float


@dataclass(frozen=True)
class Candidate(Support):
    """A support under comparison: its nearly optimal fit, and what it takes to go on from it."""

    columns: np.ndarray  # those of the features, then the free ones
    W: np.ndarray
    sizes: np.ndarray  # residual norms, floored
    multiplier: np.ndarray  # s_i r_i / ||r_i||
    variances: np.ndarray  # diagonal of the inverse of the weighted Gram matrix


class SupportFits:
    """Fits on supports of one problem."""

    problem: RobustRegression
    alpha: float

    def __init__(self, problem: RobustRegression):
        self.problem, self.alpha = problem, float(problem.alpha)

    # -- fits on a support ----------------------------------------------------------------

    def fit(
        self,
        features: np.ndarray,
        start: Candidate | None = None,
        *,
        steps: int = MAX_ITER_FIT,
        stop_above: float = np.inf,
    ) -> Candidate:
        """Reweighted least squares on a support, from the residuals and rows of another fit.

        Ends when a step gains next to nothing, or when the objective has no hope to come
        below ``stop_above``.
        """
        problem, alpha = self.problem, self.alpha
        columns = self._columns(features, start)
        n_columns = columns.shape[1]
        size = n_columns - problem.free.shape[1]
        norms, sizes = self._warm(features, columns[:, :size], start)
        best = np.inf
        for step in range(steps):
            half = np.ones(n_columns)
            ridge = np.full(n_columns, 1e-12)
            if alpha > 0:
                half[:size] = np.sqrt(norms / alpha)
                half[size:] = np.sqrt(problem.mean(sizes))  # so that no entry depends on units
                ridge[:size] = 1.0
            weight = problem.weights / sizes
            scaled = columns * half
            root = scaled * np.sqrt(weight)[:, None]
            matrix, right = root.T @ root, scaled.T @ (weight[:, None] * problem.Y)
            if alpha == 0:
                ridge *= max(float(np.trace(matrix)) / max(len(matrix), 1), 1e-300)
            matrix[np.diag_indices(len(matrix))] += np.maximum(
                ridge, 1e-13 * matrix.diagonal().max(initial=0.0)
            )
            factor, solved = _solve_definite(matrix, right)
            solved *= half[:, None]
            residual = columns @ solved
            np.subtract(problem.Y, residual, out=residual)
            lengths = row_norms(residual)
            norms_new = row_norms(solved[:size])
            objective = float(problem.weights @ lengths + alpha * norms_new.sum())
            gain = best - objective
            best = min(best, objective)
            sizes = np.maximum(lengths, 1e-10 * problem.mean(lengths))
            norms = np.maximum(norms_new, 1e-12 * norms_new.max(initial=0.0) + 1e-300)
            if step >= 2 and (gain <= 1e-5 * objective or objective - 40 * gain > stop_above):
                break
        multiplier = weight[:, None] * residual
        variances = np.diag(dpotri(factor, lower=True)[0]) * half**2 if len(half) else half
        return Candidate(
            features,
            objective,
            columns,
            solved[:size],
            sizes,
            multiplier,
            variances[:size],
        )

    def _columns(self, features: np.ndarray, start: Candidate | None) -> np.ndarray:
        """The columns of these features, then the free ones; those of ``start`` are not read."""
        if start is None:
            return np.hstack([self.problem.columns(features), self.problem.free])
        known = {int(j): place for place, j in enumerate(start.features)}
        places = [known[int(j)] for j in features if int(j) in known]
        fresh = np.array([j for j in features if int(j) not in known], dtype=np.int64)
        return np.hstack([start.columns[:, places], self.problem.columns(fresh), self.problem.free])

    def _warm(self, features: np.ndarray, columns: np.ndarray, start: Candidate | None):
        """Row norms and residual norms to weigh the first step with."""
        if start is None:
            lengths = row_norms(self.problem.Y)
            sizes = np.maximum(lengths, 1e-3 * self.problem.mean(lengths))
            return self.problem.usual_rows(columns), sizes
        # Samples met exactly must be free to move again.
        sizes = np.maximum(start.sizes, 1e-2 * self.problem.mean(start.sizes))
        norms = row_norms(start.W)
        known = dict(zip(start.features.tolist(), norms, strict=True))
        positive = [norm for norm in known.values() if norm > 0]
        if not positive:
            return self.problem.usual_rows(columns), sizes
        usual = float(np.mean(positive))
        norms = np.array([max(known.get(int(j), usual), 0.05 * usual) for j in features])
        return norms, sizes


def _solve_definite(matrix: np.ndarray, right: np.ndarray):
    """Cholesky factor and solution; a matrix that rounding left indefinite is lifted.

    LAPACK itself: on matrices this small SciPy's wrappers cost more than the solve.
    """
    if len(matrix) == 0:
        return matrix, right
    lift = 1e-14 * float(matrix.diagonal().max())
    while True:
        factor, solved, info = dposv(matrix, right, lower=True)
        if info == 0:
            return factor, solved
        lift *= 100.0
        matrix[np.diag_indices(len(matrix))] += lift
