"""Likelihoods with an l2,1 penalty on groups of rows, along a path of strengths.

Minimises L(XW + ZB) + alpha sum_g c_g ||W_g||_F. A working set of groups keeps its columns. On it,
proximal Newton steps with the exact Hessian converge quadratically, where a diagonal bound on the
Hessian would stall for Cox. The design is read to certify: with the columns Z without penalty at
their optimum, -t grad L is dual feasible once t ||X_g' grad L|| <= alpha c_g for all groups.

Groups may share columns: each of them has its own copy of a coefficient, and the copies add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...design import DesignMatrix
from ..base import Callback, Event, Result, relative
from ..engines.group_products import PenalisedGroups
from ..losses.base import Loss
from .free import check_settled, settled
from .newton_set import GroupCoefficients, WorkingSet

# Of the tolerance, for the problem on the working set.
INNER_SHARE = 0.3
# Groups that enter the working set at once: at least so many, or as many as are in the model.
MIN_BATCH = 10


@dataclass(frozen=True)
class PenalisedLikelihood:
    """A loss on a design, with columns that are penalised in groups and others that are not.

    Attributes
    ----------
    design : DesignMatrix
    loss : Loss
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    free : ndarray of shape (n_samples, n_free)
        Z, linearly independent: a column of ones for the intercept, and covariates.
    alpha : float
        Strength of the penalty where one problem is to be solved; a path brings its own.
    """

    design: DesignMatrix
    loss: Loss
    groups: Sequence[np.ndarray]
    weights: np.ndarray
    free: np.ndarray
    alpha: float = 1.0

    def strengths(self, gradient: np.ndarray) -> np.ndarray:
        """||X_g' gradient|| / c_g of every group: the strength at which it would enter."""
        G = self.design.rmatmul(gradient.astype(self.design.dtype, copy=False))
        return self._penalised.strengths(G)

    @cached_property
    def _penalised(self) -> PenalisedGroups:
        return PenalisedGroups(self.groups, self.weights)


@dataclass(frozen=True)
class LikelihoodL21:
    """Solve for falling strengths, each from the last.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of Newton steps for one strength.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    def null(self, problem: PenalisedLikelihood) -> GroupCoefficients:
        """The model without penalised features, and the strength at which each group enters."""
        state = self._start(problem)
        return state.coefficients(problem.strengths(state.gradient), 0.0)

    def path(
        self,
        problem: PenalisedLikelihood,
        alphas: Iterable[float],
        start: Result[GroupCoefficients] | None = None,
        callback: Callback | None = None,
    ) -> Iterator[Result[GroupCoefficients]]:
        """One result per strength; the first begins at ``start``."""
        state = self._start(problem)
        if start is not None:
            state.move_to(start.solution)
        strengths = problem.strengths(state.gradient)
        before = float(strengths.max(initial=0.0))
        for alpha in alphas:
            result = self._solve(state, float(alpha), before, strengths, callback)
            strengths, before = result.solution.correlation, float(alpha)
            yield result

    def solve(
        self,
        problem: PenalisedLikelihood,
        start: Result[GroupCoefficients] | None = None,
        callback: Callback | None = None,
    ) -> Result[GroupCoefficients]:
        """Solve for ``problem.alpha``."""
        return next(self.path(problem, [problem.alpha], start, callback))

    def _start(self, problem: PenalisedLikelihood) -> WorkingSet:
        loss, Z = problem.loss, problem.free
        B = loss.null_coefficients(Z)
        F, gradient, further = settled(loss, Z, Z @ B)
        check_settled(Z, gradient)
        return WorkingSet(problem, F, gradient, B + further)

    def _solve(
        self,
        state: WorkingSet,
        alpha: float,
        before: float,
        strengths: np.ndarray,
        callback: Callback | None,
    ) -> Result[GroupCoefficients]:
        problem, trace, steps = state.problem, [], 0
        # The sequential strong rule: what enters next is rarely further from entering than this.
        near, last = max(2.0 * alpha - before, 0.5 * alpha), np.inf
        while True:
            grown = state.grow(strengths, near, max(MIN_BATCH, state.n_active))
            made = state.descend(alpha, INNER_SHARE * self.tol, self.max_iter - steps)
            steps += made
            strengths = problem.strengths(state.gradient)
            value = state.objective(alpha)
            largest = float(strengths.max(initial=0.0))
            bound = problem.loss.dual_value(state.F, min(1.0, alpha / max(largest, alpha)))
            gap = value - bound
            optimality = relative(max(gap, 0.0), state.size(value))
            trace.append(value)
            converged = bool(optimality <= self.tol)
            event = Event(steps, value, optimality, state.n_active)
            stop = callback is not None and callback(event)
            # Rounding may leave a gap that no further step closes.
            stuck = not np.isfinite(gap) or (len(trace) > 1 and not grown and gap > 0.5 * last)
            last = gap
            if converged or stuck or stop or steps >= self.max_iter:
                break
            near = alpha
        solution = state.coefficients(strengths, gap)
        return Result(solution, value, optimality, steps, converged, trace)
