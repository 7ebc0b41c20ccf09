"""Best-first search over sets of features."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from .criteria import CFS

# Steps in a row that may fail to improve before the search ends, as in Hall (2000).
N_NO_IMPROVEMENT = 5
# A merit must grow by more than this to count as an improvement, so that rounding does not.
MERIT_TOL = 1e-12

# The merit of a set, and its members.
ScoredSet = tuple[float, tuple[int, ...]]


def best_first(criterion: CFS, candidates: np.ndarray, kept: Sequence[int] = ()) -> list[int]:
    """The set of largest merit that best-first search meets, in the order it was put together.

    Sets are opened in the order of their merit, whenever they were met: a set that looked worse
    is gone back to when its successors disappoint. All sets with one more feature are judged at
    once; of those only the next best one waits in the queue, which is enough to open every set
    in its turn. Features that are ``kept`` are in every set.
    """
    free = np.flatnonzero(candidates)
    best: list[int] = list(kept)
    best_merit = float(criterion.merits(best[:-1])[best[-1]]) if best else 0.0
    # (minus merit, age, members): the age decides between equal merits.
    queue: list[tuple[float, int, tuple[int, ...], Iterator[ScoredSet]]] = []
    seen: set[frozenset[int]] = set()
    age = 0

    def put_next_of(successors: Iterator[ScoredSet]) -> None:
        nonlocal age
        for merit, members in successors:
            if frozenset(members) not in seen:
                seen.add(frozenset(members))
                heapq.heappush(queue, (-merit, age, members, successors))
                age += 1
                return

    put_next_of(_successors(criterion, tuple(best), free))
    failures = 0
    while queue and failures < N_NO_IMPROVEMENT:
        negative, _, members, siblings = heapq.heappop(queue)
        if -negative > best_merit + MERIT_TOL:
            best, best_merit, failures = list(members), -negative, 0
        else:
            failures += 1
        put_next_of(siblings)
        put_next_of(_successors(criterion, members, free))
    return best


def _successors(criterion: CFS, members: tuple[int, ...], free: np.ndarray) -> Iterator[ScoredSet]:
    """The merits of the sets with one more feature, and these sets, best first."""
    others = free[~np.isin(free, members)]
    merits = criterion.merits(list(members))[others]
    for place in np.argsort(-merits, kind="stable").tolist():
        yield float(merits[place]), (*members, int(others[place]))
