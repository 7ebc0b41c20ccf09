"""Block coordinate descent with working sets for row-sparse least squares.

The working set keeps a dense copy of its few columns and descends on them, on their Gram matrix
or, where samples are few, on the residual. The design itself is only read to certify (one
product X'R over all features) and to find features that want to enter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...penalties import L1Inf, require
from ..base import Callback, Event, Result, relative
from .cut_rows import CutRowsSet
from .gram import GramSet
from .problem import Problem, Rows
from .samples import SampleSet
from .working_set import Goal, WorkingSet

# Share of the wanted gap that is asked of the working set, and of the last gap at least.
GOAL_SHARE, LEAST_SHARE = 0.7, 0.03


@dataclass(frozen=True)
class BlockCD:
    """Minimise ||XW - Y||^2 + sum_j alpha ||w_j||_2 + beta ||w_j||_1^2, or + alpha ||w_j||_inf.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of sweeps over the working set, in all rounds together.
    decided : bool
        Go on where the gap cannot tell which rows of a plain l2,1 problem are zero.
    """

    tol: float = 1e-6
    max_iter: int = 10_000
    decided: bool = False

    def solve(
        self, problem: Problem, W0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Result[Rows]:
        """Solve one problem from a warm start."""
        return next(self.path(problem, [problem.penalty], W0, callback))

    def path(
        self,
        problem: Problem,
        penalties: Iterable,
        W0: np.ndarray | None = None,
        callback: Callback | None = None,
    ) -> Iterator[Result[Rows]]:
        """Solve the same problem under one penalty after the other, each from the last.

        ``problem.penalty`` is not used; ``penalties`` should come in order of falling strength.
        """
        state = None
        trace: list[tuple[float, np.ndarray]] = []
        for penalty in penalties:
            require(penalty, "pull", "dual_bound", solver="BlockCD")
            if state is None:
                state = _working_set(problem, penalty, W0)
                norms = penalty.pull(self._gradient(state, state.residual()))
            _predict(state, penalty, trace)
            result = self._solve(state, penalty, norms, problem.floor, callback)
            norms = result.solution.pull
            state.seen[state.features[state.active()]] = True
            trace = [*trace[-1:], (penalty.alpha, state.W.copy())]
            yield result

    def _gradient(self, state: WorkingSet, R: np.ndarray) -> np.ndarray:
        """2 X'R of all features."""
        if state.size == state.design.shape[1]:
            G = np.empty((state.size, R.shape[1]))
        else:
            G = state.design.rmatmul(R.astype(state.design.dtype, copy=False))
            G = G.astype(np.float64, copy=False)
        state.refine(G, R)
        G *= 2.0
        return G

    def _solve(
        self, state: WorkingSet, penalty, norms, floor: float, callback: Callback | None
    ) -> Result[Rows]:
        alpha, beta = penalty.alpha, _exclusive_strength(penalty)
        trace: list[float] = []
        n_sweeps = 0
        # Where Newton steps are dear the first few features are not solved to the last digit.
        gap = state.power if beta > 0 else 0.0
        while True:
            grown = self._grow(state, norms, alpha, patient=beta == 0)
            # A gap far above the wanted one is not worth chasing with half of the features.
            decided = self.decided and beta == 0
            goal = Goal(GOAL_SHARE * self.tol, floor, LEAST_SHARE * gap, decided)
            sweeps = state.descend(penalty, goal, self.max_iter - n_sweeps)
            n_sweeps += sweeps
            R = state.residual()
            G = self._gradient(state, R)
            norms = penalty.pull(G)
            value = float(np.vdot(R, R)) + penalty.value(state.W)
            gap = max(value - penalty.dual_bound(state.Y, R, G), 0.0)
            optimality = relative(gap, value, floor)
            trace.append(value)
            converged = optimality <= self.tol
            event = Event(n_sweeps, value, optimality, len(state.active()))
            stop = callback is not None and callback(event)
            # A round that had nothing to do, or a gap that is no number, will not get better.
            stuck = not np.isfinite(gap) or not (grown or sweeps)
            if converged or stuck or n_sweeps >= self.max_iter or stop:
                break
        W = np.zeros((len(norms), state.W.shape[1]), dtype=state.design.dtype)
        W[state.features] = state.W
        return Result(Rows(W, norms), value, optimality, n_sweeps, converged, trace)

    def _grow(self, state: WorkingSet, norms, alpha: float, patient: bool) -> bool:
        """Take in the features that violate their optimality condition most, if there are any.

        Where most features want in and the whole Gram matrix is smaller than X, rounds with a
        few of them are not worth their price unless sweeps are cheap (``patient``).
        """
        outside = state.slot < 0
        if not outside.any():
            return False
        wanting = np.flatnonzero(outside & (norms > 0.9 * alpha))
        n_samples, n_features = state.design.shape
        room = state.room()
        hurry = not patient and 2 * len(wanting) >= n_features
        if len(wanting) > room and not (hurry and n_features <= n_samples):
            wanting = wanting[np.argpartition(-norms[wanting], room - 1)[:room]]
        if n_features <= n_samples and 2 * (state.size + len(wanting)) >= n_features:
            wanting = np.flatnonzero(outside)  # the whole Gram matrix is smaller than X
        if len(wanting):
            state.add(np.sort(wanting))
        return len(wanting) > 0


def _working_set(problem: Problem, penalty, W0: np.ndarray | None) -> WorkingSet:
    """The kind of working set that suits the problem, with the nonzero rows of W0."""
    n_samples, n_features = problem.design.shape
    kind: type[WorkingSet] = GramSet
    if isinstance(penalty, L1Inf):
        kind = CutRowsSet
    elif _exclusive_strength(penalty) > 0 and n_samples <= n_features:
        # Newton steps in the row norms, which plain l2,1 problems get, need the Gram matrix.
        kind = SampleSet
    state = kind(problem.design, problem.Y)
    if W0 is not None and W0.any():
        start = np.flatnonzero(W0.any(axis=1))
        state.add(start)
        state.W[:] = W0[start]
    return state


def _exclusive_strength(penalty) -> float:
    return float(getattr(penalty, "beta", 0.0))


def _predict(state: WorkingSet, penalty, trace) -> None:
    """Start a new strength from the line through the last two solutions, if that is lower.

    Between changes of the support solutions are smooth in the strength, for a single output
    even linear.
    """
    if len(trace) < 2 or trace[0][0] == trace[1][0]:
        return
    (first, W_first), (second, W_second) = trace
    ahead = (penalty.alpha - second) / (second - first)
    candidate = state.W.copy()
    known = len(W_first)
    lasting = W_first.any(axis=1) & W_second[:known].any(axis=1)
    candidate[:known][lasting] += ahead * (W_second[:known] - W_first)[lasting]
    state.move_if_lower(penalty, candidate)
