"""A working set around interior points, and exact zeros once it has ended.

A working set for sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| over all features.

The interior-point method works on the columns of the working set, in double precision whatever the
design; the design itself is read once per round, to certify and to find features that violate their
optimality condition ||x_j' M|| <= alpha. Where these are too many for dense columns of sparse data,
primal-dual steps on sparse columns take over.

Exact zeros: interior points leave rows that are only small, which are made zero here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._beside import largest, mask_indices, read_entries, rows_in_use, to_numpy
from ...design import as_design, leading
from ..base import Callback, Event, Result, relative
from .first_order import FirstOrderWorkingSet, needs_first_order
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
            found = polish(problem, found, bound=lower_bound(found), tol=self.tol)
        converged = found.optimality <= self.tol
        solution = replace(found.solution, correlations=to_numpy(found.solution.correlations))
        return replace(found, solution=solution, n_iter=max(found.n_iter, 1), converged=converged)


def polish(
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
    rows, correlations = solution.W[features], read_entries(solution.correlations, features)
    return problem.vanishing(rows, correlations, result.objective)


# Inner tolerance as long as a feature outside violates its optimality condition by more than this
# factor, until a round has been solved closely: then few are missing, and a loose round would only
# be one more.
INNER_TOL_LOOSE, KKT_VIOLATION_LOOSE = 1e-2, 1.1
# Share of alpha: features with larger correlations enter along with those that violate theirs, and
# zero rows with smaller ones leave. The second is for many samples, where every feature costs.
ADD_THRESHOLD, ADD_THRESHOLD_TALL, TALL_SAMPLES = 0.9, 0.95, 400
# Features in the first working set: those that nearly violate their condition without any other,
# within these limits; every column of a remote X has to be brought here.
INITIAL_SET_MIN, INITIAL_SET_MAX, INITIAL_SET_REMOTE = 20, 200, 32
# When there are no more eligible features than this many times the limit, all begin inside.
ALL_FEATURES_RATIO = 1.5
# The largest number of features that enter in one round, unless more are inside already.
ADD_MAX, ADD_MAX_REMOTE = 100, 32
# Rounds in which features may leave; later they might only come back.
MAX_PRUNING_ROUNDS = 3
# When such a share of the eligible features would be inside, all are.
ADD_ALL_SHARE = 0.9


@dataclass(frozen=True)
class RobustWorkingSet:
    """Solve to a relative duality gap over all eligible features; alpha must be positive.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of interior-point iterations; twenty primal-dual steps count as one.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Begin with the features of ``start``; the callback is called after every round."""
        alpha, n_open = problem.alpha, int(np.count_nonzero(problem.is_eligible))
        remote, tall = problem.design.is_remote, len(problem.Y) > TALL_SAMPLES
        most = INITIAL_SET_REMOTE if remote else INITIAL_SET_MAX
        last = start
        if start is None and (
            n_open > ALL_FEATURES_RATIO * most or needs_first_order(problem, n_open)
        ):
            last = problem.without_features()
        inside = problem.is_eligible.copy()
        if last is not None:
            correlations = problem.among_eligible(last.solution.correlations)
            if needs_first_order(problem, int((correlations > alpha).sum())):
                return FirstOrderWorkingSet(self.tol, self.max_iter).solve(problem, last, callback)
            used = rows_in_use(last.solution.W) if start is not None else np.empty(0, np.int64)
            used = used[problem.is_eligible[used]]
            inside[:] = False
            inside[_first_features(problem, used, correlations, min(most, n_open))] = True
        threshold = (ADD_THRESHOLD_TALL if tall else ADD_THRESHOLD) * alpha
        trace: list[float] = []
        n_iter, n_rounds, violation, loose = 0, 0, np.inf, True
        while True:
            n_rounds += 1
            size = int(np.count_nonzero(inside))
            loose = loose and size < n_open and violation > KKT_VIOLATION_LOOSE
            solver = InteriorPoint(
                max(INNER_TOL_LOOSE, self.tol) if loose else 0.3 * self.tol,
                max(self.max_iter - n_iter, 1),
                zero_tol=0.9 * self.tol if tall and not loose else None,
            )
            part = replace(problem, eligible=inside)
            inner = solver.solve(part, last)
            correlations = problem.among_eligible(inner.solution.correlations)
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            violation = max(1.0, largest(correlations) / alpha)
            bound = lower_bound(inner) / violation
            gap = relative(inner.objective - bound, inner.objective)
            event = Event(n_iter, inner.objective, gap, size)
            stop = callback is not None and callback(event)
            # Few of very many features are above the threshold: only they are looked at.
            entering = mask_indices(correlations > threshold)
            entering = entering[~inside[entering]]
            strengths = read_entries(correlations, entering)
            exhausted = not loose and not (strengths > alpha).any()
            if gap <= self.tol or exhausted or n_iter >= self.max_iter or stop:
                break
            if needs_first_order(problem, size + len(entering)):
                first_order = FirstOrderWorkingSet(self.tol, max(self.max_iter - n_iter, 1))
                rest = first_order.solve(problem, inner, callback)
                return replace(rest, n_iter=n_iter + rest.n_iter, trace=trace + rest.trace)
            most = max(ADD_MAX_REMOTE if remote else ADD_MAX, size)
            if len(entering) > most:
                entering = entering[np.argpartition(-strengths, most - 1)[:most]]
            inside = inside.copy()
            if size + len(entering) > ADD_ALL_SHARE * n_open and not remote:
                entering = problem.features
            elif loose and n_rounds <= MAX_PRUNING_ROUNDS:
                leaving = part.features[zero_rows(part, inner)]
                inside[leaving[read_entries(correlations, leaving) <= threshold]] = False
            inside[entering] = True
            last = inner
        reached = to_numpy(inner.solution.correlations) / violation
        found = polish(part, inner, bound=bound, tol=self.tol)
        return replace(
            found,
            solution=replace(found.solution, correlations=reached),
            optimality=relative(found.objective - bound, found.objective),
            n_iter=max(n_iter, 1),
            converged=relative(found.objective - bound, found.objective) <= self.tol,
            trace=trace,
        )


def _first_features(
    problem: RobustRegression, used: np.ndarray, correlations: Any, most: int
) -> np.ndarray:
    """The features in use, or those of the largest correlations."""
    if len(used) and not needs_first_order(problem, len(used)):
        return used
    n_close = int((correlations > ADD_THRESHOLD * problem.alpha).sum())
    return leading(correlations, min(max(n_close, INITIAL_SET_MIN), most))
