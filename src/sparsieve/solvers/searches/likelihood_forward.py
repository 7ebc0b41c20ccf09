"""Forward selection with exchanges for a likelihood with a ridge: all sizes in one run.

Every step adds the feature with the largest predicted gain (a score test with a ridge) and fits
the support anew by Newton's method. A second path does the same, and after every step exchanges
features for others as long as that lowers the objective: the features that are cheapest to drop
are paired with all others and judged by the quadratic model at the fit, and the most promising
pairs are fitted. Once the longest support is reached the search walks back down, dropping the
cheapest feature and exchanging again. The best support of every size is kept, so that the result
is never worse than plain forward selection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..base import Callback, Event, Path, Result
from ..losses.base import Loss
from ..paths.free import check_settled, settled
from .likelihood_neighbours import Neighbours, RidgeLikelihood
from .ridge_fit import MAX_DENSE, RidgeFit, check_bounded, ridge_fit

# An exchange must lower the objective by this share of what can be explained at all.
MIN_DECREASE = 1e-7
# How many exchanges are fitted before a support is taken to be the best nearby.
TRIES = 16
# Beyond this many features, or with very many outputs, fits are dear: fewer are tried.
MANY, FEW_TRIES = 10, 2
# A promised loss of more than this share of what the feature that leaves is worth: of 261 exchanges
# that helped in 13 runs on nine targets none was as bad.
HOPELESS = -0.35


def null_curvature(loss: Loss) -> float:
    """How sharply the loss bends at the null model for a feature of unit variance.

    n p (1 - p) for two classes, the sum of the means for Poisson, the number of events for Cox; of
    several classes the mean over the directions that matter.
    """
    intercepts, _ = loss.null()
    if loss.is_redundant:
        shares = np.exp(intercepts - intercepts.max())
        shares /= shares.sum()
        rest = 1.0 - float(shares @ shares)
        return float(loss.weights.sum()) * rest / (loss.n_outputs - 1)
    F = np.broadcast_to(intercepts, (loss.n_samples, loss.n_outputs))
    return float(loss.curvature(F).sum()) / loss.n_outputs


def explainable(loss: Loss) -> float:
    """The loss of the null model less that of a perfect one: half of the null deviance."""
    intercepts, value = loss.null()
    F = np.broadcast_to(intercepts, (loss.n_samples, loss.n_outputs))
    return max(value - loss.dual_value(F, 0.0), np.finfo(float).tiny)


@dataclass(frozen=True)
class Selected:
    """One support and its fit.

    Attributes
    ----------
    order : ndarray of int
        Features; one that came in by an exchange has the place of the one it replaced.
    W : ndarray of shape (n_features, n_outputs)
        Their coefficients.
    free : ndarray of shape (n_free, n_outputs)
        Coefficients of the columns without a penalty.
    objective : float
    costs : ndarray of shape (n_features,)
        What the objective would lose without each of them, by the quadratic model at the fit.
    """

    order: np.ndarray
    W: np.ndarray
    free: np.ndarray
    objective: float
    costs: np.ndarray


@dataclass(frozen=True)
class SupportsFound:
    """The best support of every size that was found; they need not be nested.

    Attributes
    ----------
    by_size : list of Selected
        With 0, 1, 2, ... features.
    alone, remaining : ndarray of shape (n_features,)
        What each feature would gain as the first, and beyond the longest support.
    """

    by_size: list[Selected]
    alone: np.ndarray
    remaining: np.ndarray

    @property
    def path(self) -> Path:
        """Supports and objectives."""
        return Path(
            [one.order for one in self.by_size],
            objective=np.array([one.objective for one in self.by_size]),
        )


# Asked before every step, with the number of features so far and the predicted gain of the next.
EndRule = Callable[[int, float], bool]


@dataclass
class _Search:
    """A support, its fit and what is around it."""

    problem: RidgeLikelihood
    scale: float
    order: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.A = self.problem.columns([])
        self.fit = self._fitted(self.A, self.problem.loss.null_coefficients(self.problem.free))
        self._around: Neighbours | None = None

    def _fitted(self, A: np.ndarray, start: np.ndarray, limit: float = np.inf) -> RidgeFit:
        penalty = self.problem.penalty(A.shape[1] - self.problem.free.shape[1])
        return ridge_fit(self.problem.loss, A, penalty, start, scale=self.scale, limit=limit)

    @property
    def around(self) -> Neighbours:
        if self._around is None:
            self._around = Neighbours(self.problem, self.A, self.order, self.fit)
        return self._around

    def add(self, feature: int) -> None:
        column = self.problem.columns([feature])[:, -1:]
        A = np.asfortranarray(np.hstack([self.A, column]))
        start = np.vstack([self.fit.W, np.zeros((1, self.fit.W.shape[1]))])
        self._move([*self.order, feature], A, self._fitted(A, start))

    def drop(self, place: int) -> None:
        row = self.problem.free.shape[1] + place
        A = np.asfortranarray(np.delete(self.A, row, axis=1))
        order = self.order[:place] + self.order[place + 1 :]
        self._move(order, A, self._fitted(A, np.delete(self.fit.W, row, axis=0)))

    def exchange(self, least: float) -> bool:
        """Make the first exchange that lowers the objective, in order of what they promise."""
        tries = max(FEW_TRIES, TRIES * MANY // max(len(self.order), MANY))
        if self.fit.W.size > MAX_DENSE:
            tries = FEW_TRIES
        for decrease, place, feature in self.around.exchanges(tries):
            if decrease < HOPELESS * self.around.costs[place]:
                continue
            row = self.problem.free.shape[1] + place
            A, start = self.A.copy(order="F"), self.fit.W.copy()
            A[:, row] = self.problem.columns([feature])[:, -1]
            start[row] = 0.0
            goal = self.fit.objective - least
            fit = self._fitted(A, start, limit=goal)
            if fit.objective < goal:
                order = [*self.order[:place], feature, *self.order[place + 1 :]]
                self._move(order, A, fit)
                return True
        return False

    def _move(self, order: list[int], A: np.ndarray, fit: RidgeFit) -> None:
        self.order, self.A, self.fit, self._around = order, A, fit, None

    def selected(self) -> Selected:
        n_free = self.problem.free.shape[1]
        return Selected(
            np.array(self.order, dtype=np.int64),
            self.fit.W[n_free:],
            self.fit.W[:n_free],
            self.fit.objective,
            self.around.costs,
        )


@dataclass(frozen=True)
class LikelihoodForward:
    """Forward selection with exchanges.

    Parameters
    ----------
    n_steps : int
        Features of the longest support; the path ends earlier when no feature can add anything.
    n_swaps : int
        Most exchanges between two changes of the size; 0 is plain forward selection.
    stop : EndRule or None
        True ends the growth.
    """

    n_steps: int
    n_swaps: int = 5
    stop: EndRule | None = None

    def solve(
        self,
        problem: RidgeLikelihood,
        start: Result[SupportsFound] | None = None,
        callback: Callback | None = None,
    ) -> Result[SupportsFound]:
        """The path from no feature on; a path has no warm start."""
        start_from = problem.free @ problem.loss.null_coefficients(problem.free)
        check_settled(problem.free, settled(problem.loss, problem.free, start_from)[1])
        scale, n_visited, going = explainable(problem.loss), 0, True
        search = _Search(problem, scale)
        found, worst = [search.selected()], search.fit.optimality
        alone = remaining = search.around.gains

        def visit(n_swaps: int) -> None:
            nonlocal n_visited, going, worst, remaining
            if problem.ridge == 0.0:
                check_bounded(problem.loss, search.A, search.fit, null_curvature(problem.loss))
            for _ in range(n_swaps):
                if not search.exchange(MIN_DECREASE * scale):
                    break
            n_visited += 1
            size = len(search.order)
            if size == len(found) or search.fit.objective < found[size].objective:
                found[size:] = [search.selected(), *found[size + 1 :]]
                worst = max(worst, search.fit.optimality)
                if size == len(found) - 1:
                    remaining = search.around.gains
            event = Event(n_visited, search.fit.objective, n_features=size)
            going = not (callback is not None and callback(event))

        def grow(n_steps: int, n_swaps: int, stop: EndRule | None) -> None:
            while going and len(search.order) < n_steps:
                best = int(np.argmax(search.around.gains))
                gain = float(search.around.gains[best])
                if not gain > 0 or (stop is not None and stop(len(search.order), gain)):
                    break
                search.add(best)
                visit(n_swaps)

        grow(self.n_steps, 0, self.stop)
        if self.n_swaps:
            n_steps, search = len(found) - 1, _Search(problem, scale)
            grow(n_steps, self.n_swaps, None)
            while going and len(search.order) > 1:
                search.drop(int(np.argmin(search.around.costs)))
                visit(self.n_swaps)
        values = [one.objective for one in found]
        solution = SupportsFound(found, alone, remaining)
        return Result(solution, values[-1], worst, n_visited, worst <= 1e-8, values[1:])
