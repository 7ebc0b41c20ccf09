"""How a fit went: objective, optimality, iterations, and the warning if it did not converge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._checks import warn_user
from ..solvers.base import Result

# What solvers stop on, for warnings: convex ones, and the others.
GAP = "a relative duality gap of"
STATIONARITY = "a residual of the stationarity conditions of"


def keep_result(
    estimator: Any,
    results: Result[Any] | Sequence[Result[Any]],
    *,
    measure: str = "optimality",
    remedy: str = "raise max_iter or tol",
) -> None:
    """Say how a fit went, for one model or several: the only place that decides.

    Objectives of several models add up, and the worst of their optimalities counts. A fit
    that did not reach its tolerance is warned about with ``measure`` as its name; ``remedy`` says
    how to get further.
    """
    several = [results] if isinstance(results, Result) else list(results)
    estimator.objective_ = float(sum(one.objective for one in several))
    estimator.optimality_ = float(max(one.optimality for one in several))
    estimator.n_iter_ = max(1, *(int(one.n_iter) for one in several))
    estimator.history_ = _sum_traces([one.trace for one in several])
    estimator.converged_ = bool(all(one.converged for one in several))
    if not estimator.converged_:
        warn_convergence(estimator, measure, estimator.optimality_, remedy)


def warn_convergence(
    estimator: Any, measure: str, reached: float, remedy: str = "raise max_iter or tol"
) -> None:
    """Say how far an iterative fit got."""
    tol = getattr(estimator, "tol", None)
    wanted = "" if tol is None else f" instead of {tol:.3g}"
    warn_user(
        f"{type(estimator).__name__} stopped after {estimator.n_iter_} "
        f"iteration{'s' * (estimator.n_iter_ != 1)} with {measure} "
        f"{reached:.3g}{wanted}; {remedy}",
        ConvergenceWarning,
    )


def _sum_traces(traces: list[list[float]]) -> list[float]:
    """Sum over models; a model that is done keeps its last value."""
    traces = [list(map(float, trace)) for trace in traces if len(trace)]
    if len(traces) == 1:
        return traces[0]
    length = max(map(len, traces), default=0)
    padded = [trace + [trace[-1]] * (length - len(trace)) for trace in traces]
    return [float(total) for total in np.sum(padded, axis=0)] if padded else []
