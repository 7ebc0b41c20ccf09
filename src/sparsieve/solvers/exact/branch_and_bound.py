"""The best k features for sure: branch and bound.

Every node of the tree has features that are in for sure and features that are out, and a lower
bound for all supports below it: the perspective relaxation's, or what all features that are not
out reach together. The node with the lowest bound comes next, and from it the search dives.

A support counts for what it reaches at most, a node and every other support for what they reach
at least, rounding included. So what the search leaves behind is no better for sure, or its bound
enters the gap that is stated.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ..._clock import Deadline
from ..base import Callback, Event, Result
from .bounds import BoundSearch
from .perspective import Node, Perspective, Search, candidates
from .support_values import SupportValues

# Nodes with at most so many supports below are decided by trying these.
MAX_LEAVES = 256


class Leaps:
    """Nodes bounded by all of their features, split by what leaving features out costs.

    Parameters
    ----------
    values : the candidates.
    k : number of features.
    """

    k: int
    values: SupportValues

    def __init__(self, values: SupportValues, k: int):
        self.values, self.k = values, k

    def branch(self, node: Node, search: Search) -> list[Node]:
        """The children of a node, each without another feature and with those before it."""
        left, free = self.k - len(node.inside), np.flatnonzero(node.free())
        if comb(len(free), left) <= MAX_LEAVES:
            search.offer(_complete_supports(node.inside, free, left), last=True)
            return []
        together = self.values.whole(np.flatnonzero(node.open), self.k)
        bound = max(node.bound, together.low)
        if bound > node.bound and search.is_done(bound):
            return []
        costs = np.zeros(len(node.open))
        costs[node.open] = together.costs
        order = free[np.argsort(-costs[free], kind="stable")][: left + 1]
        search.offer(np.concatenate([node.inside, order[:left]])[None], last=True)
        masks = np.repeat(node.open[None], left, axis=0)
        masks[np.arange(left), order[:left]] = False
        return self._children(node, order, masks, bound, search)

    def _children(self, node, order, masks, bound, search) -> list[Node]:
        size = int(masks[0].sum())
        lows = self.values.lows(np.nonzero(masks)[1].reshape(len(masks), size), self.k)
        children = []
        for i, (mask, low) in enumerate(zip(masks, np.maximum(lows, bound), strict=True)):
            if not search.is_done(float(low)):
                inside = np.concatenate([node.inside, order[:i]])
                children.append(Node(float(low), inside, mask, node.members, node.z))
        return children[::-1]


def _complete_supports(inside: np.ndarray, free: np.ndarray, left: int) -> np.ndarray:
    """All supports of these features and so many of the free ones."""
    count = comb(len(free), left)
    chosen = np.array(list(combinations(free.tolist(), left)), dtype=np.int64)
    return np.hstack([np.repeat(inside[None], count, axis=0), chosen.reshape(count, left)])


# Two objectives closer than this share of each other are not worth telling apart.
TIE_TOL = 1e-9
# So many supports are tried one by one without a tree.
MAX_ENUMERATED = 2000
# Where no bound says anything, up to so many are.
MAX_ENUMERATED_WEAK = 2_000_000
# More features than this are not factorised together at every node.
LEAPS_MAX_FEATURES = 300
# So many nodes are looked at although what is below them can hardly be better.
MAX_TIED_NODES = 100
# A root bound below this share of the best support's objective says next to nothing.
WEAK_BOUND_SHARE = 0.1


class TooManySupports(ValueError):
    """There is no ridge to bound with, and too many supports to try."""


@dataclass(frozen=True)
class BestSupport:
    """What an exact search ends with.

    Attributes
    ----------
    support : ndarray
        The best features found, sorted.
    low, high : float
        What these reach, at least and at most.
    bound : float
        No other support of this size has a lower objective.
    finished : bool
        Whether the search came to its end: a gap that is left is then due to rounding.
    """

    support: np.ndarray
    low: float
    high: float
    bound: float
    finished: bool


class Tree:
    """The search for one number of features.

    Parameters
    ----------
    search : BoundSearch
        The problem.
    k : int
        Number of features.
    start : ndarray
        A good support to begin with.
    tol : float
        Relative gap at which the search may end.
    time_limit : float
        Seconds.

    Attributes
    ----------
    result : Result of BestSupport, or None
        What the search ended with, also where an interrupt ended it.
    """

    k: int
    ridge: float
    tol: float
    unit: str
    n_nodes: int
    best: float
    high: float
    low: float

    def __init__(
        self,
        search: BoundSearch,
        k: int,
        start: np.ndarray,
        tol: float = TIE_TOL,
        time_limit: float = np.inf,
        callback: Callback | None = None,
    ):
        self.result: Result[BestSupport] | None = None
        self.deadline: Deadline = Deadline.after(time_limit)
        self.callback = callback
        self.k, self.ridge, self.tol = k, search.ridge, max(float(tol), TIE_TOL)
        self.n_nodes, self._patience = 1, MAX_TIED_NODES
        self.trace: list[float] = []
        self.closed: float = np.inf  # the least bound of all other supports that were left behind
        start = np.sort(np.asarray(start, dtype=np.int64))
        self.best, self.low, self.high = (float(one[0]) for one in search.value(start))
        bound, members, z = 0.0, start[:0], np.empty(0)
        kept, self.unit = search.choices.copy(), search.unit
        if search.has_ridge:
            bound, kept, members, z = candidates(search, k, self.high)
        kept[start] = True
        self.features: np.ndarray = np.flatnonzero(kept)
        place = np.full(len(kept), -1)
        place[self.features] = np.arange(len(self.features))
        self.support: np.ndarray = place[start]
        self.values: SupportValues = search.values(self.features)
        everything = np.ones(len(self.features), dtype=bool)
        self.root: Node = Node(bound, start[:0], everything, place[members], z)
        self._way = self._branching(bound, search.has_ridge)

    def _branching(self, bound: float, has_ridge: bool) -> Leaps | Perspective:
        values, count = self.values, len(self.features)
        n_supports = comb(count, self.k)
        together = 0.0
        n_columns = len(values.features)
        if n_columns <= min(LEAPS_MAX_FEATURES, len(values.Y) - (self.ridge == 0.0)):
            together = values.whole(np.arange(count), self.k).low
            self.root.bound = max(bound, together)
        is_weak = max(bound, together) < WEAK_BOUND_SHARE * self.best
        if not has_ridge and is_weak and n_supports > MAX_ENUMERATED_WEAK:
            raise TooManySupports(
                f"with ridge=0 each of the {n_supports:,} sets of {self.k} {self.unit}s would have "
                "to be tried; use a ridge, for example ridge=1.0"
            )
        few = n_supports <= MAX_ENUMERATED or (is_weak and n_supports <= MAX_ENUMERATED_WEAK)
        if not has_ridge or few or together > bound:
            return Leaps(values, self.k)
        return Perspective(values, self.k)

    # -- the search ----------------------------------------------------------------------

    def run(self) -> Result[BestSupport]:
        """Search until everything else is no better for sure, or time is up."""
        count = itertools.count()
        heap: list[tuple[float, int, Node]] = [(self.root.bound, next(count), self.root)]
        stopping = False
        # Of what is popped but not yet pushed back or solved, when an interrupt comes.
        pending = self.root.bound
        try:
            while heap and not stopping:
                pending = heap[0][0]
                node: Node | None = heapq.heappop(heap)[2]
                while node is not None:
                    if self.is_done(node.bound):
                        break
                    if self.deadline.is_over or self._should_stop(node, heap):
                        heapq.heappush(heap, (node.bound, next(count), node))
                        stopping = True
                        break
                    self.n_nodes += 1
                    children = self._way.branch(node, self)
                    node = None
                    for child in children[1:]:
                        heapq.heappush(heap, (child.bound, next(count), child))
                    if children:
                        node = children[0]
        except KeyboardInterrupt:
            self.result = self._result(min(self.closed, pending), False)
            raise
        bound = min([self.closed, *(bound for bound, _, _ in heap)])
        self.result = self._result(bound, not stopping)
        return self.result

    def _should_stop(self, node: Node, heap) -> bool:
        self.trace.append(self.best)
        if self.callback is None:
            return False
        least = min(node.bound, self.closed, heap[0][0] if heap else np.inf)
        note = f"{len(heap)} nodes open"
        return bool(self.callback(Event(self.n_nodes, self.best, self._gap(least), self.k, note)))

    def _result(self, bound: float, finished: bool) -> Result[BestSupport]:
        gap = self._gap(bound)
        support = np.sort(self.features[self.support])
        found = BestSupport(support, self.low, self.high, bound, finished)
        trace = self.trace or [self.best]
        return Result(found, self.best, gap, self.n_nodes, gap <= self.tol, trace)

    def _gap(self, bound: float) -> float:
        """By what share of the objective another support could be better: 0 if none is."""
        return max(self.high - bound, 0.0) / self._scale

    @property
    def _scale(self) -> float:
        return max(self.high, self.values.least)

    def settles(self, bound: float) -> bool:
        """Whether supports that reach no less than this are not better by more than ``tol``."""
        return bound >= self.high - self.tol * self._scale

    def is_done(self, bound: float) -> bool:
        """Whether supports that reach no less than this need not be looked at; leaves them behind.

        What is not better by more than ``tol`` is looked at nevertheless, as long as there is
        little of it: most of the time that shows that it is not better at all.
        """
        if bound >= self.high:
            return True
        if not self.settles(bound):
            return False
        self._patience -= 1
        if self._patience < 0:
            self.close(bound)
        return self._patience < 0

    def close(self, bound: float) -> None:
        """Leave supports behind that reach no less than this."""
        self.closed = min(self.closed, bound)

    # -- supports ------------------------------------------------------------------------

    def offer(self, supports: np.ndarray, *, last: bool) -> None:
        """Look at supports: the best of all is kept, the others are left behind if ``last``."""
        if not len(supports):
            return
        supports = np.sort(supports, axis=1)
        found = self.values.evaluate(supports)
        first = int(np.argmin(found.high))
        if found.high[first] < self.high:
            self._replace_incumbent(supports[first], *(float(one[first]) for one in found))
            self._exchange()
        if last:
            others = (supports != self.support).any(axis=1)
            self.close(float(found.low[others].min(initial=np.inf)))

    def _replace_incumbent(
        self, support: np.ndarray, value: float, low: float, high: float
    ) -> None:
        self.close(self.low)
        self.support, self.best, self.low, self.high = support, value, low, high

    def _exchange(self) -> None:
        """Improve the best support by exchanging single features."""
        improved = True
        while improved:
            improved = False
            for feature in self.support.copy():
                rest = self.support[self.support != feature]
                other = self.values.best_addition(rest)
                if other is None or other == feature:
                    continue
                support = np.sort(np.append(rest, other))
                value, low, high = (float(one[0]) for one in self.values.evaluate(support[None]))
                if high < self.high - TIE_TOL * self._scale:
                    self._replace_incumbent(support, value, low, high)
                    improved = True
