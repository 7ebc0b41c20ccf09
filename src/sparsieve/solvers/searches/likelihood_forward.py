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
from dataclasses import dataclass

import numpy as np

from ..base import Callback, Event, Path, Result
from ..losses.base import Loss
from .likelihood_neighbours import Change, Neighbours, Part, RidgeLikelihood, changed_model
from .ridge_fit import MAX_DENSE, RidgeFit, RidgeFits, check_bounded

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


@dataclass(frozen=True)
class Settled:
    """A support that was fitted, and what is worth trying around it.

    Attributes
    ----------
    order : list of int
    W : ndarray of shape (n_columns, n_outputs)
        Coefficients, those of columns without a penalty first.
    objective, optimality : float
    costs : ndarray of shape (n_features,)
        What dropping each feature costs.
    parts : list of Part
        The quadratic model at the fit.
    addition : Change
        The feature that gains most.
    exchanges : list of Change
        The most promising first.
    """

    order: list[int]
    W: np.ndarray
    objective: float
    optimality: float
    costs: np.ndarray
    parts: list[Part]
    addition: Change
    exchanges: list[Change]


class _Search:
    """A support, its columns, and all supports that were fitted before."""

    def __init__(self, problem: RidgeLikelihood, scale: float, n_swaps: int):
        self.problem, self.n_swaps, self.n_free = problem, n_swaps, problem.free.shape[1]
        self.fits = RidgeFits(problem.loss, scale)
        self.least = MIN_DECREASE * scale
        self.known: dict[frozenset[int], Settled] = {}
        # What supports that were tried are known not to get below.
        self.rejected: dict[frozenset[int], float] = {}
        self.A = problem.columns([])
        start = problem.loss.null_coefficients(problem.free)
        places = np.arange(self.n_free)
        self.safe = np.inf
        self.null = self.fits(self.A, places, problem.penalty(0), start)
        self.safe = self.null.objective
        self.empty = self.now = self._settled([], self.A, self.null)

    def restart(self) -> None:
        self.A, self.now = self.problem.columns([]), self.empty

    def _settled(self, order: list[int], A: np.ndarray, fit: RidgeFit) -> Settled:
        if self.problem.ridge == 0.0:
            check_bounded(self.problem.loss, A, fit, null_curvature(self.problem.loss))
        around = Neighbours(self.problem, A, order, fit)
        self.gains = around.gains
        best = int(np.argmax(around.gains))
        addition = around.change(float(around.gains[best]), None, best)
        tries = max(FEW_TRIES, TRIES * MANY // max(len(order), MANY))
        if fit.W.size > MAX_DENSE:
            tries = FEW_TRIES
        exchanges = [
            around.change(*found)
            for found in (around.exchanges(tries) if self.n_swaps else [])
            if found[0] >= HOPELESS * around.costs[found[1]]
        ]
        return Settled(
            *(order, fit.W, fit.objective, fit.optimality, around.costs),
            *(around.parts, addition, exchanges),
        )

    def _fitted(self, pool, places, entrants, limit=np.inf) -> RidgeFit:
        model = changed_model(self.now.parts, places, entrants)
        start = np.zeros((len(places), self.now.W.shape[1]))
        start[: self.n_free] = self.null.W
        penalty = self.problem.penalty(len(places) - self.n_free)
        return self.fits(pool, places, penalty, start, model=model, safe=self.safe, limit=limit)

    def _move(self, order: list[int], pool: np.ndarray, places: np.ndarray, entrants) -> None:
        """To a support whose columns are at these places of a pool."""
        key = frozenset(order)
        if key in self.known:
            self.now = self.known[key]
            at = dict(zip(order, places[self.n_free :], strict=True))
            places = np.array([*places[: self.n_free], *(at[j] for j in self.now.order)], dtype=np.int64)
            self.A = np.asfortranarray(pool[:, places])
            return
        fit = self._fitted(pool, places, entrants)
        self._take(order, pool, places, fit)

    def _take(self, order, pool, places, fit) -> None:
        self.A = np.asfortranarray(pool[:, places])
        self.now = self.known[frozenset(order)] = self._settled(order, self.A, fit)

    def grow(self) -> None:
        """Add the feature that gains most."""
        change, q = self.now.addition, self.A.shape[1]
        pool = np.hstack([self.A, self._columns([change.feature])])
        self._move([*self.now.order, change.feature], pool, np.arange(q + 1), change.entrants)

    def shrink(self) -> None:
        """Drop the feature that costs least."""
        place = int(np.argmin(self.now.costs))
        order = self.now.order[:place] + self.now.order[place + 1 :]
        places = np.delete(np.arange(self.A.shape[1]), self.n_free + place)
        self._move(order, self.A, places, None)

    def _columns(self, features: list[int]) -> np.ndarray:
        columns = self.problem.design.dense_columns(np.array(features))
        return np.asfortranarray(columns, dtype=np.float64)

    def exchange(self) -> bool:
        """Make the first exchange that lowers the objective, in order of what they promise."""
        goal, order, q = self.now.objective - self.least, self.now.order, self.A.shape[1]
        pool = None
        for change in self.now.exchanges:
            place, feature = change.place, change.feature
            after = [*order[:place], feature, *order[place + 1 :]]
            key = frozenset(after)
            if self.rejected.get(key, -np.inf) >= goal:
                continue
            if key in self.known and self.known[key].objective >= goal:
                continue
            if pool is None:
                features = list({change.feature for change in self.now.exchanges})
                pool = np.hstack([self.A, self._columns(features)])
            places = np.arange(q)
            places[self.n_free + place] = q + features.index(feature)
            if key in self.known:
                self._move(after, pool, places, None)
                return True
            # the model's entrant follows the support
            model_places = np.arange(q)
            model_places[self.n_free + place] = q
            model = changed_model(self.now.parts, model_places, change.entrants)
            start = np.zeros((q, self.now.W.shape[1]))
            start[: self.n_free] = self.null.W
            penalty = self.problem.penalty(q - self.n_free)
            fit = self.fits(pool, places, penalty, start, model=model, safe=self.safe, limit=goal)
            if fit.objective < goal:
                self._take(after, pool, places, fit)
                return True
            self.rejected[key] = goal
        return False

    def selected(self) -> Selected:
        now = self.now
        return Selected(
            np.array(now.order, dtype=np.int64),
            now.W[self.n_free :],
            now.W[: self.n_free],
            now.objective,
            now.costs,
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
        scale, n_visited, going = explainable(problem.loss), 0, True
        search = _Search(problem, scale, self.n_swaps)
        found, worst = [search.selected()], search.now.optimality
        alone = remaining = search.gains

        def visit(n_swaps: int) -> None:
            nonlocal n_visited, going, worst, remaining
            for _ in range(n_swaps):
                if not search.exchange():
                    break
            n_visited += 1
            now = search.now
            size = len(now.order)
            if size == len(found) or now.objective < found[size].objective:
                found[size:] = [search.selected(), *found[size + 1 :]]
                worst = max(worst, now.optimality)
                if size == len(found) - 1:
                    remaining = search.gains
            event = Event(n_visited, now.objective, n_features=size)
            going = not (callback is not None and callback(event))

        def grow(n_steps: int, n_swaps: int, stop: EndRule | None) -> None:
            while going and len(search.now.order) < n_steps:
                gain = search.now.addition.decrease
                if not gain > 0 or (stop is not None and stop(len(search.now.order), gain)):
                    break
                search.grow()
                visit(n_swaps)

        grow(self.n_steps, 0, self.stop)
        if self.n_swaps:
            n_steps = len(found) - 1
            search.restart()
            grow(n_steps, self.n_swaps, None)
            while going and len(search.now.order) > 1:
                search.shrink()
                visit(self.n_swaps)
        values = [one.objective for one in found]
        solution = SupportsFound(found, alone, remaining)
        return Result(solution, values[-1], worst, n_visited, worst <= 1e-8, values[1:])
