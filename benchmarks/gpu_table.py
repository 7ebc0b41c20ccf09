"""Fits on a GPU beside the time that the device itself is busy in them.

    PYTHONPATH=src python -m benchmarks.gpu_table [--minutes 8] [--out gpu_table.json] [name ...]

measures fits of 1,000 x 1,000,000 float32 with 4 classes and 50 features: the first fit, the best
of three more, how long the device is busy in one, what the host and the device spend that time on,
whether the CPU selects the same, whether memory grows over 30 fits, and fits of 130 GB. Names are
those of ``FAST`` and ``SLOW``, or "fast" or "slow" for all of these. The likelihoods are fitted to
two classes. Of the slow ones the CPU fits 1,000 x 30,000 alone, and memory is looked at over three
fits; of one that takes more than 20 s the second fit is the last.

    PYTHONPATH=src python -m benchmarks.gpu_table --rounds 3 [--before before/src] [name ...]

measures the fits in so many processes of their own instead, each the best of three, and then what
is chosen and what memory is kept at 1,000 x 30,000. With the source of an earlier version, such as
``git archive`` gives, rounds of ``COMPARED`` with that one take turns with those of this one.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import io
import json
import os
import pstats
import subprocess
import sys
import time
import warnings
from pathlib import Path

from benchmarks.gpu_measure import Meter, agreement, bandwidth, cell, noisy_classes

SHAPE, N_CLASSES, COUNT, SEED = (1_000, 1_000_000), 4, 50, 7
SMALL = (1_000, 30_000)
FULL = (30_000, 1_080_000)
FAST = ("F", "mRMR", "forward", "L20", "L21", "RFS", "ReliefF")
SLOW = ("logistic forward", "logistic L21", "Cox L21", "stability", "CV", "FDR")
COMPARED = ("F", "L20", "RFS")
# Longer fits are made twice, and fits on the CPU that take minutes are left out.
SLOW_S, SLOW_ON_CPU = 20.0, ("ReliefF", *SLOW)


def listed() -> dict:
    """The selectors of the table, by name."""
    import sparsieve as s

    return {
        "F": s.FStatisticSelector(COUNT),
        "mRMR": s.MRMRSelector(COUNT),
        "forward": s.RidgeForwardSelector(COUNT),
        "L20": s.L20Selector(COUNT),
        "L21": s.L21Selector(COUNT),
        "RFS": s.RFSSelector(COUNT),
        "ReliefF": s.ReliefFSelector(COUNT),
        "logistic forward": s.LikelihoodForwardSelector(COUNT),
        "logistic L21": s.LikelihoodL21Selector(COUNT),
        "Cox L21": s.LikelihoodL21Selector(COUNT),
        "stability": s.StabilitySelection(s.RidgeForwardSelector(), n_subsamples=10),
        "CV": s.SelectorCV(s.RidgeForwardSelector(), ks=[5, 10, 20, 50], cv=5, n_repeats=1),
        "FDR": s.FDRSelector(random_state=0),
    }


def target(name: str, y):
    """What a selector of the table is fitted to: all classes, two of them, or times."""
    import numpy as np

    if name.startswith("logistic"):
        return (y >= N_CLASSES // 2).astype(int)
    if not name.startswith("Cox"):
        return y
    drawn = np.random.default_rng(SEED).exponential(1.0 + y)
    rows = [(time < 3.0, min(time, 3.0)) for time in drawn.tolist()]
    return np.array(rows, dtype=[("event", "?"), ("time", "f8")])


def seconds_of(function) -> float:
    """Wall time until the device has done all of it."""
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def device_profile(function) -> tuple[float | None, list[dict]]:
    """How long the device is busy, and what it does longest; None where it cannot tell."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        seconds_of(function)
    rows = []
    for event in found.key_averages():
        if str(getattr(event, "device_type", "")).endswith("CPU"):
            continue
        spent = getattr(event, "self_device_time_total", None)
        spent = getattr(event, "self_cuda_time_total", 0.0) if spent is None else spent
        if spent:
            rows.append({"what": event.key[:90], "ms": spent / 1e3, "calls": event.count})
    rows.sort(key=lambda row: -row["ms"])
    return (sum(row["ms"] for row in rows) if rows else None), rows[:10]


def host_profile(function) -> str:
    """What the host does longest, in its own time."""
    with cProfile.Profile() as profile:
        seconds_of(function)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(16)
    lines = [line for line in text.getvalue().splitlines() if line.strip()]
    return "\n".join(line[:130] for line in lines)


