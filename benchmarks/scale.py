"""How it grows: seconds, passes over X and peak memory against the size of the data.

    python -m benchmarks.scale [--quick] [--gigabytes 20] [--folder PLACE]

Every figure comes from a process of its own, with one thread where OMP_NUM_THREADS and
OPENBLAS_NUM_THREADS do not say how many. *Floor* is what the passes alone
would cost at the speed of a plain product (in CPU time) or, for a file, of reading it (by the
clock), measured in the same process; *share* is the floor over the time that was taken. Exponents
are slopes of straight lines through the logarithms of CPU times.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import common  # noqa: F401  (one thread, before NumPy is imported)

import numpy as np  # isort: skip
from scipy import sparse  # isort: skip

BASE = {"n": 1000, "d": 20_000, "c": 3, "k": 20}
GROWTH = {"n": (1, 2, 4, 8), "d": (1, 2, 4, 8), "c": (1, 2, 4), "k": (1, 2, 4)}
SELECTORS = ("FStatisticSelector", "RidgeForwardSelector", "L20Selector", "L21Selector")
SPARSE = {"n": 20_000, "d": 50_000, "c": 10, "k": 50, "nonzeros": 2_000_000}
SPARSE_GROWTH = (1, 2, 4, 8)
# What METHODS of this size took before: keep it.
LARGE_SPARSE = {"n": 200_000, "d": 500_000, "c": 10, "k": 50, "nonzeros": 20_000_000}
# Losses that are sums of norms, with what is not the default: no signal to speak of, where at the
# usual strength most features take part, and sixty features with a strong one.
ROBUST: dict[str, dict] = {"RFSSelector": {"tol": 1e-4}, "RobustL20Selector": {}}
# So many features that a step of forward selection should cost what a plain product does: noise but
# for fifty features, and the same with thirty factors that all features share. What is printed
# beside the rest: the time over that of k plain products.
WIDE = {"n": 100, "d": 1_000_000, "c": 3, "k": 50}
WIDE_CASES: tuple[tuple[tuple[str, ...], dict], ...] = (
    (("RidgeForwardSelector", "L20Selector", "RobustL20Selector"), {}),
    (("RidgeForwardSelector",), {"c": 5}),
    (("RidgeForwardSelector",), {"skewed": True}),
    (("RidgeForwardSelector",), {"n": 1000, "d": 160_000}),
    (("RidgeForwardSelector",), {"n": 1000, "d": 160_000, "factors": 30}),
    (("RidgeForwardSelector",), {"n": 5000, "d": 30_000}),
)
LIMIT = "2GB"
# Selectors and numbers of features by width: wide files take a pass per feature, narrow ones two.
FILES = {
    20_000: (("FStatisticSelector", 50), ("RidgeForwardSelector", 5)),
    200: (("RidgeForwardSelector", 50), ("L21Selector", 50)),
}


# -- one measurement, in a process of its own ----------------------------------------------------


def measure(task: dict) -> dict:
    if "path" in task:
        return measure_file(task)
    X, y = made(task)
    passes = counted_passes()
    selector = built(task)
    warm(task["selector"])
    before = peak()
    passes.clear()
    start, cpu = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    v = np.ones(X.shape[0], dtype=X.dtype)
    product = least_cpu(lambda: v @ X if isinstance(X, np.ndarray) else X.T @ v)
    speed = size / product
    return {
        "plain": cpu / (task["k"] * product),
        "seconds": seconds,
        "passes": len(passes),
        "peak": peak() - before,
        "share": len(passes) * size / speed / cpu,
        "speed": speed,
        "cpu": cpu,
    }


def measure_file(task: dict) -> dict:
    from sparsieve import set_memory
    from sparsieve.scale.files.arrays import FileDesign, MappedArray

    path, size = task["path"], os.path.getsize(task["path"])
    X = np.load(path, mmap_mode="r")
    y = np.arange(X.shape[0]) % 3
    set_memory(LIMIT)
    warm(task["selector"])
    built(task | {"k": 3}).fit(FileDesign(MappedArray(X[:999]), hold=False), y[:999])
    speed = size / drained(path)
    forget(path)
    start, cpu = time.perf_counter(), time.process_time()
    selector = built(task).fit(X, y)
    seconds = time.perf_counter() - start
    passes = getattr(selector, "n_passes_", 1)
    return {
        "seconds": seconds,
        "passes": passes,
        "peak": peak(),  # of the whole process, the interpreter included
        "share": passes * size / speed / seconds,
        "speed": speed,
        "cpu": time.process_time() - cpu,
    }


def made(task: dict):
    if task.get("strong"):
        from .hard_cases import many_zeros

        return many_zeros(task["n"], task["d"], task["nonzeros"])
    rng = np.random.default_rng(0)
    y = np.arange(task["n"]) % task["c"]
    if "nonzeros" not in task:
        X = rng.standard_normal((task["n"], task["d"]), dtype=np.float32)
        X[:, :50] += rng.standard_normal((task["c"], 50), dtype=np.float32)[y] * 0.5
        if task.get("skewed"):
            np.exp(X, out=X)
        if "factors" in task:
            factors = rng.standard_normal((task["n"], task["factors"]), dtype=np.float32)
            X += factors @ rng.standard_normal((task["factors"], task["d"]), dtype=np.float32) / 2
        return X, y
    rows = rng.integers(0, task["n"], task["nonzeros"])
    columns = rng.integers(0, task["d"], task["nonzeros"])
    values = rng.random(task["nonzeros"]) + (columns % 1000 == y[rows] * 7)
    return sparse.csr_array((values, (rows, columns)), shape=(task["n"], task["d"])), y


def built(task: dict):
    import sparsieve

    name = task["selector"]
    return getattr(sparsieve, name)(n_features_to_select=task["k"], **ROBUST.get(name, {}))


def warm(name: str) -> None:
    """Compile what will be needed, on data of no size."""
    import sparsieve
    from sparsieve.design.dense import DenseDesign

    rng, DenseDesign.streams_above = np.random.default_rng(0), 0
    for n in (40, 1000):  # a step at a time, and by blocks of columns
        X = rng.standard_normal((n, 300)).astype(np.float32)
        getattr(sparsieve, name)(n_features_to_select=4).fit(X, np.arange(n) % 3)
    DenseDesign.streams_above = None


def least_cpu(work) -> float:
    """Least CPU time of several calls: on a busy machine the clock would show the others."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return max(min(times), 1e-6)


