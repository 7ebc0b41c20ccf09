"""Time the CUDA kernels of ``design/_triton_kernels.py`` with several tilings.

    PYTHONPATH=src python -m benchmarks.gpu_kernels [part ...]

Every part runs in a process of its own, so that one that fails does not take the others along.
"""

from __future__ import annotations

import subprocess
import sys
import time

PARTS = ("bandwidth", "rows", "columns", "wide", "moments")
SECONDS = 75  # for a part


def timed(function, *, repeats=7):
    """Median milliseconds of a call, by CUDA events."""
    import torch

    function()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times)[len(times) // 2]


def report(name, function, n_bytes, exact=None):
    """One line: milliseconds, bandwidth, error against ``exact`` = (reference, pick)."""
    started = time.perf_counter()
    try:
        ms = timed(function)
        error = ""
        if exact is not None:
            reference, pick = exact
            found = pick(function()).double()
            worst = float((found - reference).abs().max() / reference.abs().max())
            error = f"  error {worst:.1e}"
        spent = time.perf_counter() - started
        print(f"{name:58s} {ms:8.3f} ms  {n_bytes / ms / 1e9:6.2f} TB/s{error}  ({spent:.1f} s)")
    except Exception as problem:
        print(f"{name:58s} FAILED {type(problem).__name__}: {str(problem).splitlines()[0][:150]}")
    sys.stdout.flush()


def tilings(kernels, *cases):
    """Tilings of (columns, rows, warps, stages, programs), named."""
    return [(str(case), kernels.Tiling(*case)) for case in cases]


def bandwidth():
    """What a copy and a plain product reach."""
    import torch

    X = torch.empty(1 << 30, device="cuda")
    report("copy of 4.3 GB (read and written)", lambda: X.clone(), 2 * 4 * X.numel())
    report("sum of 4.3 GB", lambda: X.sum(), 4 * X.numel())


def tall():
    """200,000 x 20,000 float32, positive entries: the hardest for sums."""
    import torch

    return torch.rand((200_000, 20_000), device="cuda")


def rows():
    """X W for 10 classes."""
    import torch

    from sparsieve.scale.gpu import _triton_kernels as kernels

    X = tall()
    W = torch.rand((X.shape[1], 10), device="cuda")
    exact = (X[:2000].double() @ W.double(), lambda out: out[:2000])
    n_bytes = 4 * X.numel()
    report("XW torch float32", lambda: X @ W, n_bytes, exact)
    wide = torch.zeros((X.shape[1], 32), device="cuda")
    wide[:, :10] = W
    torch.set_float32_matmul_precision("high")
    report("XW torch TF32, padded to 32", lambda: (X @ wide)[:, :10], n_bytes, exact)
    torch.set_float32_matmul_precision("highest")
    cases = tilings(
        kernels,
        (64, 128, 4, 3, 8),
        (64, 128, 4, 2, 8),
        (64, 64, 4, 3, 8),
        (64, 256, 8, 3, 8),
    )
    for name, tiling in cases:
        report(f"XW {name}", lambda t=tiling: kernels.multiply_rows(X, W, tiling=t), n_bytes, exact)


def columns():
    """X'R for 10 classes."""
    import torch

    from sparsieve.scale.gpu import _triton_kernels as kernels

    X = tall()
    R = torch.rand((len(X), 10), device="cuda")
    exact = (X[:, :256].double().T @ R.double(), lambda out: out[:256])
    n_bytes = 4 * X.numel()
    report("X'R torch float32", lambda: X.T @ R, n_bytes, exact)
    wide = torch.zeros((len(X), 32), device="cuda")
    wide[:, :10] = R
    torch.set_float32_matmul_precision("high")
    report("X'R torch TF32, padded to 32", lambda: (X.T @ wide)[:, :10], n_bytes, exact)
    torch.set_float32_matmul_precision("highest")
    cases = tilings(
        kernels,
        (128, 32, 4, 3, 32),
        (128, 32, 4, 2, 32),
        (256, 32, 4, 3, 32),
        (256, 16, 4, 4, 32),
    )
    for name, tiling in cases:
        report(
            f"X'R {name}", lambda t=tiling: kernels.multiply_columns(X, R, tiling=t), n_bytes, exact
        )


def wide():
    """clip(X)'v of 1,000 x 1,000,000 float32 for 1, 10 and 32 vectors."""
    import torch

    from sparsieve.scale.gpu import _triton_kernels as kernels

    X = torch.randn((1000, 1_000_000), device="cuda")
    low = torch.full((X.shape[1],), -2.0, device="cuda")
    high = -low
    n_bytes = 4 * X.numel()
    v = torch.randn((1000, 1), device="cuda")
    reference = X[:, :512].clamp(-2.0, 2.0).double().T @ v.double()
    exact = (reference, lambda out: out[:512])
    report("X'v torch (not clipped)", lambda: v.T @ X, n_bytes)
    for name, tiling in tilings(
        kernels,
        (256, 32, 4, 3, 16),
        (256, 64, 4, 3, 16),
        (256, 64, 8, 3, 16),
        (512, 32, 8, 3, 16),
        (512, 32, 4, 3, 16),
        (256, 32, 8, 3, 16),
        (1024, 16, 8, 3, 16),
        (2048, 4, 8, 3, 16),
        (2048, 8, 8, 3, 16),
        (1024, 4, 4, 3, 16),
    ):
        report(
            f"clip(X)'v {name}",
            lambda t=tiling: kernels.multiply_columns(X, v, low, high, tiling=t),
            n_bytes,
            exact,
        )
    for width in (10, 32):
        U = torch.randn((1000, width), device="cuda")
        exact = (X[:, :512].clamp(-2.0, 2.0).double().T @ U.double(), lambda out: out[:512])
        for name, tiling in tilings(
            kernels,
            (128, 32, 4, 3, 32),
            (128, 32, 4, 4, 32),
            (128, 16, 4, 4, 32),
            (256, 16, 4, 4, 32),
        ):
            report(
                f"clip(X)'U {width} vectors {name}",
                lambda t=tiling, U=U: kernels.multiply_columns(X, U, low, high, tiling=t),
                n_bytes,
                exact,
            )
    W = torch.randn((X.shape[1], 10), device="cuda")
    exact = (X[:50].clamp(-2.0, 2.0).double() @ W.double(), lambda out: out[:50])
    report("clip(X)W", lambda: kernels.multiply_rows(X, W, low, high), n_bytes, exact)


def moments():
    """Means and variances in one pass."""
    import torch

    from sparsieve.scale.gpu import _triton_kernels as kernels

    for shape in ((1000, 1_000_000), (200_000, 5_000)):
        X = torch.randn(shape, device="cuda") + 100.0
        exact = (X[:, :512].double().var(dim=0, correction=0), lambda out: out[1][:512])
        for name, tiling in tilings(
            kernels,
            (256, 16, 4, 2, 16),
            (128, 32, 4, 2, 16),
            (512, 16, 8, 2, 16),
            (512, 8, 4, 2, 16),
            (1024, 4, 4, 2, 16),
            (1024, 8, 8, 2, 16),
        ):
            report(
                f"moments {shape} {name}",
                lambda t=tiling, X=X: kernels.moments(X, tiling=t),
                4 * X.numel(),
                exact,
            )


def main(arguments):
    """Run the parts named, or all of them."""
    if arguments[:1] == ["--alone"]:
        globals()[arguments[1]]()
        return
    for part in arguments or PARTS:
        print(f"-- {part}", flush=True)
        try:
            subprocess.run(
                [sys.executable, "-m", "benchmarks.gpu_kernels", "--alone", part],
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{part} took more than {SECONDS} s and was stopped", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
