"""What one pass over the chunks of X takes on a Dask cluster, event by event.

The client writes the graph and the scheduler reads it, which takes longer the more chunks there
are. Every worker then has two tasks at hand; when the scheduler hears that one is done, it sends
the next. Results of eight neighbours are merged on the worker that holds most of them, as soon as
the last is there, and the results of merges likewise; what lies elsewhere is fetched. The last
result travels to the client.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from dataclasses import dataclass

FAN_IN = 8
AT_HAND = 2  # tasks of a worker with one thread: Dask's worker saturation of 1.1, rounded up


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes of what a pass is made of."""

    chunk: float  # work on one chunk
    merge: float  # of two results
    result: int  # bytes
    begin: float  # from the call until the first task begins, with one chunk
    announce: float  # what every further chunk adds to that
    schedule: float  # of a task, by the scheduler, once work has begun
    start: float  # of a task, by its worker
    hop: float  # a message between the scheduler and a worker or the client
    latency: float  # of fetching results from another worker
    bandwidth: float  # bytes per second into one worker


def simulate(n_workers: int, n_chunks: int, costs: Costs) -> float:
    """Seconds of one pass."""
    return _Pass(n_workers, n_chunks, costs).seconds()


class _Pass:
    def __init__(self, n_workers: int, n_chunks: int, costs: Costs):
        self.costs, self.n_chunks = costs, n_chunks
        self.free = [0.0] * n_workers  # when a worker can begin something
        self.waiting = deque(range(n_chunks))
        self.sizes = [n_chunks]  # results by level of the tree
        while self.sizes[-1] > 1:
            self.sizes.append(-(-self.sizes[-1] // FAN_IN))
        self.holders: dict[tuple[int, int], int] = {}
        self.clock = 0.0  # when the scheduler is free
        self.events: list[tuple] = []  # (time, whether done or to be done, worker, level, place)

    def seconds(self) -> float:
        """Run until the root of the tree is there."""
        costs = self.costs
        begun = costs.begin + (self.n_chunks - 1) * costs.announce
        self.clock = begun - costs.hop
        for _ in range(AT_HAND):
            for worker in range(len(self.free)):
                self._send_chunk(worker, begun)
        while True:
            now, done, worker, level, place = heapq.heappop(self.events)
            if not done:
                self._work(now, worker, level, place)
                continue
            self.clock = max(self.clock, now) + costs.schedule
            if level == len(self.sizes) - 1:
                return self.clock + costs.hop + costs.latency + costs.result / costs.bandwidth
            self._hear(worker, level, place)

    def _send_chunk(self, worker: int, there: float) -> None:
        if self.waiting:
            heapq.heappush(self.events, (there, False, worker, 0, self.waiting.popleft()))

    def _work(self, now: float, worker: int, level: int, place: int) -> None:
        """A worker does what arrived as soon as it is free."""
        costs = self.costs
        seconds = (len(self._parts(level, place)) - 1) * costs.merge if level else costs.chunk
        self.free[worker] = max(self.free[worker], now) + costs.start + seconds
        heard = self.free[worker] + costs.hop
        heapq.heappush(self.events, (heard, True, worker, level, place))

    def _hear(self, worker: int, level: int, place: int) -> None:
        """The scheduler hears of a result: it sends the next chunk, and what can be merged."""
        costs = self.costs
        self.holders[level, place] = worker
        if level == 0:
            self._send_chunk(worker, self.clock + costs.hop)
        above = (level + 1, place // FAN_IN)
        parts = self._parts(*above)
        if len(parts) == 1:
            self._hear(worker, *above)  # nothing to merge it with
        elif all((level, part) in self.holders for part in parts):
            held = Counter(self.holders[level, part] for part in parts)
            home, count = held.most_common(1)[0]
            missing = len(parts) - count
            fetching = missing and costs.latency + missing * costs.result / costs.bandwidth
            there = self.clock + costs.hop + fetching
            heapq.heappush(self.events, (there, False, home, *above))

    def _parts(self, level: int, place: int) -> range:
        first = place * FAN_IN
        return range(first, min(first + FAN_IN, self.sizes[level - 1]))