def counted_passes() -> list:
    """A list that grows by one whenever a design in memory is read as a whole."""
    from sparsieve.design import dense_products
    from sparsieve.design.dense import DenseDesign
    from sparsieve.design.sparse import SparseDesign
    from sparsieve.design.views import ClippedDense
    from sparsieve.validation import values

    seen: list[str] = []

    def noted(kind, name):
        plain = getattr(kind, name)

        def call(self, *args, **options):
            inside = bool(seen) and seen[-1] == "in"  # a clipped design asks the one below
            if not inside:
                seen.append("in")
            try:
                return plain(self, *args, **options)
            finally:
                if not inside:
                    seen[-1] = name

        setattr(kind, name, call)

    for kind in (ClippedDense, DenseDesign, SparseDesign):
        for name in ("matmul", "rmatmul", "column_moments", "group_moments", "column_sq_norms"):
            if hasattr(kind, name):
                noted(kind, name)
    for module, name in ((dense_products, "find_clip_excess"), (values, "power")):
        seen_before = getattr(module, name)
        setattr(module, name, lambda *args, run=seen_before: (seen.append("once"), run(*args))[1])
    return seen


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def forget(path: str) -> None:
    """Take a file out of the cache of the system, so that reading it means the disk."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def drained(path: str) -> float:
    """Seconds to read a file from the disk to the last byte."""
    forget(path)
    room = bytearray(64 << 20)
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(room):
            pass
    return time.perf_counter() - start


# -- all measurements ------------------------------------------------------------------------------


def run(**task) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--one", json.dumps(task)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


def show(name: str, what: str, found: dict) -> None:
    print(
        f"{name:<22}{what:<34}{found['seconds']:>9.2f} s{found['cpu']:>8.2f} s CPU"
        f"{found['passes']:>6} passes{found['peak'] / 2**20:>8.0f} MB"
        f"{found['share']:>8.0%} of floor{found['speed'] / 1e9:>7.2f} GB/s",
        flush=True,
    )


def exponents(name: str, factor: str, sizes, figures) -> None:
    slopes = {
        key: np.polyfit(np.log(sizes), np.log([max(f[key], 1e-9) for f in figures]), 1)[0]
        for key in ("cpu", "passes")
    }
    print(
        f"{name:<22}grows with {factor:<9} CPU time ^{slopes['cpu']:.2f}, "
        f"passes ^{slopes['passes']:.2f}",
        flush=True,
    )


def in_memory(quick: bool) -> None:
    for name in SELECTORS:
        for factor, times in GROWTH.items():
            sizes = [BASE[factor] * t for t in (times[:2] if quick else times)]
            figures = []
            for size in sizes:
                case = BASE | {factor: size}
                figures.append(run(selector=name, **case))
                show(name, " ".join(f"{a}={b:,}" for a, b in case.items()), figures[-1])
            exponents(name, factor, sizes, figures)
        sizes, figures = [], []
        for times in SPARSE_GROWTH[: 2 if quick else None]:
            case = SPARSE | {"nonzeros": SPARSE["nonzeros"] * times}
            sizes.append(case["nonzeros"])
            figures.append(run(selector=name, **case))
            show(name, f"sparse 20,000 x 50,000, {sizes[-1]:,}", figures[-1])
        exponents(name, "nonzeros", sizes, figures)
        if not quick:
            found = run(selector=name, **LARGE_SPARSE)
            show(name, "sparse 200,000 x 500,000, 2e7", found)


def wide(quick: bool) -> None:
    for names, other in WIDE_CASES[: 1 if quick else None]:
        for name in names:
            case = WIDE | other
            found = run(selector=name, **case)
            show(name, " ".join(f"{a}={b:,}" for a, b in case.items()), found)
            print(f"{'':<22}{found['plain']:.2f} times {case['k']} plain products", flush=True)


def robust(quick: bool) -> None:
    for name in ROBUST:
        for strong in (False, True):
            for case in (SPARSE, LARGE_SPARSE)[: 1 if quick else None]:
                size = f"sparse {case['n']:,} x {case['d']:,}{', strong' * strong}"
                show(name, size, run(selector=name, strong=strong, **case))


def from_file(gigabytes: float, folder: str | None) -> None:
    """Wide (one pass per feature) and narrow (two passes in all) files larger than the limit."""
    for d, cases in FILES.items():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "X.npy"
            written(path, int(gigabytes * 1e9 / 4 / d), d)
            drained(str(path))  # virtual disks read a new file slower the first time
            for name, k in cases:
                found = run(selector=name, path=str(path), k=k)
                show(name, f"file {gigabytes:g} GB, d={d:,}, k={k}, {LIMIT}", found)


def written(path: Path, n: int, d: int) -> None:
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    rng = np.random.default_rng(0)
    step = max(1, (64 << 20) // (4 * d))
    some = rng.standard_normal((step, d), dtype=np.float32)
    labels = np.arange(n) % 3
    for start in range(0, n, step):
        stop = min(start + step, n)
        X[start:stop] = some[: stop - start]
        X[start:stop, :50] += 0.1 * labels[start:stop, None]
    X.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--gigabytes", type=float, default=None)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--wide-only", action="store_true", help="very many features in memory")
    parser.add_argument("--files-only", action="store_true", help="leave out data in memory")
    parser.add_argument("--no-files", action="store_true", help="leave out data in files")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(json.loads(options.one))))
        return
    if not options.files_only:
        wide(options.quick)
        if options.wide_only:
            return
        in_memory(options.quick)
        robust(options.quick)
    if options.no_files:
        return
    from_file(options.gigabytes or (1.0 if options.quick else 20.0), options.folder)


if __name__ == "__main__":
    main()
