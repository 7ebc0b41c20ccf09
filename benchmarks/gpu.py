"""Selectors on a GPU beside all cores of the CPU: time, floor of the memory, agreement.

    PYTHONPATH=src python -m benchmarks.gpu [part ...] [--minutes 8] [--out results]

The floor of a fit is the time to read X as often as the fit did, at the bandwidth of a copy on
the same device. Writes ``results.json`` and ``results.csv`` and prints a table in Markdown. The
parts run in processes of their own: one that fails does not take the others along. cuML, which
has counterparts of some selectors, cannot be installed without a network; it is not compared.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict
from pathlib import Path

from benchmarks.gpu_measure import (
    COLUMNS,
    Meter,
    Row,
    agreement,
    bandwidth,
    line,
    noisy_classes,
    on_gpu,
)

# Parts, and the seconds that each may take.
PARTS = {"hot": 60, "wide": 150, "stream": 60, "full": 60, "errors": 30, "selectors": 300}
# -- parts -------------------------------------------------------------------------------------


def hot(speed):
    """X'P(XW - Y), 200,000 x 20,000, 10 classes."""
    import torch

    from benchmarks.gpu_kernels import timed
    from sparsieve.scale.gpu.tensor import TensorDesign

    X = torch.randn((200_000, 20_000), device="cuda")
    W = torch.randn((20_000, 10), device="cuda")
    Y = torch.randn((200_000, 10), device="cuda")
    design = TensorDesign(X)

    def ours():
        R = design.apply(W) - Y
        return design.project(R - R.mean(dim=0))

    def plain():
        R = X @ W - Y
        return X.T @ (R - R.mean(dim=0))

    some = X[:, :64].double()
    R = torch.cat([block.double() @ W.double() for block in X.split(5000)]) - Y.double()
    exact = some.T @ (R - R.mean(dim=0))
    for name, function in (("ours", ours), ("plain torch float32", plain)):
        seconds = timed(function) / 1e3
        error = float((function()[:64].double() - exact).abs().max() / exact.abs().max())
        floor = 2 * X.nbytes / speed
        yield Row(
            f"X'P(XW - Y) 200,000 x 20,000, 10 classes, {name}",
            gpu_s=seconds,
            readings=2,
            floor_s=floor,
            of_floor=seconds / floor,
            gflop=4e-9 * X.numel() * 10,
            peak_gb=torch.cuda.max_memory_allocated() / 1e9,
            agreement=f"error {error:.1e}",
        )


def wide(speed):
    """1,000 x 1,000,000 float32."""
    from sparsieve import (
        FStatisticSelector,
        L21Selector,
        MRMRSelector,
        ReliefFSelector,
        RidgeForwardSelector,
    )

    X, y = noisy_classes(1000, 1_000_000, 2, device="cuda")
    host = X.cpu().numpy()
    for selector, on_host in (
        (RidgeForwardSelector(50), True),
        (FStatisticSelector(50), True),
        (MRMRSelector(50), True),
        (ReliefFSelector(50), False),
        (L21Selector(50), True),
    ):
        if isinstance(selector, RidgeForwardSelector):
            yield path_alone(X, y, speed)
        name = f"{type(selector).__name__}(50) 1,000 x 1,000,000"
        yield from compared(name, selector, X, host if on_host else None, y, speed)


def path_alone(X, y, speed):
    """The fifty steps of forward selection, without what a fit does before and after."""
    from sparsieve.selectors.least_squares import ridge_forward

    solver = ridge_forward.ForwardSelection
    seconds, solve = [], solver.solve

    def timed_path(*given, **options):
        with Meter() as meter:
            found = solve(*given, **options)
        seconds.append(meter.seconds)
        return found

    solver.solve = timed_path
    try:
        for _ in range(3):
            ridge_forward.RidgeForwardSelector(50).fit(X, y)
    finally:
        solver.solve = solve
    if os.environ.get("PROFILE"):
        import cProfile
        import pstats

        with cProfile.Profile() as profile:
            ridge_forward.RidgeForwardSelector(50).fit(X, y)
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)
    floor = 50 * X.nbytes / speed
    return Row(
        "RidgeForwardSelector(50) 1,000 x 1,000,000, the path alone",
        gpu_s=min(seconds),
        readings=51,
        floor_s=floor,
        of_floor=min(seconds) / floor,
    )


def selectors(speed):
    """Every selector that takes X from a device, 1,000 x 30,000 float32, 4 classes."""
    import sparsieve as s

    X, y = noisy_classes(1000, 30_000, 4, device="cuda")
    X += 3.0  # chi-square wants no negative values
    X.clamp_(min=0.0)
    host = X.cpu().numpy()
    for selector in (
        s.RidgeForwardSelector(30),
        s.L20Selector(10, solver="greedy"),
        s.L20Selector(10, solver="published"),
        s.L21Selector(30),
        s.RFSSelector(20),
        s.RobustL20Selector(5),
        s.ExclusiveL21Selector(30),
        s.RLSRSelector(30),
        s.RPMFSSelector(20, max_iter=50),
        s.FStatisticSelector(30),
        s.TTestSelector(30),
        s.ChiSquareSelector(30),
        s.FisherSelector(30),
        s.MRMRSelector(30),
        s.ReliefFSelector(30, n_jobs=-1),
        s.StabilitySelection(s.RidgeForwardSelector(), n_subsamples=10, n_features_per_run=20),
        s.SelectorCV(s.RidgeForwardSelector(), ks=[5, 20]),
        s.SVMRFESelector(30, step=0.5),
    ):
        solver = getattr(selector, "solver", None)
        note = f", {solver}" if isinstance(solver, str) else ""
        name = f"{type(selector).__name__}{note} 1,000 x 30,000"
        yield from compared(name, selector, X, host, y, speed)


