"""sum_i s_i ||y_i - x_i W - b|| + alpha sum_j ||w_j|| over all features of a design.

The interior-point method works on the columns of a working set, in double precision whatever
the design; the design itself is read once per round, to certify and to find features that
want to enter. Where these are too many for dense columns of sparse data, primal-dual steps on
sparse columns take over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from .crowd import crowded, solve_crowd
from .interior_point import minimise_row_norms, settle
from .primal_dual import SaddlePoint
from .problem import RobustData, RobustSolution
from .row_norm_problem import FeaturesInUse

# The working set is solved to this gap only, as long as features outside want in badly: their
# pull exceeds alpha by more than this factor.
ROUGH = 1e-2
EAGER = 1.1
# The first working set has an eighth of the number of samples, within reason; beyond so many
# samples no features that do not pull, since every one costs.
MOST_AT_FIRST = 400
VERY_MANY, LEAST_AT_FIRST = 2000, 20
# Features this close to entering come along, those this far from staying are left behind.
CLOSE = 0.9
FAR = 0.7
# Both where the price of a step grows with the features: beyond so many samples.
MANY, LEAN = 400, 0.95
# All features come at once, if they are no more than samples, when the median one outside is
# pulled by this many times alpha: rounds with a part of them would be in vain.
CROWD = 3.0
# Columns of a remote X to begin with: each has to be brought here.
REMOTE_ROOM = 32


@dataclass
class RowNormRegression:
    """Solve RFS problems on one data set, each started from the last.

    Parameters
    ----------
    data : RobustData
    eligible : mask of the features that may enter.
    tol : relative duality gap to reach.
    max_iter : largest number of interior-point iterations per problem; twenty primal-dual steps
        count as one.
    callback : called after every round; True stops.
    """

    data: RobustData
    eligible: np.ndarray
    tol: float = 1e-6
    max_iter: int = 200
    callback: Callback | None = None
    _last: FeaturesInUse | None = None

    def solve(self, alpha: float) -> Result[RobustSolution]:
        """Solve for one strength."""
        data = self.data
        pulls = self._first_pulls() if self._last is None else self._last.pulls
        if pulls is not None and crowded(data, int((pulls[self.eligible] > alpha).sum())):
            result = self._with_crowd(alpha, pulls, self._first_saddle())
        else:
            result = self._with_few(alpha, *self._first_working_set(alpha, pulls))
        self._last = last = result.solution
        W = np.zeros((data.design.shape[1], data.Y.shape[1]))
        W[last.features] = last.W
        free = data.free_coefficients(data.free_basis @ last.B)
        feasible = last.pulls / _excess(last.pulls[self.eligible], alpha)
        return Result(
            RobustSolution(W, free, feasible),
            result.objective,
            result.optimality,
            result.n_iter,
            result.converged,
            result.trace,
        )

    def _with_few(
        self, alpha: float, features: np.ndarray, start: np.ndarray | None
    ) -> Result[FeaturesInUse]:
        """Rounds of the interior-point method on dense columns."""
        data = self.data
        trace: list[float] = []
        n_iter = 0
        excess = np.inf
        lean = len(data.Y) > MANY
        n_rounds = 0
        while True:
            n_rounds += 1
            outside = self.eligible.copy()
            outside[features] = False
            problem = data.restricted(features, alpha)
            rough = bool(outside.any()) and excess > EAGER
            inner = minimise_row_norms(
                problem,
                tol=max(ROUGH, self.tol) if rough else 0.3 * self.tol,
                max_iter=max(self.max_iter - n_iter, 1),
                start=start,
                zero_tol=0.9 * self.tol if lean and not rough else None,
            )
            point = inner.solution
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            pulls = data.pulls(point.dual)
            excess = _excess(pulls[self.eligible], alpha)
            bound = point.bound / excess
            gap = relative(inner.objective - bound, inner.objective)
            stop = self.callback is not None and self.callback(
                Event(n_iter, inner.objective, gap, len(features))
            )
            exhausted = not rough and not (outside & (pulls > alpha)).any()
            if gap <= self.tol or exhausted or n_iter >= self.max_iter or stop:
                break
            close = LEAN if lean else CLOSE
            wanting = np.flatnonzero(outside & (pulls > close * alpha))
            if crowded(data, len(features) + len(wanting)):
                W = np.zeros((len(pulls), data.Y.shape[1]))
                W[features] = np.where(point.vanishing[:, None], 0.0, point.W)
                saddle = SaddlePoint(W, point.B, point.dual)
                rest = self._with_crowd(alpha, pulls, saddle, n_iter)
                return replace(rest, n_iter=n_iter + rest.n_iter, trace=trace + rest.trace)
            crowd = (
                self.eligible.sum() <= len(data.Y)
                and outside.any()
                and np.median(pulls[outside]) > CROWD * alpha
            )
            room = max(REMOTE_ROOM if data.design.is_remote else 100, len(features))
            if len(wanting) > room:
                wanting = wanting[np.argpartition(-pulls[wanting], room - 1)[:room]]
            size = len(features)
            kept = np.arange(size)
            if (
                crowd or size + len(wanting) > 0.9 * self.eligible.sum()
            ) and not data.design.is_remote:
                wanting = np.flatnonzero(outside)  # rounds would cost more than the rest of them
            elif rough and n_rounds <= 3:  # later it might only come back
                kept = np.flatnonzero(
                    ~point.vanishing | (pulls[features] > (LEAN if lean else FAR) * alpha)
                )
            start = None
            if size:
                entering = np.full(len(wanting), 0.1 * point.rows[:size].mean())
                start = np.concatenate([point.rows[kept], entering, point.rows[size:]])
            features = np.concatenate([features[kept], wanting])
        settled = settle(problem, inner, bound=bound, tol=self.tol)
        point = settled.solution
        gap = relative(settled.objective - bound, settled.objective)
        nonzero = np.flatnonzero(point.W.any(axis=1))
        rows = np.concatenate([point.rows[nonzero], point.rows[len(features) :]])
        return Result(
            FeaturesInUse(features[nonzero], point.W[nonzero], point.B, point.dual, rows, pulls),
            settled.objective,
            gap,
            max(n_iter, 1),
            gap <= self.tol,
            trace,
        )

    def _with_crowd(
        self, alpha: float, pulls: np.ndarray, start: SaddlePoint, n_iter: int = 0
    ) -> Result[FeaturesInUse]:
        """Primal-dual steps on sparse columns, after ``n_iter`` iterations of another kind."""
        return solve_crowd(
            self.data,
            self.eligible,
            alpha,
            pulls,
            start,
            tol=self.tol,
            max_iter=max(self.max_iter - n_iter, 1),
            callback=self.callback,
        )

    def _first_pulls(self) -> np.ndarray | None:
        """How hard features pull at the model without any; None where nobody asks."""
        data = self.data
        n_candidates = int(self.eligible.sum())
        if n_candidates <= 1.5 * self._room() and not crowded(data, n_candidates):
            return None
        return data.pulls(_direction(data))

    def _first_saddle(self) -> SaddlePoint:
        data, last = self.data, self._last
        W = np.zeros((data.design.shape[1], data.Y.shape[1]))
        if last is None:
            return SaddlePoint(
                W, np.zeros((data.free_basis.shape[1], W.shape[1])), _direction(data)
            )
        W[last.features] = last.W
        return SaddlePoint(W, last.B, last.dual)

    def _room(self) -> int:
        """The size of the first working set."""
        if self.data.design.is_remote:
            return REMOTE_ROOM
        return min(max(len(self.data.Y) // 8, 200), MOST_AT_FIRST)

    def _first_working_set(
        self, alpha: float, pulls: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        last = self._last
        if last is not None and len(last.features) and not crowded(self.data, len(last.features)):
            return last.features, last.rows
        candidates = np.flatnonzero(self.eligible)
        room = self._room()
        if pulls is None or len(candidates) <= 1.5 * room:
            return candidates, None
        if len(self.data.Y) > VERY_MANY:
            room = min(room, max(int((pulls[candidates] > CLOSE * alpha).sum()), LEAST_AT_FIRST))
        hardest = np.argpartition(-pulls[candidates], room - 1)[:room]
        return np.sort(candidates[hardest]), None


def _direction(data: RobustData) -> np.ndarray:
    """The dual point of the model without features, roughly: weighted, normalised rows of Y."""
    norms = row_norms(data.Y)
    direction = data.Y / np.maximum(norms, 1e-3 * data.mean(norms))[:, None]
    return direction * data.weights[:, None]


def _excess(pulls: np.ndarray, alpha: float) -> float:
    """By how much the dual point has to shrink to be feasible."""
    return max(1.0, float((pulls / alpha).max(initial=0.0)))
