"""A pass over X on 1 to 4 workers, measured, and on 100, simulated with what was measured.

Every worker has as many chunks, so a perfect cluster takes the same time whatever the number of
workers. The simulation (``cluster_model.py``) gets its constants from runs of their own, never
from the passes that it is compared with: passes that do nothing, chains of idle tasks, arrays sent
from one worker to another, one chunk worked on by one worker.

Four workers do not have a core each everywhere. So the comparison is with workers that *sleep* as
long as the work on a chunk takes, and return a result of the size it has: all that Dask does is
real, and nobody waits for a core. Passes that compute are compared on as many workers as leave a
core to the scheduler.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

from .cluster_model import FAN_IN, Costs, simulate
from .common import ROOT

import numpy as np  # isort: skip  # after common, which sets the number of threads

ROWS, FEATURES, CHUNKS = 20_000, 200, 8  # of a chunk; chunks per worker
FAR = 100
NETWORK = 1.25e9  # bytes per second between machines of the simulated cluster (10 Gbit/s)
NETWORK_LATENCY = 2e-4
FEW, MANY = 16, 144  # chunks of passes that do nothing


@dataclass(frozen=True)
class Pass:
    """What is done with a chunk, how results are merged, operands with a row per sample."""

    work: Callable[..., Any]
    merge: Callable[[Any, Any], Any]
    operands: Callable[[int], tuple]


def _passes() -> dict[str, Pass]:
    from sparsieve.design.blocks.moments import block_moments, joint_gram, merge_moments
    from sparsieve.design.blocks.row_blocks import add_results, transposed_product

    centre, scale = np.zeros(FEATURES), np.ones(FEATURES)
    return {
        "moments, 3 classes": Pass(
            partial(block_moments, 3), merge_moments, lambda n: (np.arange(n) % 3, None)
        ),
        "X'Y, 3 outputs": Pass(
            transposed_product, add_results, lambda n: (np.eye(3)[np.arange(n) % 3],)
        ),
        "X'X and X'Y": Pass(
            partial(joint_gram, centre, scale, np.eye(3)),
            add_results,
            lambda n: (np.eye(3)[np.arange(n) % 3], None),
        ),
    }


# -- what workers do -----------------------------------------------------------------------------


def _numbers(block_info=None) -> np.ndarray:
    """A chunk, made where it is used."""
    return np.random.default_rng(block_info[None]["chunk-location"][0]).random((ROWS, FEATURES))


def _no_numbers(block_info=None) -> np.ndarray:
    """A chunk that takes neither time nor memory."""
    return np.broadcast_to(0.0, (ROWS, FEATURES))


def _asleep(seconds: float, result: Any, block: Any, *operands: Any) -> Any:
    time.sleep(seconds)
    return copy.deepcopy(result)


def _begun(block: Any, *operands: Any) -> np.ndarray:
    return np.array([time.time()])


def _nothing(*_: object) -> None:
    return None


def _one_chunk(work: Callable, merge: Callable, operands: tuple, repeats: int) -> tuple:
    """(seconds of making and using a chunk, seconds of a merge, result), on a worker."""
    from sparsieve.design.blocks.row_blocks import BlockView

    view = BlockView(np.dtype(np.float64))
    where = {None: {"chunk-location": (0, 0)}}

    def once() -> Any:
        return work(view(_numbers(where)), *operands)

    result = once()
    merging = _timed(lambda: merge(copy.deepcopy(result), result), repeats)
    return _timed(once, repeats, min), merging, result


def _processor_seconds() -> float:
    return time.process_time()


# -- constants -----------------------------------------------------------------------------------


def _timed(work: Callable[[], object], repeats: int, typical: Callable = median) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return typical(times)


def _size(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value if isinstance(value, tuple) else vars(value).values()
    return sum(map(_size, parts))


def _design(n_chunks: int, chunk: Callable) -> Any:
    import dask.array as da

    from sparsieve.scale.cluster.arrays import DaskDesign

    chunks = ((ROWS,) * n_chunks, (FEATURES,))
    array = da.map_blocks(chunk, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))
    return DaskDesign(array).ready()


def _n_tasks(n_chunks: int) -> int:
    total = n_chunks
    while n_chunks > 1:
        n_chunks = -(-n_chunks // FAN_IN)
        total += n_chunks
    return total


def _idle_pass(client: Any, n_chunks: int, repeats: int, *operands: np.ndarray) -> np.ndarray:
    """Seconds until the first task begins; what follows: of the scheduler, of all workers.

    The latter two in processor seconds. The client and the scheduler are one process here.
    """
    design = _design(n_chunks, _no_numbers)
    found = []
    for _ in range(repeats + 1):
        workers, here, start = _all_workers(client), time.process_time(), time.time()
        first = design._reduce(_begun, *operands, merge=np.minimum)[0] - start
        here = time.process_time() - here
        found.append((first, here - first, _all_workers(client) - workers))
    return np.median(found[1:], axis=0)


def _all_workers(client: Any) -> float:
    return sum(client.run(_processor_seconds).values())


@dataclass(frozen=True)
class Machine:
    """What a pass costs whatever is done with a chunk; the names are those of ``Costs``."""

    begin: float
    announce: float
    schedule: float
    start: float
    per_byte: tuple[float, float, float]  # of the operands: adds to the three above
    hop: float
    latency: float
    bandwidth: float

    def costs(self, one: Pass, chunk: float, merging: float, result: Any) -> Costs:
        """Those of a pass."""
        size = sum(rows.nbytes for rows in one.operands(ROWS) if rows is not None)
        announce, schedule, start = size * np.array(self.per_byte)
        return Costs(
            chunk=chunk,
            merge=merging,
            result=_size(result),
            begin=self.begin + announce,
            announce=self.announce + announce,
            schedule=self.schedule + schedule,
            start=self.start + start,
            hop=self.hop,
            latency=self.latency,
            bandwidth=self.bandwidth,
        )

    def __str__(self) -> str:
        per_byte = ", ".join(f"{1e9 * cost:.1f}" for cost in self.per_byte)
        return (
            f"Dask takes {1e3 * self.begin:.0f} ms to begin and {1e3 * self.announce:.2f} ms per "
            f"chunk, the scheduler {1e3 * self.schedule:.2f} ms per task, its worker "
            f"{1e3 * self.start:.2f}, a message {1e3 * self.hop:.1f}, a fetch "
            f"{1e3 * self.latency:.1f} ms at {self.bandwidth / 1e9:.1f} GB/s; a MB of operands "
            f"adds {per_byte} ms to the second, third and fourth"
        )

    def far(self) -> Machine:
        """The same with a network between the workers."""
        latency, hop = self.latency + NETWORK_LATENCY, self.hop + NETWORK_LATENCY
        return replace(self, bandwidth=NETWORK, latency=latency, hop=hop)


def overheads(client: Any, repeats: int) -> Machine:
    """The costs that do not depend on the pass."""
    from dask import delayed
    from distributed import wait

    few, many = (_idle_pass(client, n, repeats) for n in (FEW, MANY))
    operands = np.zeros((MANY * ROWS, 3))
    loaded = _idle_pass(client, MANY, repeats, operands)
    more_chunks, more_tasks = MANY - FEW, _n_tasks(MANY) - _n_tasks(FEW)
    announce, schedule, start = np.maximum(many - few, 0.0) / (more_chunks, more_tasks, more_tasks)
    per_byte = np.maximum(loaded - many, 0.0) / operands.nbytes

    def chain(length: int) -> float:
        def once() -> None:
            link, last = delayed(_nothing, pure=False), None
            for _ in range(length):
                last = link(last)
            client.compute(last, optimize_graph=False).result()

        return _timed(once, repeats)

    hop = max((chain(21) - chain(1)) / 20 - schedule - start, 0.0) / 2
    latency, bandwidth = 0.0, np.inf
    workers = list(client.nthreads())
    if len(workers) > 1:

        def sending(size: int) -> float:
            seconds = []
            for _ in range(repeats):
                array = client.submit(np.ones, size // 8, workers=workers[0], pure=False)
                wait(array)
                begun = time.perf_counter()
                wait(client.submit(len, array, workers=workers[1], pure=False))
                seconds.append(time.perf_counter() - begun)
            return median(seconds)

        there = _timed(lambda: client.submit(_nothing, pure=False).result(), repeats)
        small, large = sending(8_000), sending(32_000_000)
        latency, bandwidth = max(small - there, 0.0), 32e6 / max(large - small, 1e-9)
    begin = few[0] - (FEW - 1) * announce
    return Machine(begin, announce, schedule, start, tuple(per_byte), hop, latency, bandwidth)


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """A client of a cluster on this machine; nothing is kept by workers without a limit."""
    from distributed import Client, LocalCluster

    how: dict[str, Any] = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with LocalCluster(n_workers=count, **how) as cluster, Client(cluster) as client:
        client.wait_for_workers(count)
        assert len(client.nthreads()) == count
        yield client


# -- the comparison ------------------------------------------------------------------------------


def work_on_one_chunk(client: Any, one: Pass, repeats: int) -> tuple[float, float, Any]:
    """(seconds of a chunk, seconds of a merge, result), of one worker while the others rest."""
    given = (one.work, one.merge, one.operands(ROWS), repeats)
    return client.submit(_one_chunk, *given, pure=False).result()


def compared(client: Any, count: int, repeats: int, kinds: list[str]) -> Iterator[tuple]:
    """(name of a pass, kind, seconds, simulated seconds, seconds of a chunk, costs)."""
    machine = overheads(client, repeats)
    print(machine)
    for name, one in _passes().items():
        for kind in kinds:
            chunk, merging, result = work_on_one_chunk(client, one, repeats)
            work, numbers = one.work, _numbers
            if kind == "asleep":
                work, numbers = partial(_asleep, chunk, result), _no_numbers
            design = _design(count * CHUNKS, numbers)
            operands = one.operands(design.shape[0])
            seconds = _timed(partial(design._reduce, work, *operands, merge=one.merge), repeats)
            expected = simulate(count, count * CHUNKS, machine.costs(one, chunk, merging, result))
            far = machine.far().costs(one, chunk, merging, result)
            yield name, kind, seconds, expected, chunk, far


def main() -> None:
    """Print what was measured, what the simulation makes of it, and 100 workers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=4, help="largest number of workers to start")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])  # of the workers
    share = ROWS * FEATURES * 8 * CHUNKS / 1e6
    cores = os.cpu_count() or 1
    print(
        f"{CHUNKS} chunks of {ROWS} x {FEATURES} float64 per worker ({share:.0f} MB); "
        f"{cores} cores, load {os.getloadavg()[0]:.1f}"
    )
    worst = {"asleep": 0.0, "computing": 0.0}
    costs: dict[str, Costs] = {}
    for count in range(1, options.most + 1):
        # The scheduler needs a core as well.
        kinds = ["asleep", "computing"] if count == 1 or count < cores else ["asleep"]
        with workers(count) as client:
            for found in compared(client, count, options.repeats, kinds):
                name, kind, seconds, expected, chunk, costs[name] = found
                error = expected / seconds - 1.0
                worst[kind] = max(worst[kind], abs(error))
                busy = CHUNKS * chunk
                print(
                    f"{name:<20}{count:>2} {kind:<10} {seconds:.3f} s, simulated {expected:.3f} "
                    f"({error:+.0%}); beside the work on chunks {seconds - busy:.3f} s, simulated "
                    f"{expected - busy:.3f}",
                    flush=True,
                )
    print(
        f"\n{FAR} workers with a core each and 10 Gbit/s between them, X of "
        f"{share * FAR / 1e3:.0f} GB (simulations of sleeping workers were off by up to "
        f"{worst['asleep']:.0%}, of computing ones by up to {worst['computing']:.0%}):"
    )
    for name, far in costs.items():
        print(
            f"{name:<20}{simulate(FAR, FAR * CHUNKS, far):.2f} s; {CHUNKS * far.chunk:.2f} s of it "
            f"work on chunks, {(FAR * CHUNKS - 1) * far.announce:.2f} s writing and reading the "
            "graph"
        )


if __name__ == "__main__":
    main()
