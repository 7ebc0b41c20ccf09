"""sum_i s_i ||y_i - x_i W - b|| + alpha sum_j ||w_j|| over all features of a design.

The interior-point method works on the columns of a working set, in double precision whatever
the design; the design itself is read once per round, to certify and to find features that
want to enter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from .interior_point import minimise_row_norms, settle
from .problem import RobustData, RobustSolution
from .smoothed_newton import suits

# The working set is solved to this gap only, as long as features outside want in badly: their
# pull exceeds alpha by more than this factor.
ROUGH = 1e-2
EAGER = 1.1
# Many samples: the first digits are cheap, so that features are left behind before the last ones
# are asked for. Accuracy falls by this factor as soon as nothing outside wants in badly.
STAGES, SHARPER, LESS_EAGER = 1e-3, 0.03, 1.02
# The first working set has an eighth of the number of samples, within reason.
MOST_AT_FIRST = 400
# Features this close to entering come along, those this far from staying are left behind.
CLOSE = 0.9
FAR, NEAR = 0.7, 0.98
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
    max_iter : largest number of interior-point iterations per problem.
    callback : called after every round; True stops.
    """

    data: RobustData
    eligible: np.ndarray
    tol: float = 1e-6
    max_iter: int = 200
    callback: Callback | None = None
    _features: np.ndarray | None = None
    _rows: np.ndarray | None = None

    def solve(self, alpha: float) -> Result[RobustSolution]:
        """Solve for one strength."""
        data = self.data
        features, start = self._first_working_set()
        trace: list[float] = []
        n_iter = 0
        excess = np.inf
        stage, last = STAGES, 0.3 * self.tol
        n_rounds = 0
        while True:
            n_rounds += 1
            outside = self.eligible.copy()
            outside[features] = False
            problem = data.restricted(features, alpha)
            staged = suits(problem)
            lean = staged or len(data.Y) > MANY
            if staged:
                stage = max(SHARPER * stage, last) if excess <= LESS_EAGER else STAGES
                rough = stage > self.tol
            else:
                rough = bool(outside.any()) and excess > EAGER
                stage = max(ROUGH, self.tol) if rough else last
            inner = minimise_row_norms(
                problem,
                tol=stage if rough else last,
                max_iter=max(self.max_iter - n_iter, 1),
                start=start,
                zero_tol=0.9 * self.tol if lean and not rough else None,
            )
            point = inner.solution
            n_iter += inner.n_iter
            trace.extend(inner.trace)
            pulls = data.pulls(point.dual)
            excess = max(1.0, float((pulls[self.eligible] / alpha).max(initial=0.0)))
            bound = point.bound / excess
            gap = relative(inner.objective - bound, inner.objective)
            stop = self.callback is not None and self.callback(
                Event(n_iter, inner.objective, gap, len(features))
            )
            exhausted = not rough and not (outside & (pulls > alpha)).any()
            if gap <= self.tol or exhausted or n_iter >= self.max_iter or stop:
                break
            close = NEAR if staged else LEAN if lean else CLOSE
            wanting = np.flatnonzero(outside & (pulls > close * alpha))
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
            if staged and rough and n_rounds <= 9:
                kept = np.flatnonzero(~point.vanishing | (pulls[features] > NEAR * alpha))
            elif (
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
        self._features = features[nonzero]
        self._rows = np.concatenate([point.rows[nonzero], point.rows[len(features) :]])
        W = np.zeros((data.design.shape[1], data.Y.shape[1]))
        W[features] = point.W
        free = data.free_coefficients(problem.free @ point.B)
        return Result(
            RobustSolution(W, free, pulls / excess),
            settled.objective,
            gap,
            max(n_iter, 1),
            gap <= self.tol,
            trace,
        )

    def _first_working_set(self):
        if self._features is not None and len(self._features):
            return self._features, self._rows
        data = self.data
        n_samples = data.design.shape[0]
        candidates = np.flatnonzero(self.eligible)
        room = min(max(n_samples // 8, 200), MOST_AT_FIRST)
        if data.design.is_remote:
            room = REMOTE_ROOM
        if len(candidates) <= 1.5 * room:
            return candidates, None
        norms = row_norms(data.Y)
        direction = data.Y / np.maximum(norms, 1e-3 * data.mean(norms))[:, None]
        pulls = data.pulls(direction * data.weights[:, None])[candidates]
        return np.sort(candidates[np.argpartition(-pulls, room - 1)[:room]]), None