def compared(name, selector, X, host, y, speed):
    """One selector on the device and, where ``host`` is given, on all cores."""
    from sklearn.base import clone

    try:
        fitted, row = on_gpu(selector, X, y, speed)
        row.what = name
        if host is not None:
            start = time.perf_counter()
            theirs = clone(selector).fit(host, y)
            row.cpu_s = time.perf_counter() - start
            if row.cpu_s < 5.0:  # the first fit may have compiled something
                start = time.perf_counter()
                theirs = clone(selector).fit(host, y)
                row.cpu_s = min(row.cpu_s, time.perf_counter() - start)
            row.ratio = row.cpu_s / row.gpu_s
            row.agreement = agreement(fitted, theirs)
        yield row
    except Exception as error:
        yield Row(name, agreement=f"FAILED {type(error).__name__}: {str(error)[:200]}")


def stream(speed):
    """X in the memory of the host, sent to the device block by block."""
    import torch

    import sparsieve

    X, y = noisy_classes(4000, 1_000_000, 2, device="cuda")
    host = X.cpu()
    pinned = torch.empty(1 << 28, pin_memory=True)
    there = torch.empty(1 << 28, device="cuda")
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(4):
        there.copy_(pinned, non_blocking=True)
    torch.cuda.synchronize()
    link = 4 * there.nbytes / (time.perf_counter() - start)
    forward = [sparsieve.RidgeForwardSelector(k) for k in (5, 50)]
    for selector in (sparsieve.FStatisticSelector(50), *forward):
        name = f"{type(selector).__name__}({selector.n_features_to_select})"
        try:
            _, held = on_gpu(selector, X, y, speed)
            sent = sparsieve.on_device(host, "cuda", stream=True)
            _, row = on_gpu(selector, sent, y, link)
            row.what = f"{name} 4,000 x 1,000,000 streamed from the host"
            row.agreement = (
                f"floor at {link / 1e9:.0f} GB/s of the link; {held.gpu_s:.3f} s with X on the "
                "device; CPU/GPU not measured"
            )
            yield row
        except Exception as error:
            yield Row(name, agreement=f"FAILED streamed: {str(error)[:200]}")


def full(speed):
    """30,000 x 1,000,000 float32: 120 of the device's 139 GB."""
    import torch

    import sparsieve

    free = torch.cuda.mem_get_info()[0]
    n_samples = min(30_000, int(free - 12e9) // 4_000_000)
    X, y = noisy_classes(n_samples, 1_000_000, 2, device="cuda")
    for selector in (sparsieve.FStatisticSelector(50), sparsieve.RidgeForwardSelector(10)):
        name = f"{type(selector).__name__} {n_samples:,} x 1,000,000"
        yield from compared(name, selector, X, None, y, speed)


def errors(speed):
    """What a user reads when the device is full."""
    import numpy as np

    import sparsieve

    try:
        sparsieve.on_device(np.empty((40_000, 1_000_000), dtype=np.float32), "cuda")
    except MemoryError as error:
        yield Row("160 GB to the device", agreement=str(error))
    try:
        sparsieve.on_device(np.ones((2, 2)), "cuda:77")
    except RuntimeError as error:
        yield Row("a device that is not there", agreement=str(error))


# -- running -----------------------------------------------------------------------------------


def run_part(name: str, path: Path) -> None:
    """Run a part here, a row at a time to a file and the screen."""
    warnings.simplefilter("ignore")
    speed = bandwidth()
    with path.open("a") as rows:
        for row in globals()[name](speed):
            rows.write(json.dumps(asdict(row)) + "\n")
            rows.flush()
            print(line(asdict(row)), flush=True)


def machine() -> dict:
    """Where and when."""
    import torch

    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "bandwidth_TB_s": round(bandwidth() / 1e12, 2),
    }


def main() -> None:
    """Run the parts within the time given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=Path("gpu"))
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        run_part(given.alone[0], Path(given.alone[1]))
        return
    import torch

    if not torch.cuda.is_available():
        print("no CUDA device here: nothing to measure")
        return
    about = machine()
    print(json.dumps(about))
    print("cuML cannot be installed here without a network: not compared\n")
    print("| " + " | ".join(title for title, _ in COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS), flush=True)
    torch.cuda.empty_cache()
    end = time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.touch()
        for part in given.parts or PARTS:
            left = end - time.monotonic()
            if left < 5:
                print(f"no time left for {part}")
                continue
            command = [sys.executable, "-m", "benchmarks.gpu", "--alone", part, str(path)]
            with contextlib.suppress(subprocess.TimeoutExpired):
                allowed = min(left, PARTS[part])
                if subprocess.run(command, timeout=allowed, check=False).returncode:
                    print(f"{part} failed", flush=True)
        rows = [json.loads(text) for text in path.read_text().splitlines()]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.with_suffix(".json").write_text(json.dumps({**about, "rows": rows}, indent=1))
    with given.out.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [key for _, key in COLUMNS])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
