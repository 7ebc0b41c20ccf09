"""Forward selection with exchanges for a likelihood with a ridge: all sizes in one run.

Every step adds the feature with the largest predicted gain (a score test with a ridge) and fits
the support anew by Newton's method. A second path does the same, and after every step exchanges
features for others as long as that lowers the objective: the features that are cheapest to drop
are paired with all others and judged by the quadratic model at the fit, and the most promising
pairs are fitted. Once the longest support is reached the search walks back down, dropping the
cheapest feature and exchanging again. The best support of every size is kept, so that the result
is never worse than plain forward selection. Near copies of features in a support are passed over,
in exchanges too, until all other features are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from ..._beside import to_numpy, where
from ..base import Callback, Event, Path, Result
from ..losses.base import Loss
from ..paths.free import check_bounds, minimise_free
from .exchange import Exchanges, Proposal
from .likelihood_groups import GroupNeighbours, selected_once
from .likelihood_neighbours import Neighbours, RidgeLikelihood
from .redundancy import Company
from .ridge_fit import MAX_DENSE, Model, RidgeFit, RidgeFits, check_optimum

# An exchange must lower the objective by this share of what can be explained at all.
MIN_DECREASE = 1e-7
# How many exchanges are fitted before a support is taken to be the best nearby: so many with up to
# ten features, and in inverse proportion to their number beyond, but never fewer than the least. So
# many times features were fitted in all; with more coefficients than a factor is made of every fit
# is dear.
MAX_TRIES, TRIES_TIMES_FEATURES, MIN_TRIES = 16, 160, 2
# Columns of the pool beyond those that are needed now.
SPARE_COLUMNS = 64
# A promised loss of more than this share of what the feature that leaves is worth: of 261 exchanges
# that helped in 13 runs on nine targets none was as bad.
MAX_PROMISED_LOSS = 0.35


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
        Features, or groups; one that came in by an exchange has the place of the one it replaced.
    columns : ndarray of int
        Their columns, each once.
    W : ndarray of shape (n_columns, n_outputs)
        Their coefficients.
    free : ndarray of shape (n_free, n_outputs)
        Coefficients of the columns without a penalty.
    objective : float
    costs : ndarray of shape (n_order,)
        What the objective would lose without each of them, by the quadratic model at the fit.
    """

    order: np.ndarray
    columns: np.ndarray
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
    noise : ndarray of shape (n_features,)
        What each group would gain if it were noise; 0 for features.
    """

    by_size: list[Selected]
    alone: np.ndarray
    remaining: np.ndarray
    noise: np.ndarray

    @property
    def path(self) -> Path:
        """Supports and objectives."""
        return Path(
            [one.order for one in self.by_size],
            objective=np.array([one.objective for one in self.by_size]),
        )


# Asked before every step: the number of features so far, and of the next one the predicted gain and
# how many directions its columns have.
EndRule = Callable[[int, float, int], bool]


@dataclass(frozen=True)
class Settled:
    """A support that the search was at, and what is worth trying around it.

    Attributes
    ----------
    order : list of int
    W : ndarray of shape (n_columns, n_outputs)
        Coefficients, those of columns without a penalty first.
    objective, optimality : float
    costs : ndarray of shape (n_order,)
        What dropping each feature costs.
    gain : float
        Of the feature that is to come next.
    entrants : list of int
        That feature, and all others that are to be tried.
    exchanges : list of tuple
        Places in the support and the entrants to come there, the most promising first.
    model : Model
        The quadratic model at the fit, of the support and the entrants.
    spans : list of tuple
        Where the columns of each of these begin and end in it.
    """

    order: list[int]
    W: np.ndarray
    objective: float
    optimality: float
    costs: np.ndarray
    gain: float
    entrants: list[int]
    exchanges: list[tuple[int, int]]
    model: Model
    spans: list[tuple[int, int]]


class _Fitted(NamedTuple):
    """A fit on some columns of the pool."""

    order: list[int]
    places: np.ndarray
    fit: RidgeFit | Settled
    objective: float  # with prices


class _Search(Exchanges[Any]):
    """The support that the search is at, and all supports that it was at before.

    Groups of many columns would win by their size: every group has the price of what noise would
    gain in it, and what counts is the objective with prices.
    """

    now: Settled
    gains: Any  # of the last support that was new, beside X

    def __init__(self, problem: RidgeLikelihood, scale: float, n_swaps: int):
        super().__init__()
        self.problem, self.n_swaps, self.least = problem, n_swaps, MIN_DECREASE * scale
        self.fits, self.n_free = RidgeFits(problem.loss, scale), problem.free.shape[1]
        self.known: dict[frozenset[int], Settled] = {}
        redundancy = problem.redundancy
        self.company = None if redundancy is None else Company(redundancy)
        # Contiguous columns of the support, and after these those of its entrants, once loaded.
        self.pool = np.ascontiguousarray(problem.free.T, dtype=np.float64)
        self.penalty, self._loaded = problem.penalty(0), 0
        start, places = problem.loss.null_coefficients(problem.free), np.arange(self.n_free)
        null = self.fits(self.pool, places, self.penalty, start)
        assert null is not None
        self.null, self.prices, self.ranks = null, np.zeros(len(problem.sizes)), problem.sizes
        if problem.groups is not None:
            around = GroupNeighbours(problem, problem.free, [], null)
            self.prices, self.ranks = around.noise()
        self.settle(_Fitted([], places, null, null.objective))

    # -- where the search is ------------------------------------------------------------------

    def paid(self, order: list[int]) -> float:
        """The prices of a support."""
        return float(self.prices[order].sum()) if self.problem.groups is not None else 0.0

    @property
    def _price_query(self) -> np.ndarray | float:
        """Prices beside gains: single features have none."""
        return self.prices if self.problem.groups is not None else 0.0

    def settle(self, found: _Fitted) -> None:
        """Go to a support."""
        order, places, fit, _ = found
        if isinstance(fit, Settled):
            parts = np.split(places[self.n_free :], np.cumsum(self.problem.sizes[order])[:-1])
            at = dict(zip(order, parts, strict=False))
            places = np.concatenate([places[: self.n_free], *(at[j] for j in fit.order)])
        moved = np.flatnonzero(places != np.arange(len(places)))
        self.pool[moved] = self.pool[places[moved]]
        self.now, self._loaded = (
            fit if isinstance(fit, Settled) else self._make_result(order, fit),
            0,
        )

    def _make_result(self, order: list[int], fit: RidgeFit) -> Settled:
        problem, A = self.problem, self.pool[: len(fit.W)].T
        if problem.ridge == 0.0:
            check_optimum(problem.loss, A, fit, null_curvature(problem.loss))
        kind = Neighbours if problem.groups is None else GroupNeighbours
        around = kind(problem, A, order, fit)
        if self.company is not None:
            self._pass_over(self.company, around, order)
        self.gains, costs = around.gains, around.costs
        best = self._best(around)
        tries = MIN_TRIES if self.n_swaps else 0
        if self.n_swaps and fit.W.size <= MAX_DENSE:
            tries = max(tries, min(MAX_TRIES, TRIES_TIMES_FEATURES // max(len(order), 1)))
        exchanges = [
            (place, feature)
            for decrease, place, feature in around.exchanges(tries, self._price_query)
            if decrease >= -MAX_PROMISED_LOSS * costs[place]
            and (
                self.company is None
                or self.company.closest(feature, without=[order[place]]) is None
            )
        ]
        gain = float(self.gains[best])
        entrants = [best] if gain > 0.0 else []
        entrants = list(dict.fromkeys([*entrants, *(feature for _, feature in exchanges)]))
        ends = accumulate([self.n_free, *problem.sizes[[*order, *entrants]].tolist()])
        settled = Settled(
            *(order, fit.W, fit.objective, fit.optimality, costs, gain),
            *(entrants, exchanges, around.wider(entrants), list(pairwise(ends))),
        )
        self.known[frozenset(order)] = settled
        return settled

    def _best(self, around: Neighbours) -> int:
        """The feature that gains most beyond its price."""
        return int(where(around.gains > 0.0, around.gains - self._price_query, -np.inf).argmax())

    def _pass_over(self, company: Company, around: Neighbours, order: list[int]) -> None:
        """Shut near copies of the support out, until the best feature is none."""
        company.become(order)
        for unit in company.units:
            around.shut(np.fromiter(company.redundancy.found.get(unit, ()), dtype=np.int64))
        while around.gains[best := self._best(around)] > 0.0:
            if (near := company.closest(best)) is None:
                return
            around.shut(company.redundancy.copies(near))

    def pass_nothing_over(self) -> None:
        """All other features are used up: judge those that were passed over too."""
        self.company = None
        self.known.clear()
        found = self._fit_columns(self.now.order, np.arange(len(self.now.W)))
        assert found is not None
        self.settle(found)

    def restart(self) -> None:
        """Back to no feature, and to passing over near copies of others."""
        redundancy = self.problem.redundancy
        if redundancy is not None and self.company is None:
            self.company = Company(redundancy)
            self.known.clear()
            self.settle(_Fitted([], np.arange(self.n_free), self.null, self.null.objective))
        self.now, self._loaded = self.known[frozenset()], 0

    # -- where it can go ----------------------------------------------------------------------

    def _fit_columns(
        self, order: list[int], places: np.ndarray, n_entrants: int = 0, limit: float = np.inf
    ) -> _Fitted | None:
        """A fit on columns of the support and of the first entrants."""
        self._load(n_entrants)
        known, paid = self.known.get(frozenset(order)), self.paid(order)
        fit: Settled | RidgeFit | None = known
        if fit is None:
            start = np.zeros((len(places), self.null.W.shape[1]))
            start[: self.n_free] = self.null.W
            fit = self.fits(
                *(self.pool, places, self.penalty, start),
                model=self.now.model,
                safe=self.null.objective,
                limit=limit - paid,
            )
        return None if fit is None else _Fitted(order, places, fit, fit.objective + paid)

    def _load(self, count: int) -> None:
        """The columns of the first entrants."""
        if count <= self._loaded:
            return
        columns = self.problem.take_columns(self.now.entrants[:count])
        first = len(self.now.W)
        last = first + columns.shape[1]
        if last > len(self.pool):
            wider = np.empty((last + SPARE_COLUMNS, len(columns)))
            wider[:first] = self.pool[:first]
            self.pool, self.penalty = wider, self.problem.penalty(len(wider) - self.n_free)
        self.pool[first:last] = columns.T
        self._loaded = count

    def _places(self, place: int, entrant: int | None = None) -> np.ndarray:
        """Columns of the support, at one place of it those of an entrant or none."""
        spans, last, q = self.now.spans, len(self.now.order), len(self.now.W)
        first, after = spans[place] if place < last else (q, q)
        new = np.arange(0) if entrant is None else np.arange(*spans[last + entrant])
        return np.concatenate([np.arange(first), new, np.arange(after, q)])

    def _go(self, found: _Fitted | None) -> bool:
        if found is not None:
            self.settle(found)
        return found is not None

    def grow(self) -> None:
        """Add the feature that gains most."""
        order = self.now.order
        self._go(self._fit_columns([*order, self.now.entrants[0]], self._places(len(order), 0), 1))

    def shrink(self) -> None:
        """Drop the feature that costs least."""
        order = self.now.order
        place = int(np.argmin(self.now.costs - self.prices[order]))
        self._go(self._fit_columns(order[:place] + order[place + 1 :], self._places(place)))

    def exchange(self) -> bool:
        """Make the first exchange that lowers the objective, if there is one."""
        return self._go(self.better(self.now))

    def goal(self, fit: Settled) -> float:
        return fit.objective + self.paid(fit.order) - self.least

    def proposals(self, fit: Settled) -> Iterator[Proposal[_Fitted]]:
        for place, feature in fit.exchanges:
            order = [*fit.order[:place], feature, *fit.order[place + 1 :]]
            yield order, partial(self._fit_exchange, order, place, fit.entrants.index(feature))

    def _fit_exchange(self, order: list[int], place: int, entrant: int, limit: float):
        return self._fit_columns(order, self._places(place, entrant), len(self.now.entrants), limit)

    def make_support(self) -> Selected:
        now, order = self.now, np.array(self.now.order, dtype=np.int64)
        columns, W = self.problem.expand_support(now.order, now.W[self.n_free :])
        return Selected(order, columns, W, now.W[: self.n_free], now.objective, now.costs)


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
        check_bounds(problem.free, minimise_free(problem.loss, problem.free, start_from)[1])
        scale, n_visited, going = explainable(problem.loss), 0, True
        search = _Search(problem, scale, self.n_swaps)
        found, worst = [search.make_support()], search.now.optimality
        alone = remaining = search.gains

        def visit(n_swaps: int) -> None:
            nonlocal n_visited, going, worst, remaining
            for _ in range(n_swaps):
                if not search.exchange():
                    break
            n_visited += 1
            now, size = search.now, len(search.now.order)
            best = np.inf
            if size < len(found):
                best = found[size].objective + search.paid(found[size].order.tolist())
            if now.objective + search.paid(now.order) < best:
                found[size:] = [search.make_support(), *found[size + 1 :]]
                worst = max(worst, now.optimality)
                if size == len(found) - 1:
                    remaining = search.gains
            event = Event(n_visited, now.objective, n_features=size)
            going = not (callback is not None and callback(event))

        def grow(n_steps: int, n_swaps: int, stop: EndRule | None) -> None:
            while going and len(search.now.order) < n_steps:
                now = search.now
                if not now.gain > 0.0 and search.company is not None and not (n_swaps or stop):
                    n_apart[0] = len(now.order)
                    search.pass_nothing_over()
                    now = search.now
                if not now.gain > 0.0:
                    break
                n_directions = int(search.ranks[now.entrants[0]])
                if stop is not None and stop(len(now.order), now.gain, n_directions):
                    break
                search.grow()
                visit(n_swaps)

        n_apart = [self.n_steps]  # features that are no near copies of each other
        grow(self.n_steps, 0, self.stop)
        if self.n_swaps:
            n_steps = min(len(found) - 1, n_apart[0])
            search.restart()
            grow(n_steps, self.n_swaps, None)
            while going and len(search.now.order) > 1:
                search.shrink()
                visit(self.n_swaps)
        if problem.members is not None and problem.members.overlap:
            found = [selected_once(problem, one, scale) for one in found]
        values = [one.objective for one in found]
        solution = SupportsFound(found, to_numpy(alone), to_numpy(remaining), search.prices)
        return Result(solution, values[-1], worst, n_visited, worst <= 1e-8, values[1:])
