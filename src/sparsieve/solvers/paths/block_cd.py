"""Block coordinate descent with working sets for row-sparse least squares.

The working set keeps a dense copy of its few columns and descends on them, on their Gram matrix
or, for the l1,inf norm, on the residual. The design itself is only read to certify (one
product X'R over all features) and to find features that violate their optimality condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._beside import in_double, places_of, rows_in_use, some_of
from ...penalties import require
from ..base import Callback, Event, Result, relative
from ..least_squares import FewRows, LeastSquares, Rows
from .gram_cd import GramSet
from .l1inf_cd import CutRowsSet
from .working_set import Goal, WorkingSet

# The gap that is asked of the restricted problem: this share of the tolerance, but no less than
# the second share of the last gap over all features.
INNER_GAP_SHARE, INNER_GAP_FLOOR = 0.7, 0.03
WORKING_SETS: tuple[type[WorkingSet], ...] = (GramSet, CutRowsSet)


@dataclass(frozen=True)
class BlockCD:
    """Minimise ||XW - Y||^2 + sum_j alpha ||w_j||_2 + beta ||w_j||_1^2, or + alpha ||w_j||_inf.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of sweeps over the working set, in all rounds together.
    decided : bool
        Go on where the gap cannot tell which rows of a plain l2,1 problem are zero.
    """

    tol: float = 1e-6
    max_iter: int = 10_000
    decided: bool = False

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | Result[FewRows] | None = None,
        callback: Callback | None = None,
    ) -> Result[FewRows]:
        """Solve one problem from a warm start."""
        return next(self.path(problem, [problem.penalty], start, callback))

    def path(
        self,
        problem: LeastSquares,
        penalties: Iterable[Any],
        start: Result[Rows] | Result[FewRows] | None = None,
        callback: Callback | None = None,
    ) -> Iterator[Result[FewRows]]:
        """Solve the same problem under one penalty after the other, each from the last.

        ``problem.penalty`` is not used; ``penalties`` should come in order of falling strength.
        """
        state = None
        trace: list[tuple[float, np.ndarray]] = []
        for penalty in penalties:
            require(penalty, "dual_norms", "dual_bound", solver="BlockCD")
            if state is None:
                state = _working_set(problem, penalty, start)
                norms = penalty.dual_norms(self._gradient(state, state.residual()))
            _predict(state, penalty, trace)
            result = self._solve(state, penalty, norms, problem.floor, callback)
            norms = result.solution.correlation
            state.seen[state.features[state.active()]] = True
            trace = [*trace[-1:], (penalty.alpha, state.W.copy())]
            yield result

    def _gradient(self, state: WorkingSet, R: np.ndarray) -> Any:
        """2 X'R of all features, beside X."""
        design = state.design
        if state.size == design.shape[1]:
            G = design.beside(np.empty((state.size, R.shape[1])))
        else:
            G = in_double(design.project_beside(R.astype(design.dtype, copy=False)))
        state.refine(G, R)
        G *= 2.0
        return G

    def _solve(
        self, state: WorkingSet, penalty, norms, floor: float, callback: Callback | None
    ) -> Result[FewRows]:
        alpha, beta = penalty.alpha, float(getattr(penalty, "beta", 0.0))
        trace: list[float] = []
        n_sweeps = 0
        # Where Newton steps are dear the first few features are not solved to the last digit.
        gap = state.power if beta > 0 else 0.0
        while True:
            grown = self._grow(state, norms, alpha, patient=beta == 0)
            # A gap far above the wanted one is not worth chasing with half of the features.
            decided = self.decided and beta == 0
            goal = Goal(INNER_GAP_SHARE * self.tol, floor, INNER_GAP_FLOOR * gap, decided)
            sweeps = state.descend(penalty, goal, self.max_iter - n_sweeps)
            n_sweeps += sweeps
            R = state.residual()
            G = self._gradient(state, R)
            norms = penalty.dual_norms(G)
            value = float(np.vdot(R, R)) + penalty.value(state.W)
            gap = max(value - penalty.dual_bound(state.Y, R, G), 0.0)
            optimality = relative(gap, value, floor)
            trace.append(value)
            converged = optimality <= self.tol
            event = Event(n_sweeps, value, optimality, len(state.active()))
            stop = callback is not None and callback(event)
            # A round that had nothing to do, or a gap that is no number, will not get better. The
            # first round does not count: its inner tolerance may be loose enough for any start.
            stuck = not np.isfinite(gap) or (len(trace) > 1 and not (grown or sweeps))
            if converged or stuck or n_sweeps >= self.max_iter or stop:
                break
        found = FewRows(state.features, state.W.copy(), norms, state.design.dtype)
        return Result(found, value, optimality, n_sweeps, converged, trace)

    def _grow(self, state: WorkingSet, norms, alpha: float, patient: bool) -> bool:
        """Take in the features that violate their optimality condition most, if there are any.

        Where most features do and the whole Gram matrix is smaller than X, rounds with a few of
        them are not worth their price unless sweeps are cheap (``patient``).
        """
        n_samples, n_features = state.design.shape
        if state.size == n_features:
            return False
        violating = places_of(state.outside & (norms > 0.9 * alpha))
        batch = state.batch_size()
        all_at_once = not patient and 2 * len(violating) >= n_features
        if len(violating) > batch and not (all_at_once and n_features <= n_samples):
            largest = np.argpartition(-some_of(norms, violating), batch - 1)[:batch]
            violating = violating[largest]
        if n_features <= n_samples and 2 * (state.size + len(violating)) >= n_features:
            violating = places_of(state.outside)  # the whole Gram matrix is smaller than X
        if len(violating):
            state.add(np.sort(violating))
        return len(violating) > 0


def _working_set(
    problem: LeastSquares, penalty, start: Result[Rows] | Result[FewRows] | None
) -> WorkingSet:
    """The first kind of working set that can use the penalty, with the nonzero rows of a start."""
    able = [kind for kind in WORKING_SETS if hasattr(penalty, kind.needs)]
    if not able:
        require(penalty, WORKING_SETS[0].needs, solver="BlockCD")
    state = able[0](problem.design, problem.Y)
    if start is not None and start.solution.W.any():
        rows = rows_in_use(start.solution.W)
        state.add(rows)
        state.W[:] = start.solution.W[rows]
    return state


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
