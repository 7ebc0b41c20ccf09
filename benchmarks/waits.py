"""Seconds where people wait: a selection by default of small survival data, groups and tall tables.

CPU seconds of one thread, compiled before. The floor of a tall table is its matrix of inner
products, once; that of a small one is the same selection for classes. Then memory::

    python -m benchmarks.waits --write
"""

from __future__ import annotations

import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from benchmarks.common import conditions, write_table

import numpy as np  # isort: skip  (after common, which sets the number of threads)

MEMORY = ("ReliefFSelector", "RidgeForwardSelector", "L20Selector", "FStatisticSelector")


def survival(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, Any]:
    """Three features out of d; a third to a half of the times are censored."""
    X = rng.standard_normal((n, d))
    time = rng.exponential(np.exp(-0.7 * X[:, :3].sum(axis=1)))
    end = rng.exponential(2.0 * np.median(time), n)
    return X, (np.minimum(time, end), time < end)


def cases() -> list[tuple[str, Callable[[], object]]]:
    """What is timed, by name."""
    import sparsieve

    rng = np.random.default_rng(0)
    found: list[tuple[str, Callable[[], object]]] = []

    def add(name: str, work: Callable[[], object]) -> None:
        found.append((name, work))

    X, y = rng.standard_normal((150, 500)), rng.standard_normal(150)
    labels = (X[:, :3].sum(axis=1) + 0.7 * y > 0).astype(int)
    add("classes, 150 x 500", lambda: sparsieve.select(X, labels))
    add("the same, linear_only", lambda: sparsieve.select(X, labels, linear_only=True))
    how = {"method": "likelihood-forward"}
    add("the same, likelihood-forward", lambda: sparsieve.select(X, labels, **how))
    groups = np.arange(500) // 4
    add("groups of 4 columns", lambda: sparsieve.select(X, labels, feature_groups=groups))
    for n, d in ((120, 600), (150, 300)):
        A, times = survival(rng, n, d)
        name = f"survival, {n} x {d}"
        add(name, lambda A=A, times=times: sparsieve.select(A, times, task="survival"))
    tall = rng.standard_normal((100_000, 100))
    numbers = tall[:, :10].sum(axis=1) + rng.standard_normal(len(tall))
    add("floor: X'X of 100,000 x 100", lambda: tall.T @ tall)
    every = sparsieve.RidgeForwardSelector(100, task="regression")
    add("ridge forward, all 100 of them", lambda: every.fit(tall, numbers))
    grouped = sparsieve.L21Selector(10, feature_groups=np.arange(100) // 4, task="regression")
    add("group l2,1 path", lambda: grouped.fit(tall, numbers))
    for n in (12_000, 50_000):
        B, b = tall[:n], numbers[:n]
        add(f"numbers, {n:,} x 100", lambda B=B, b=b: sparsieve.select(B, b))
        add(f"classes, {n:,} x 100", lambda B=B, b=b: sparsieve.select(B, (b > 0).astype(int)))
    return found


def peaks() -> Iterator[tuple[str, float]]:
    """Most memory beside X, as a share of X, of fits on 2,000 x 5,000 numbers."""
    import sparsieve

    rng = np.random.default_rng(0)
    y = np.arange(2_000) % 2
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((2_000, 5_000), dtype=dtype)
        for name in MEMORY:
            selector = getattr(sparsieve, name)(10)
            selector.fit(X[:50], y[:50])  # loads and compiles
            tracemalloc.start()
            selector.fit(X, y)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield f"{name}, {np.dtype(dtype).name}", peak / X.nbytes


def main() -> None:
    """Time every case twice, the second time counts; then memory. ``--write`` keeps the table."""
    print(conditions())
    warnings.simplefilter("ignore")
    rows = [["what", "CPU seconds", "memory beside X"]]
    for name, work in cases():
        work()
        start = process_time()
        work()
        rows.append([name, f"{process_time() - start:.3f}", ""])
        print(*rows[-1], sep=", ", flush=True)
    for name, share in peaks():
        rows.append([name, "", f"{share:.2f} X"])
        print(*rows[-1], sep=", ", flush=True)
    if "--write" in sys.argv:
        write_table("waits.csv", rows)


if __name__ == "__main__":
    main()
