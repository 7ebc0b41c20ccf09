"""The published method as the paper runs it: strengths as shares, and one limit after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...design.base import feature_blocks
from ...penalties import row_norms
from ...penalties.concave import largest
from ...solvers.base import Result
from ...solvers.robust.problem import RobustRegression, RobustSolution
from ...solvers.settings import NmAPG
from .published import NonmonotoneAPG, onto_balls

LIMITS = 50  # the paper's figures run over K = 1, 2, ..., 50


def nmapg(settings: NmAPG, max_iter: int | None = None) -> NonmonotoneAPG:
    """The solver with these settings, which stops as the paper says: by the step alone."""
    return NonmonotoneAPG(
        mu=None if settings.mu is None else float(settings.mu),
        mu_start=float(settings.mu_0),
        mu_decay=float(settings.sigma),
        accuracy=float(settings.epsilon),
        stage_iter=int(settings.n_stage),
        max_iter=settings.max_iter if max_iter is None else max_iter,
        tol=0.0,
        step_tol=float(settings.stop),
        step_constant=settings.step_constant,
        eta=float(settings.eta),
    )


def over_limits(
    solver: NonmonotoneAPG,
    problem: RobustRegression,
    limits: Sequence[int],
    *,
    warm_start: bool = True,
) -> Iterator[tuple[int, Result[RobustSolution]]]:
    """Every limit K in order, each from the solution for the one before."""
    last: Result[RobustSolution] | None = None
    for k in limits:
        last = solver.solve(replace(problem, k=k), last if warm_start else None)
        yield k, last


def limit_path(settings: NmAPG, k: int) -> list[int]:
    """The limits that are solved on the way to this one, which is the last."""
    on_the_way = range(1, LIMITS + 1) if settings.limits is None else settings.limits
    return [*sorted({int(limit) for limit in on_the_way if limit < k}), k]


def exact_rho(problem: RobustRegression) -> float:
    """max_j sum_i s_i |x_ij| - alpha: from here on the penalty enforces the limit exactly."""
    blocks = (block for _, block in feature_blocks(problem.design))
    sums = [float((problem.weights @ np.abs(block)).max()) for block in blocks]
    return max(*sums, problem.alpha) - problem.alpha


def printed_rho_max(problem: RobustRegression) -> float:
    """M max |x_ij| - alpha, the bound of Theorem 3.1; the weights of m samples add up to m."""
    largest_entry = max(float(np.abs(b).max()) for _, b in feature_blocks(problem.design))
    return max(problem.total_weight * largest_entry - problem.alpha, 0.0)


def chosen_rho(problem: RobustRegression, rho: float | str | None, share: float = 1.0) -> float:
    """The strength that is meant: a number, the exact value, or a share of the printed bound."""
    if rho is None:
        return share * printed_rho_max(problem)
    return exact_rho(problem) if isinstance(rho, str) else float(rho)


def is_first_step(problem: RobustRegression, mu: float, features: np.ndarray) -> bool:
    """Whether these are the features of the first step from zero, and no later one changes them.

    With a strength above the gradient at zero a row that is zero stays zero: the method is then
    a filter by correlation with the target.
    """
    slopes = problem.weights[:, None] * onto_balls(-problem.Y.astype(np.float64), mu)
    norms = row_norms(np.asarray(problem.design.rmatmul(slopes), dtype=np.float64))
    if not 1 < len(features) < len(norms) or problem.rho <= norms.max(initial=0.0):
        return False
    return set(largest(norms, len(features)).tolist()) == set(features.tolist())
