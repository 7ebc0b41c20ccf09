"""A pass over X on 1 to 4 workers, measured, and on 100, simulated with what was measured.

Every worker holds as many chunks, so a perfect cluster takes the same time whatever the number of
workers. The simulation is a scheduler that hands out one task after the other, workers that do
one at a time, and the tree of merges; its constants come from runs of their own (an idle task, a
chunk worked on, an array sent from one worker to another), never from the passes that it is
compared with. Workers share the cores of this machine with each other and with whatever else runs
on it: for the comparison the work on a chunk is timed on all workers at once, for 100 workers on
one worker while the others rest.
"""

from __future__ import annotations

import argparse
import heapq
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from .common import ROOT

import numpy as np  # isort: skip  # after common, which sets the number of threads

ROWS, FEATURES, CHUNKS = 5_000, 200, 8  # of a chunk; chunks per worker
FAR = 100
NETWORK = 1.25e9  # bytes per second between machines of the simulated cluster (10 Gbit/s)
NETWORK_LATENCY = 2e-4


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes of what a pass is made of."""

    round_trip: float  # client to scheduler to worker and back
    dispatch: float  # of a task, by the scheduler
    chunk: float  # work on one chunk
    merge: float  # of two results
    result: int  # bytes
    bandwidth: float  # bytes per second between workers
    latency: float  # of fetching one result from another worker


def simulate(n_workers: int, costs: Costs, fan_in: int = 8) -> float:
    """Seconds of one pass: chunks in the order of the graph, then the tree of merges."""
    clock = costs.round_trip / 2  # of the scheduler
    free = [0.0] * n_workers
    level: list[tuple[float, int]] = []  # when a result is there, and on which worker
    for i in range(n_workers * CHUNKS):
        clock += costs.dispatch
        worker = i // CHUNKS  # neighbours lie together
        free[worker] = max(free[worker], clock) + costs.chunk
        level.append((free[worker], worker))
    while len(level) > 1:
        waiting = []
        for start in range(0, len(level), fan_in):
            parts = level[start : start + fan_in]
            home = parts[0][1]
            fetched = sum(worker != home for _, worker in parts)
            ready = max(there for there, _ in parts)
            ready += fetched * (costs.latency + costs.result / costs.bandwidth)
            heapq.heappush(waiting, (ready, start, home, len(parts)))
        following: list[tuple[float, int, int]] = []
        while waiting:
            ready, start, home, count = heapq.heappop(waiting)
            if count > 1:
                clock = max(clock, ready) + costs.dispatch
                free[home] = max(free[home], clock) + (count - 1) * costs.merge
                ready = free[home]
            following.append((start, home, ready))
        level = [(ready, home) for start, home, ready in sorted(following)]
    return level[0][0] + costs.latency + costs.result / costs.bandwidth + costs.round_trip / 2


def _timed(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def _nothing(*_: object) -> None:
    return None


def _seconds_here(work, block, operands, repeats: int) -> tuple[float, float, int]:
    """Seconds of the work on one chunk and of a merge, and bytes of the result; on a worker."""
    from sparsieve.design.blocked import BlockView

    view = BlockView(np.dtype(np.float64))
    part = work["function"](view(block), *operands)
    seconds = _timed(lambda: work["function"](view(block), *operands), repeats)
    merging = _timed(lambda: work["merge"](part, part), repeats)
    return seconds, merging, _size(part)


def _size(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value if isinstance(value, tuple) else vars(value).values()
    return sum(map(_size, parts))


def _sent(dask_worker) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def _passes(n_samples: int) -> dict[str, tuple[Callable, Callable, tuple]]:
    """Name -> (what is done with a chunk, how results are merged, operands with a row each)."""
    from sparsieve.design.blocked import added, transposed_product
    from sparsieve.design.moments import block_moments, merged
    from sparsieve.design.slabs import joint_gram

    codes = np.arange(n_samples) % 3
    Y = np.eye(3)[codes]
    centre, scale = np.zeros(FEATURES), np.ones(FEATURES)
    return {
        "moments, 3 classes": (partial(block_moments, 3), merged, (codes, None)),
        "X'Y, 3 outputs": (transposed_product, added, (Y,)),
        "X'X and X'Y": (partial(joint_gram, centre, scale, np.eye(3)), added, (Y, None)),
    }


def _machine_costs(client, repeats: int) -> tuple[float, float, float, float]:
    """(round trip, dispatch of a task, bandwidth, latency), by tasks that do nothing."""
    from dask import delayed
    from distributed import wait

    empty = delayed(_nothing, pure=False)
    round_trip = _timed(lambda: client.compute(empty()).result(), repeats)
    many = 200
    together = _timed(
        lambda: client.compute(empty(*[empty() for _ in range(many)])).result(), repeats
    )
    dispatch = max(together - round_trip, 0.0) / many
    workers = list(client.nthreads())
    if len(workers) < 2:
        return round_trip, dispatch, np.inf, 0.0

    def sending(size: int) -> float:
        seconds = []
        for _ in range(repeats):
            array = client.submit(np.ones, size // 8, workers=workers[0], pure=False)
            wait(array)
            start = time.perf_counter()
            wait(client.submit(len, array, workers=workers[1], pure=False))
            seconds.append(time.perf_counter() - start)
        return median(seconds)

    small, large = 8_000, 32_000_000
    few, lot = sending(small), sending(large)
    return round_trip, dispatch, large / max(lot - few, 1e-9), max(few - round_trip, 0.0)


def measure(n_workers: int, repeats: int) -> dict[str, tuple[float, float, Costs, Costs]]:
    """Name of a pass -> (seconds, bytes moved, costs with all at work, costs with one)."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    from sparsieve.design.dask import DaskDesign

    n_chunks = n_workers * CHUNKS
    found = {}
    with (
        LocalCluster(n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        X = da.random.standard_normal((n_chunks * ROWS, FEATURES), chunks=(ROWS, -1))
        design = DaskDesign(X).ready()
        wait(design._held)
        machine = _machine_costs(client, repeats)
        for name, (work, merge, operands) in _passes(len(X)).items():
            first = [None if rows is None else rows[:ROWS] for rows in operands]
            how = delayed({"function": work, "merge": merge}, traverse=False)
            task = delayed(_seconds_here, pure=False)(how, design._chunks[0], first, repeats)
            alone = client.compute(task).result()
            crowd = [
                client.compute(
                    delayed(_seconds_here, pure=False)(how, design._chunks[0], first, repeats),
                    workers=[worker],
                )
                for worker in client.nthreads()
            ]
            chunk, merging, size = map(median, zip(*client.gather(crowd), strict=True))
            one_pass = partial(design._reduce, work, *operands, merge=merge)
            one_pass()
            before = sum(client.run(_sent).values())
            seconds = _timed(one_pass, repeats)
            moved = (sum(client.run(_sent).values()) - before) / (repeats + 1)
            round_trip, dispatch, bandwidth, latency = machine
            costs = Costs(round_trip, dispatch, chunk, merging, int(size), bandwidth, latency)
            found[name] = seconds, moved, costs, replace(costs, chunk=alone[0], merge=alone[1])
    return found


def main() -> None:
    """Print what was measured, what the simulation makes of it, and 100 workers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=4, help="largest number of workers to start")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT / "src")  # of the workers
    share = ROWS * FEATURES * 8 * CHUNKS / 1e6
    print(
        f"{CHUNKS} chunks of {ROWS} x {FEATURES} float64 per worker ({share:.0f} MB); "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{'pass':<22}{'workers':>8}{'measured s':>12}{'simulated s':>12}{'error':>8}"
        f"{'MB moved':>10}"
    )
    errors: dict[str, list[float]] = {}
    latest: dict[str, Costs] = {}
    for n_workers in range(1, options.most + 1):
        for name, found in measure(n_workers, options.repeats).items():
            seconds, moved, costs, alone = found
            expected = simulate(n_workers, costs)
            error = expected / seconds - 1.0
            errors.setdefault(name, []).append(abs(error))
            latest[name] = alone
            print(
                f"{name:<22}{n_workers:>8}{seconds:>12.3f}{expected:>12.3f}{error:>8.0%}"
                f"{moved / 1e6:>10.2f}",
                flush=True,
            )
    print(
        f"\n{FAR} workers with a core each and 10 Gbit/s between them, X of "
        f"{share * FAR / 1e3:.0f} GB:"
    )
    for name, costs in latest.items():
        far = replace(costs, bandwidth=NETWORK, latency=NETWORK_LATENCY)
        seconds = simulate(FAR, far)
        tasks = FAR * CHUNKS * far.dispatch
        print(
            f"{name:<22}{seconds:>8.2f} s, of which {tasks:.2f} s the scheduler hands out tasks; "
            f"simulations of 1 to {options.most} were off by up to {max(errors[name]):.0%}"
        )


if __name__ == "__main__":
    main()
