"""Rescaled linear regression: the squared l2,1 norm through a root of one variable.

The optimality conditions of ||XW - Y||^2 + alpha t(W)^2 with t(W) = sum_j ||w_j|| are those of
the l2,1 problem of strength 2 alpha t(W). The norm t of the l2,1 solution falls as its strength
grows, so the strength that reproduces itself is the only root of an increasing function. It is
bracketed and found by secant steps, each l2,1 problem starting from the last; the duality gap of
the squared problem itself says when to stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ....penalties import L21, SquaredL21, critical_strength, row_norms
from ....solvers.base import Callback, Event, FewRows, LeastSquares, Result, Rows, relative
from ....solvers.paths.block_cd import BlockCD

# Strengths tried before the l2,1 problems are solved more sharply, and how often that is done.
MAX_ITER_ROOT, MAX_TIGHTENINGS = 25, 5
# Share of the wanted gap that the l2,1 problems may leave.
INNER_SHARE = 0.05


@dataclass(frozen=True)
class RescaledRegression:
    """Minimise ||XW - Y||^2 + alpha (sum_j ||w_j||)^2.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of coordinate descent sweeps for one l2,1 problem.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | Result[FewRows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Solve from a warm start."""
        penalty = problem.require_penalty(SquaredL21, "RescaledRegression")
        largest = critical_strength(2.0 * problem.design.rmatmul(problem.Y))
        if largest == 0:
            return problem.nothing()
        guess = None
        if start is not None:
            guess = 2.0 * penalty.alpha * float(row_norms(start.solution.W).sum())
        search = _RootSearch(penalty.alpha, largest, guess)
        trace: list[float] = []
        n_sweeps = 0
        best: Result[Rows] | None = None
        bound = 0.0
        inner_tol = INNER_SHARE * self.tol
        for _ in range(MAX_TIGHTENINGS):
            solver = BlockCD(tol=inner_tol, max_iter=self.max_iter)
            for inner in solver.path(replace(problem, penalty=L21(1.0)), search.strengths(), start):
                n_sweeps += inner.n_iter
                start, W = inner, inner.solution.W
                rows, value, own_bound = problem.assess(W)
                search.learn(float(row_norms(W).sum()))
                trace.append(value)
                bound = max(bound, own_bound)
                if best is None or value < best.objective:
                    best = Result(rows, value, np.inf, n_sweeps, False, trace)
                optimality = relative(best.objective - bound, best.objective, problem.floor)
                best = replace(
                    best, optimality=optimality, n_iter=n_sweeps, converged=optimality <= self.tol
                )
                stop = callback is not None and callback(Event(n_sweeps, value, optimality))
                done = best.converged or stop or not (inner.converged and np.isfinite(value))
                if done:
                    search.done = True
            assert best is not None  # a search has at least one strength
            if done:
                break
            # The root is as sharp as the l2,1 solutions allow: sharpen those.
            inner_tol *= 0.1
            search = _RootSearch(penalty.alpha, largest, search.strength)
        assert best is not None
        return best


class _RootSearch:
    """The root of s - 2 alpha t(s), which lies between 0 and the largest strength s."""

    def __init__(self, alpha: float, largest: float, guess: float | None):
        self.alpha = alpha
        self.low, self.high = 0.0, largest
        self.low_value: float | None = None
        self.high_value = largest  # nothing is left there: t = 0
        self.strength = guess if guess is not None and 0 < guess < largest else 0.3 * largest
        self.last = 0.0
        self.left = MAX_ITER_ROOT
        self.done = False

    def strengths(self) -> Iterator[float]:
        """Strengths to try, each chosen when the last has been learnt from."""
        while not self.done:
            yield self.strength

    def learn(self, t: float) -> None:
        """Move the bracket and choose the next strength."""
        value = self.strength - 2.0 * self.alpha * t
        self.left -= 1
        if value == 0 or self.left == 0 or not np.isfinite(value):
            self.done = True
            return
        tried = self.strength
        # Illinois: an end that stays twice counts half, so that the other one moves as well.
        if value > 0:
            if self.last > 0 and self.low_value is not None:
                self.low_value *= 0.5
            self.high, self.high_value = self.strength, value
        else:
            if self.last < 0:
                self.high_value *= 0.5
            self.low, self.low_value = self.strength, value
        self.last = value
        if self.low_value is None:
            # The fixed point map jumps below the root; halfway in logarithm is safer.
            self.strength = max(np.sqrt(self.strength * 2.0 * self.alpha * t), 0.01 * self.strength)
        else:
            step = self.high_value - self.low_value
            self.strength = (self.low * self.high_value - self.high * self.low_value) / step
        self.strength = float(self.strength)
        if abs(self.strength - tried) <= 1e-12 * tried:
            self.done = True