def measured(name: str, selector, X, y, host) -> dict:
    """All there is to say about one selector."""
    from sklearn.base import clone

    y = target(name, y)

    def fit():
        return clone(selector).fit(X, y)

    row: dict = {"name": name}
    row["first_ms"] = 1e3 * seconds_of(fit)
    is_slow = row["first_ms"] > 1e3 * SLOW_S
    row["best_ms"] = 1e3 * min(seconds_of(fit) for _ in range(1 if is_slow else 3))
    if is_slow:
        return row
    with Meter() as meter:
        found = fit()
    row["readings"], row["peak_gb"] = meter.readings, round(meter.peak, 3)
    row["busy_ms"], row["kernels"] = device_profile(fit)
    row["host"] = host_profile(fit)
    if host is not None and name not in SLOW_ON_CPU:
        start = time.perf_counter()
        theirs = clone(selector).fit(host, y)
        row["cpu_s"] = time.perf_counter() - start
        row["agreement"] = agreement(found, theirs)
    return row


def timed(names: list[str]) -> dict:
    """First fit and best of three more in ms, and what host and device spend the time on."""
    from sklearn.base import clone

    X, classes = noisy_classes(*SHAPE, N_CLASSES, device="cuda", seed=SEED)
    rows = {}
    for name in names:
        selector, y = listed()[name], target(name, classes)

        def fit(selector=selector, y=y):
            return clone(selector).fit(X, y)

        first = seconds_of(fit)
        best = min(seconds_of(fit) for _ in range(3))
        rows[name] = {"first_ms": 1e3 * first, "best_ms": 1e3 * best}
        rows[name]["busy_ms"], rows[name]["kernels"] = device_profile(fit)
        rows[name]["host"] = host_profile(fit)
    return rows


def rounds(names: list[str], count: int, before: Path | None, end: float) -> dict:
    """The times of every round, of this version and of the one before, and what is chosen."""
    versions = {"now": (Path("src"), names)}
    if before is not None:
        versions = {"before": (before, [one for one in names if one in COMPARED])} | versions
    found: dict = {version: [] for version in versions}
    for _ in range(count):
        for version, (source, some) in versions.items():
            times = elsewhere("times", some, min(150, end - time.monotonic()), source)
            if isinstance(times, str):
                print(f"{version}: {times}", flush=True)
                continue
            found[version].append(times)
            for name, row in times.items():
                spent = {key: cell(row[key]) for key in ("first_ms", "best_ms", "busy_ms")}
                print(f"{version}, {name}: {spent}", flush=True)
    found["small"] = elsewhere("small", names, min(240, end - time.monotonic()))
    return found


def table_of_rounds(names: list[str], found: dict) -> list[str]:
    """The rounds in Markdown."""
    lines = ["| fit | best ms | before, best ms | device ms | first fit ms | chosen | growth |"]
    lines.append("|---" * 7 + "|")
    small = found["small"] if isinstance(found["small"], dict) else {}
    for name in names:

        def every(key, version="now", name=name):
            given = [rows[name][key] for rows in found.get(version, []) if name in rows]
            return ", ".join(cell(value) for value in given)

        one = small.get(name, {})
        growth = [value for key, value in one.items() if key.startswith("growth")]
        columns = [every("best_ms"), every("best_ms", "before"), every("busy_ms")]
        columns += [every("first_ms"), one.get("agreement", ""), *map(str, growth)]
        lines.append(f"| {name} | " + " | ".join(columns) + " |")
    return lines


def small_fits(names: list[str]) -> dict:
    """Agreement with the CPU, and the growth of memory over 30 fits, on fewer features."""
    import torch
    from sklearn.base import clone

    X, y = noisy_classes(*SMALL, N_CLASSES, device="cuda", seed=SEED)
    host, rows = X.cpu().numpy(), {}
    classes = y
    for name in names:
        selector, y = listed()[name], target(name, classes)
        there = clone(selector).fit(X, y)
        spent = seconds_of(lambda selector=selector, y=y: clone(selector).fit(X, y))
        start = time.perf_counter()
        words = agreement(there, clone(selector).fit(host, y))
        on_cpu = time.perf_counter() - start
        del there
        gc.collect()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        n_fits = 3 if name in SLOW else 30
        for _ in range(n_fits):
            clone(selector).fit(X, y)
        gc.collect()
        torch.cuda.synchronize()
        growth = torch.cuda.memory_allocated() - before
        rows[name] = {"agreement": words, f"growth_bytes_after_{n_fits}_fits": growth}
        rows[name] |= {"device_s": spent, "cpu_s": on_cpu}
        times = f"device {spent:.3g} s, CPU {on_cpu:.3g} s"
        print(f"small {name}: {words}; growth {growth} bytes; {times}", flush=True)
    return rows


def false_discoveries() -> list[dict]:
    """FDRSelector on the device and on the CPU."""
    import sparsieve

    rows = []
    for shape in ((400, 2_000), (400, 20_000)):
        X, y = noisy_classes(*shape, N_CLASSES, device="cuda", seed=SEED)
        host = X.cpu().numpy()
        row: dict = {"shape": shape}
        for where, given in (("device_s", X), ("cpu_s", host)):
            fits = [
                seconds_of(lambda given=given, y=y: _fdr(sparsieve, given, y)) for _ in range(2)
            ]
            row[where] = min(fits)
        rows.append(row)
        print(f"FDR {row}", flush=True)
    return rows


