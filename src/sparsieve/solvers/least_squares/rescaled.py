"""Rescaled linear regression: the squared l2,1 norm through a root of one variable.

The optimality conditions of ||XW - Y||^2 + gamma t(W)^2 with t(W) = sum_j ||w_j|| are those of
the l2,1 problem of strength alpha = 2 gamma t(W). The norm t of the l2,1 solution falls as alpha
grows, so the strength that reproduces itself is the only root of an increasing function. It is
bracketed and found by secant steps, each l2,1 problem starting from the last; the duality gap of
the squared problem itself says when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...losses import SquaredLoss
from ...penalties import L21, SquaredL21, row_norms
from .block_cd import BlockCD
from .problem import LegacyCallback as Callback
from .problem import LegacyResult as Result
from .problem import Problem

# Strengths tried before the l2,1 problems are solved more sharply, and how often that is done.
ROOT_STEPS, SHARPENINGS = 25, 5
# Share of the wanted gap that the l2,1 problems may leave.
INNER_SHARE = 0.05


@dataclass(frozen=True)
class RescaledRegression:
    """Minimise ||XW - Y||^2 + gamma (sum_j ||w_j||)^2.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of coordinate descent sweeps for one l2,1 problem.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    def solve(
        self,
        problem: Problem,
        W0: np.ndarray | None = None,
        callback: Callback | None = None,
        alpha: float | None = None,
    ) -> Result:
        """Solve from a warm start; ``alpha`` is a guess of the strength that belongs to it."""
        penalty = problem.penalty
        if not isinstance(penalty, SquaredL21):
            raise TypeError(f"RescaledRegression needs SquaredL21, got {type(penalty).__name__}")
        Y = problem.Y.astype(np.float64)
        power = float(np.vdot(Y, Y))
        correlation = 2.0 * problem.design.rmatmul(problem.Y)
        largest = L21(1.0).critical_strength(correlation)
        if largest == 0:
            W = np.zeros_like(correlation)
            return Result(W, power, 0.0, 1, True, [power])
        search = _RootSearch(penalty.gamma, largest, alpha)
        history: list[float] = []
        n_sweeps = 0
        best: Result | None = None
        bound = 0.0
        inner_tol = INNER_SHARE * self.tol
        W = W0
        for _ in range(SHARPENINGS):
            solver = BlockCD(tol=inner_tol, max_iter=self.max_iter)
            path = solver.path(
                Problem(problem.design, problem.Y, SquaredLoss(), L21(0.0)), search.strengths(), W
            )
            for solution in path:
                n_sweeps += solution.n_iter
                W = solution.W
                result = self._assess(problem, penalty, W, Y)
                search.learn(float(row_norms(W).sum()))
                history.append(result.objective)
                bound = max(bound, result.objective - result.optimality)
                if best is None or result.objective < best.objective:
                    best = result
                best.optimality = max(best.objective - bound, 0.0)
                if callback is not None:
                    callback({"objective": result.objective, "optimality": result.optimality})
                if best.optimality <= self.tol * best.objective or not solution.converged:
                    search.finish()
            assert best is not None  # a search has at least one strength
            if best.optimality <= self.tol * best.objective or not solution.converged:
                break
            # The root is as sharp as the l2,1 solutions allow: sharpen those.
            inner_tol = min(0.1 * inner_tol, INNER_SHARE * self.tol * best.objective / power)
            search = _RootSearch(penalty.gamma, largest, search.alpha)
        assert best is not None
        best.n_iter, best.history = n_sweeps, history
        best.converged = best.optimality <= self.tol * best.objective
        return best

    def _assess(self, problem, penalty, W, Y) -> Result:
        R = Y - problem.design.matmul(W)
        G = 2.0 * problem.design.rmatmul(R.astype(problem.design.dtype, copy=False))
        value = float(np.vdot(R, R)) + penalty.value(W)
        gap = max(value - penalty.dual_bound(Y, R, G), 0.0)
        return Result(W, value, gap, 0, False, [], row_norms(G))


class _RootSearch:
    """The root of alpha - 2 gamma t(alpha), which lies between 0 and the largest strength."""

    def __init__(self, gamma: float, largest: float, guess: float | None):
        self.gamma = gamma
        self.low, self.high = 0.0, largest
        self.low_value: float | None = None
        self.high_value = largest  # nothing is left there: t = 0
        self.alpha = guess if guess is not None and 0 < guess < largest else 0.3 * largest
        self.last = 0.0
        self.left = ROOT_STEPS
        self.done = False

    def strengths(self):
        """Penalties to try, each chosen when the last has been learnt from."""
        while not self.done:
            yield L21(self.alpha)

    def learn(self, t: float) -> None:
        """Move the bracket and choose the next strength."""
        value = self.alpha - 2.0 * self.gamma * t
        self.left -= 1
        if value == 0 or self.left == 0:
            self.done = True
            return
        tried = self.alpha
        # Illinois: an end that stays twice counts half, so that the other one moves as well.
        if value > 0:
            if self.last > 0 and self.low_value is not None:
                self.low_value *= 0.5
            self.high, self.high_value = self.alpha, value
        else:
            if self.last < 0:
                self.high_value *= 0.5
            self.low, self.low_value = self.alpha, value
        self.last = value
        if self.low_value is None:
            # The fixed point map jumps below the root; halfway in logarithm is safer.
            self.alpha = max(np.sqrt(self.alpha * 2.0 * self.gamma * t), 0.01 * self.alpha)
        else:
            step = self.high_value - self.low_value
            self.alpha = (self.low * self.high_value - self.high * self.low_value) / step
        self.alpha = float(self.alpha)
        if abs(self.alpha - tried) <= 1e-12 * tried:
            self.done = True

    def finish(self) -> None:
        """End the search."""
        self.done = True
