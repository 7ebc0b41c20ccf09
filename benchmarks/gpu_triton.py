"""Do the Triton kernels pay? Each of them against plain torch, alone and in fits.

    PYTHONPATH=src python -m benchmarks.gpu_triton [--out gpu_triton.json] [--minutes 3]

The first table has the median milliseconds of one pass with the kernel and with plain torch, and
the largest error of either, relative to the largest entry in double precision. The second one has
the best of three fits with all kernels, with none, and with each kernel replaced by plain torch
that a fit makes use of. A kernel that brings less than 1.2 in both is not worth its lines.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

WIDE, TALL, PAIRED = (1_000, 1_000_000), (200_000, 20_000), (1_000, 100_000)
KERNELS = (
    "multiply_columns",
    "multiply_rows",
    "moments",
    "near_distances",
    "pair_distances",
    "pair_sums",
)
REPEATS, N_PAIRS, N_CHECKED = 5, 20_000, 256


@contextmanager
def kernels_without(*names: str) -> Iterator[None]:
    """Passes by the Triton kernels, except for those named, which plain torch serves."""
    from sparsieve.scale.gpu import _torch_passes as passes

    given = passes._kernels
    module = given()

    def plain(name: str) -> Callable[..., Any]:
        def pass_over(X: Any, *others: Any, **options: Any) -> Any:
            with all_plain():
                if name == "near_distances":
                    return passes.absolute_distances(X, *others, True)
                if name == "pair_distances":
                    return plain_pair_distances(X, *others)
                return getattr(passes, name)(X, *others, **options)

        return pass_over

    functions = {name: getattr(module, name) for name in (*KERNELS, "suits")}
    functions |= {name: plain(name) for name in names}
    passes._kernels = lambda: SimpleNamespace(**functions)
    try:
        yield
    finally:
        passes._kernels = given


@contextmanager
def all_plain() -> Iterator[None]:
    """All passes by plain torch."""
    from sparsieve.scale.gpu import _torch_passes as passes

    given = passes._kernels
    passes._kernels = lambda: None
    try:
        yield
    finally:
        passes._kernels = given


def plain_pair_distances(X: Any, first: Any, second: Any, per_unit: Any) -> Any:
    """Distances of pairs of rows in double precision, some pairs at a time."""
    import torch

    step = max(1, (256 << 20) // (8 * X.shape[1]))
    parts = []
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        gaps = (X[first[some]].double() - X[second[some]].double()).abs_()
        parts.append(gaps @ per_unit)
    return torch.cat(parts)


def milliseconds(function: Callable[[], Any]) -> float:
    """Median of a call, by CUDA events, after one that compiles."""
    import torch

    function()
    torch.cuda.synchronize()
    times = []
    for _ in range(REPEATS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times)[REPEATS // 2]


def passes_over(shape: tuple[int, int]) -> Iterator[tuple[str, str, Callable, Callable, Any]]:
    """(kernel, what it does, with the kernel, by plain torch, exact first entries)."""
    import torch

    from sparsieve.scale.gpu import _torch_passes as passes

    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.empty(shape, device="cuda")
    step = max(1, (1 << 28) // shape[1])
    for start in range(0, shape[0], step):
        X[start : start + step].normal_(generator=generator)
    X += 0.5  # sums without cancellation are the harder ones
    low = torch.full((shape[1],), -1.5, device="cuda")
    high = torch.full((shape[1],), 2.5, device="cuda")
    few = X[:, :N_CHECKED].double()
    clipped = few.clamp(-1.5, 2.5)

    def both(name: str, *given: Any) -> tuple[Callable, Callable]:
        function = getattr(passes, name)

        def by_torch() -> Any:
            with all_plain():
                return function(X, *given)

        return (lambda: function(X, *given)), by_torch

    for width in (1, 4, 32):
        U = torch.randn((shape[0], width), device="cuda", generator=generator)
        for words, bounds, columns in (("", (), few), (", clipped", (low, high), clipped)):
            pair = both("multiply_columns", U, *bounds)
            yield "multiply_columns", f"X'U, {width} outputs{words}", *pair, columns.T @ U.double()
    for width in (1, 10):
        W = torch.randn((shape[1], width), device="cuda", generator=generator)
        exact = X[:N_CHECKED].double() @ W.double()
        yield "multiply_rows", f"XW, {width} outputs", *both("multiply_rows", W), exact
        exact = X[:N_CHECKED].clamp(-1.5, 2.5).double() @ W.double()
        yield (
            "multiply_rows",
            f"XW, {width} outputs, clipped",
            *both("multiply_rows", W, low, high),
            exact,
        )
    weights = torch.rand(shape[0], dtype=torch.float64, device="cuda", generator=generator)
    rows = torch.randperm(shape[0], device="cuda", generator=generator)[: shape[0] // 4]
    yield "moments", "moments", *both("moments"), few.var(dim=0, correction=0)
    share = (weights / weights.sum())[:, None]
    spread = (share * (few - (share * few).sum(dim=0)) ** 2).sum(dim=0)
    yield "moments", "moments, weighted", *both("moments", weights), spread
    given = (None, low, high)
    yield "moments", "moments, clipped", *both("moments", *given), clipped.var(dim=0, correction=0)
    given = (None, None, None, rows)
    exact = few[rows].var(dim=0, correction=0)
    yield "moments", "moments of a quarter of the rows", *both("moments", *given), exact


def passes_over_pairs() -> Iterator[tuple[str, str, Callable, Callable, Any]]:
    """The same of passes that compare rows."""
    import torch

    from sparsieve.scale.gpu import _torch_passes as passes

    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn(PAIRED, device="cuda", generator=generator)
    everyone = torch.arange(PAIRED[0], device="cuda")
    units = torch.rand(PAIRED[1], dtype=torch.float64, device="cuda", generator=generator)
    places = torch.randint(PAIRED[0], (2, N_PAIRS), device="cuda", generator=generator)
    weights = torch.rand(N_PAIRS, dtype=torch.float64, device="cuda", generator=generator)

    def plain(function: Callable, *given: Any) -> Callable:
        def by_torch() -> Any:
            with all_plain():
                return function(*given)

        return by_torch

    given: tuple[Any, ...] = (X, everyone, units, True)
    exact = torch.cdist(X[:N_CHECKED].double() * units, X.double() * units, p=1.0)
    of_all = passes.absolute_distances
    yield "near_distances", "distances", lambda: of_all(*given), plain(of_all, *given), exact
    some = (X, *places, units)
    exact = plain_pair_distances(X, *places[:, :N_CHECKED], units)
    by_torch = plain(plain_pair_distances, *some)
    ours = passes.pair_distances
    yield "pair_distances", f"{N_PAIRS} distances", lambda: ours(*some), by_torch, exact
    told = (X, *places, weights)
    exact = weights @ (X[places[0], :N_CHECKED].double() - X[places[1], :N_CHECKED].double()).abs()
    sums = passes.pair_sums
    yield "pair_sums", f"sums over {N_PAIRS} pairs", lambda: sums(*told), plain(sums, *told), exact


def error_of(kernel: str, found: Any, exact: Any) -> float:
    """The largest error of the entries that are known, relative to the largest of them."""
    if isinstance(found, tuple):  # variances after means, distances before their error
        found = found[1] if kernel == "moments" else found[0]
    known = found[: len(exact)].double()
    return float((known - exact).abs().max() / exact.abs().max())


def alone(end: float) -> list[dict]:
    """A row for every pass."""
    import gc

    import torch

    rows = []
    sources = [(shape, passes_over(shape)) for shape in (WIDE, TALL)]
    for shape, found in [*sources, (PAIRED, passes_over_pairs())]:
        for kernel, what, ours, plain, exact in found:
            row: dict = {"kernel": kernel, "pass": what, "X": f"{shape[0]:,} x {shape[1]:,}"}
            if time.monotonic() > end:
                row["error"] = "no time left"
            else:
                try:
                    row["triton_ms"], row["torch_ms"] = milliseconds(ours), milliseconds(plain)
                    row["ratio"] = row["torch_ms"] / row["triton_ms"]
                    row["error_triton"] = error_of(kernel, ours(), exact)
                    row["error_torch"] = error_of(kernel, plain(), exact)
                except Exception as error:
                    row["error"] = f"{type(error).__name__}: {str(error)[:120]}"
            rows.append(row)
            print(row, flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    return rows


def fits() -> Iterator[tuple[str, Any, tuple[int, int], tuple[str, ...]]]:
    """(name, selector, shape of X, the kernels that serve it)."""
    import sparsieve as s

    products = ("multiply_columns", "moments")
    yield "F", s.FStatisticSelector(50), WIDE, ("moments",)
    yield "mRMR", s.MRMRSelector(50), WIDE, products
    yield "forward", s.RidgeForwardSelector(50), WIDE, products
    yield "forward, clipped", s.RidgeForwardSelector(50, clip=3.0), WIDE, products
    yield "L20", s.L20Selector(50), WIDE, products
    yield "L21", s.L21Selector(50), WIDE, products
    yield "RFS", s.RFSSelector(50), WIDE, ("multiply_columns", "multiply_rows", "moments")
    yield "ReliefF", s.ReliefFSelector(50), PAIRED, KERNELS[3:]


def in_fits(end: float) -> list[dict]:
    """A row for every fit."""
    from benchmarks.gpu_measure import noisy_classes
    from benchmarks.gpu_table import seconds_of

    rows, known = [], {}
    for name, selector, shape, used in fits():
        if shape not in known:
            known = {shape: noisy_classes(*shape, 4, device="cuda", seed=7)}
        X, y = known[shape]

        def best(selector: Any = selector, X: Any = X, y: Any = y) -> float:
            selector.fit(X, y)
            return 1e3 * min(seconds_of(lambda: selector.fit(X, y)) for _ in range(3))

        row: dict = {"fit": name, "X": f"{shape[0]:,} x {shape[1]:,}"}
        if time.monotonic() > end:
            row["error"] = "no time left"
        else:
            try:
                row["triton_ms"] = best()
                with all_plain():
                    row["torch_ms"] = best()
                row["without"] = {}
                for one in used:
                    with kernels_without(one):
                        row["without"][one] = best()
            except Exception as error:
                row["error"] = f"{type(error).__name__}: {str(error)[:120]}"
        rows.append(row)
        print(row, flush=True)
    return rows


def printed(rows: list[dict], fitted: list[dict]) -> None:
    """Both tables in Markdown."""
    print("\n| kernel | pass | X | Triton ms | torch ms | ratio | error, Triton | error, torch |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        numbers = [f"{row[key]:.3g}" for key in ("triton_ms", "torch_ms", "ratio") if key in row]
        numbers += [f"{row[key]:.0e}" for key in ("error_triton", "error_torch") if key in row]
        cells = [row["kernel"], row["pass"], row["X"], *(numbers or [row.get("error", "")])]
        print("| " + " | ".join(cells) + " |")
    print("\n| fit | X | Triton ms | torch ms | ratio | ratio without one kernel |")
    print("|---|---|---|---|---|---|")
    for row in fitted:
        if "torch_ms" not in row:
            print(f"| {row['fit']} | {row['X']} | {row.get('error', '')} |")
            continue
        parts = {one: spent / row["triton_ms"] for one, spent in row.get("without", {}).items()}
        words = ", ".join(f"{one} {ratio:.2f}" for one, ratio in parts.items())
        ratio = row["torch_ms"] / row["triton_ms"]
        numbers = f"{row['triton_ms']:.3g} | {row['torch_ms']:.3g} | {ratio:.2f}"
        print(f"| {row['fit']} | {row['X']} | {numbers} | {words} |")


def main() -> None:
    """Measure within the time given, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=Path("gpu_triton.json"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    import torch

    start = time.monotonic()
    rows = alone(start + 33.0 * given.minutes)
    fitted = in_fits(start + 55.0 * given.minutes)
    about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    given.out.write_text(json.dumps({**about, "passes": rows, "fits": fitted}, indent=1))
    printed(rows, fitted)


if __name__ == "__main__":
    main()
