"""Which l2,1-loss problems on sparse data have too many features for dense columns, and how then.

A round of the working set takes the features whose correlation with the dual point is large enough,
as sparse columns, and takes primal-dual steps on them; all of X is read once per round, to certify
and to find more of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...design import in_double
from ..base import Callback, Event, Result, relative
from .chambolle_pock import ChambollePock
from .problem import DENSE_MAX_SAMPLES, RobustRegression, RobustSolution, lower_bound

# A Newton step costs n p^2 multiplications at the speed of BLAS, a primal-dual step four times
# the stored numbers and outputs at that of sparse products, ten times slower; there are a dozen of
# the ones and hundreds of the others. With few outputs there are more of these, not fewer.
NEWTON_VS_FIRST_ORDER_COST, MIN_OUTPUTS = 1000.0, 10
# Sparse columns cost next to nothing beside the factorisation of the equations of the features.
# Of 20,000 samples, Newton steps took 4 s for 535 features and 59 s for 2,400.
NEWTON_MAX_FEATURES = 2000
# Shares of alpha: features with larger correlations enter, zero rows with smaller ones leave.
ADD_THRESHOLD, DROP_THRESHOLD = 0.95, 0.8
# The first inner tolerance, and its factor from round to round once no feature violates its
# optimality condition by more than the last factor.
FIRST_TOL, TOL_DECAY, KKT_VIOLATION_LOOSE = 1e-2, 0.1, 1.02
# With such a share of the features X itself is used and no copy of columns.
WHOLE_MATRIX_SHARE = 0.7


def needs_first_order(problem: RobustRegression, size: int) -> bool:
    """Whether so many features are better taken as sparse columns, by primal-dual steps."""
    n_samples, n_outputs = problem.Y.shape
    if n_samples <= DENSE_MAX_SAMPLES or problem.design.is_remote:
        return False
    if problem.is_tall_and_sparse:
        return size > min(NEWTON_MAX_FEATURES, n_samples // 2)
    cost = problem.design.stored / n_samples * max(n_outputs, MIN_OUTPUTS)
    return float(size) ** 2 > NEWTON_VS_FIRST_ORDER_COST * cost


@dataclass(frozen=True)
class FirstOrderWorkingSet:
    """Rounds of primal-dual steps on sparse columns, each to a smaller inner tolerance.

    Parameters
    ----------
    tol : float
        Stop when the relative duality gap is at most this.
    max_iter : int
        Maximum number of iterations, of twenty steps each.
    """

    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Go on from the coefficients and the dual point of ``start``."""
        last = (problem.without_features() if start is None else start).solution
        alpha = problem.alpha
        eligible = problem.is_eligible
        inside = eligible & ((last.correlations > ADD_THRESHOLD * alpha) | last.W.any(axis=1))
        trace: list[float] = []
        n_iter, inner_tol = 0, max(FIRST_TOL, self.tol)
        while True:
            whole = inside.sum() > WHOLE_MATRIX_SHARE * len(inside) and bool(eligible.all())
            features = np.arange(len(inside)) if whole else np.flatnonzero(inside)
            design = problem.design if whole else problem.design.columns(features)
            inner = ChambollePock(inner_tol, self.max_iter - n_iter).solve(
                replace(problem, design=in_double(design), eligible=None),
                Result(replace(last, W=last.W[features]), np.inf, np.inf, 0, False),
            )
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            W, dual = problem.on(features).coefficients(inner.solution.W), inner.solution.dual
            correlations = problem.correlations(dual)
            last = RobustSolution(W, inner.solution.free, correlations, dual)
            violation = problem.kkt_violation(correlations)
            gap = relative(inner.objective - lower_bound(inner) / violation, inner.objective)
            event = Event(n_iter, inner.objective, gap, len(features))
            stop = callback is not None and callback(event)
            if gap <= self.tol or n_iter >= self.max_iter or stop or not inner.converged:
                feasible = replace(last, correlations=correlations / violation)
                return Result(feasible, inner.objective, gap, n_iter, gap <= self.tol, trace)
            if violation <= KKT_VIOLATION_LOOSE:
                inner_tol = max(TOL_DECAY * inner_tol, 0.5 * self.tol)
            leaving = (correlations < DROP_THRESHOLD * alpha) & ~W.any(axis=1)
            inside = eligible & ((inside & ~leaving) | (correlations > ADD_THRESHOLD * alpha))