def _fdr(sparsieve, X, y):
    return sparsieve.FDRSelector(random_state=0).fit(X, y)


def full_fits() -> list[dict]:
    """Fits of 130 GB, once each."""
    import torch

    X, y = noisy_classes(*FULL, N_CLASSES, device="cuda", seed=SEED)
    rows = []
    for name in ("F", "forward", "L21", "L20", "mRMR", "RFS"):
        try:
            torch.cuda.reset_peak_memory_stats()
            spent = seconds_of(lambda name=name: listed()[name].fit(X, y))
            peak = torch.cuda.max_memory_allocated() / 1e9
            row = {"name": name, "s": spent, "peak_gb": peak}
        except Exception as error:
            row = {"name": name, "error": f"{type(error).__name__}: {str(error)[:300]}"}
        print(f"full {row}", flush=True)
        rows.append(row)
    return rows


def print_profiles(name: str, row: dict) -> None:
    """What device and host spent the time on."""
    print(f"\n== {name} on the device\n" + "\n".join(map(str, row.get("kernels", []))))
    print(f"== {name} on the host\n{row.get('host')}")


def part(name: str, names: list[str]):
    """A part in this process."""
    if name in ("small", "times"):
        return small_fits(names) if name == "small" else timed(names)
    return full_fits() if name == "full" else false_discoveries()


def elsewhere(name: str, names: list[str], seconds: float, source: Path | None = None):
    """A part in a process of its own, which may take so long; its last line is its result.

    ``source`` is where it finds sparsieve.
    """
    if seconds < 20:
        return f"{name}: no time left"
    command = [sys.executable, "-m", "benchmarks.gpu_table", "--part", name, *names]
    there = dict(os.environ) if source is None else {**os.environ, "PYTHONPATH": str(source)}
    options: dict = {"timeout": seconds, "capture_output": True, "text": True, "env": there}
    try:
        done = subprocess.run(command, check=False, **options)
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
        output = output.decode() if isinstance(output, bytes) else output
        return f"{name}: ended after {seconds:.0f} s; {output[-1500:]}"
    print("\n".join(done.stdout.splitlines()[:-1]), flush=True)
    if done.returncode:
        return f"{name}: {done.stderr[-1500:]}"
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure within the time given; every row is written as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help='of the selectors, or "slow"; "fast" by default')
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=Path("gpu_table.json"))
    parser.add_argument("--rounds", type=int, help="in processes of their own, and nothing else")
    parser.add_argument("--before", type=Path, help="source of a version to compare with")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = {"fast": FAST, "slow": SLOW}
    names = [one for name in given.names or ["fast"] for one in sets.get(name, (name,))]
    if given.part:
        print(json.dumps(part(given.part, names)))
        return
    end = time.monotonic() + 60 * given.minutes - 15
    if given.rounds:
        found = rounds(names, given.rounds, given.before, end)
        given.out.write_text(json.dumps(found, indent=1))
        for name, row in (found["now"][-1] if found["now"] else {}).items():
            print_profiles(name, row)
        print("\n".join(["", *table_of_rounds(names, found)]))
        return
    import torch

    about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    found = {**about, "copy_TB_s": bandwidth() / 1e12, "rows": []}
    X, y = noisy_classes(*SHAPE, N_CLASSES, device="cuda", seed=SEED)
    host = X.cpu().numpy()
    for name in names:
        if end - time.monotonic() < 30:
            print(f"no time left for {name}")
            continue
        try:
            row = measured(name, listed()[name], X, y, host)
        except Exception as error:
            row = {"name": name, "error": f"{type(error).__name__}: {str(error)[:600]}"}
        found["rows"].append(row)
        given.out.write_text(json.dumps(found, indent=1))
        print({key: row[key] for key in row if key not in ("host", "kernels")}, flush=True)
    del X, host
    gc.collect()
    torch.cuda.empty_cache()
    parts = (("small", 150), ("fdr", 60), ("full", 120))
    for name, longest in parts if set(names) & set(FAST) else parts[:1]:
        left = min(longest, end - time.monotonic())
        found[name] = elsewhere(name, names, left)
        if isinstance(found[name], str):
            print(found[name], flush=True)
        given.out.write_text(json.dumps(found, indent=1))
    for row in found["rows"]:
        print_profiles(row["name"], row)
    print("\n| selector | first ms | best ms | device busy ms | readings | CPU s | chosen |")
    print("|---|---|---|---|---|---|---|")
    keys = ("name", "first_ms", "best_ms", "busy_ms", "readings", "cpu_s", "agreement")
    for row in found["rows"]:
        print("| " + " | ".join(cell(row.get(key, row.get("error"))) for key in keys) + " |")


if __name__ == "__main__":
    main()
