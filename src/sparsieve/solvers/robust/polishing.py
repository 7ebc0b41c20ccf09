"""Exact zeros: interior points leave rows that are only small, which are made zero here."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._beside import here, some_of
from ...design import as_design
from ..base import Callback, Result, relative
from .interior_point import InteriorPoint
from .problem import RobustRegression, RobustSolution, lower_bound


@dataclass(frozen=True)
class RobustRefit:
    """The certified model on the eligible features, with exact zeros: the last word on a support.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of Newton steps.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Interior points, then polishing."""
        share = 0.3 if problem.alpha > 0 else 1.0
        solver = InteriorPoint(share * self.tol, self.max_iter)
        found = solver.solve(problem, start, callback)
        if problem.alpha > 0:
            found = polished(problem, found, bound=lower_bound(found), tol=self.tol)
        converged = found.optimality <= self.tol
        solution = replace(found.solution, correlations=here(found.solution.correlations))
        return replace(found, solution=solution, n_iter=max(found.n_iter, 1), converged=converged)


def polished(
    problem: RobustRegression, result: Result[RobustSolution], *, bound: float, tol: float
) -> Result[RobustSolution]:
    """Make zero rows exactly zero, and solve again without them if that is not enough.

    ``bound`` is a lower bound of the optimum. If leaving them out would cost more than ``tol``
    allows, the result comes back as it is.
    """
    zero = zero_rows(problem, result)
    if not zero.any():
        return result
    solution, rows = result.solution, result.solution.W[problem.features]
    allowed = max(relative(result.objective - bound, result.objective), tol)
    rows = np.where(zero[:, None], 0.0, rows)
    residual = problem.Y - problem.X @ rows - problem.free @ solution.free
    objective = problem.objective(rows, residual)
    if relative(objective - bound, objective) > allowed:
        X = problem.X
        left = as_design(X[:, ~zero]) if isinstance(X, np.ndarray) else X.X.columns(~zero)
        smaller = replace(problem, design=left, eligible=None)
        start = replace(result, solution=replace(solution, W=rows[~zero]))
        again = InteriorPoint(0.3 * tol).solve(smaller, start)
        objective = again.objective
        if relative(objective - bound, objective) > allowed:
            return result
        rows[~zero] = again.solution.W
        solution = replace(solution, free=again.solution.free)
    return replace(
        result,
        solution=replace(solution, W=problem.coefficients(rows)),
        objective=objective,
        optimality=relative(objective - bound, objective),
    )


def zero_rows(problem: RobustRegression, result: Result[RobustSolution]) -> np.ndarray:
    """Which eligible features have rows that are on their way to zero."""
    features, solution = problem.features, result.solution
    rows, correlations = solution.W[features], some_of(solution.correlations, features)
    return problem.vanishing(rows, correlations, result.objective)
