"""What the benchmark scripts share: one thread, data, timing and one kind of table."""

from __future__ import annotations

import csv
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path
from time import perf_counter

# Before NumPy and Numba are imported: everybody gets one thread.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SPARSIEVE_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Row:
    """One comparison; ``wanted`` says what was to be reached.

    ``reached`` is None where nothing could be compared: an absent peer proves nothing.
    """

    task: str
    data: str
    ours: float
    peer: str
    theirs: float | None
    wanted: str
    reached: bool | None
    note: str = ""

    def __str__(self) -> str:
        theirs = "-" if self.theirs is None else f"{self.theirs:.3f}"
        ratio = "-" if self.theirs is None else f"{self.theirs / self.ours:.1f}x"
        verdict = {True: "yes", False: "NO", None: "-"}[self.reached]
        return (
            f"{self.task:<24}{self.data:<16}{self.ours:>9.4f}  {self.peer:<24}{theirs:>9}"
            f"{ratio:>9}  {self.wanted:<10}{verdict:<5}{self.note}"
        )


HEADER = (
    f"{'task':<24}{'data':<16}{'ours, s':>9}  {'peer':<24}{'peer, s':>9}{'ratio':>9}  "
    f"{'wanted':<10}{'met':<5}note"
)


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """Least wall time of several runs, after one that is not counted."""
    if repeats > 1:
        work()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def load(name: str):
    """(X in double precision, y), or None with a line on standard error."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        print(f"skipped: no data set {name} in {DATA}", file=sys.stderr)
        return None
    arrays = np.load(path)
    return arrays["X"].astype(np.float64), arrays["y"]


def versions(*packages: str) -> str:
    """Names and installed versions: "celer 0.7.4, skglm not installed"."""

    def one(name: str) -> str:
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            return f"{name} not installed"

    return ", ".join(map(one, packages))


def conditions(*peers: str) -> str:
    """Day, processor and versions, for the line above every table of figures."""
    today = date.today()
    packages = versions("sparsieve", "numpy", "scipy", "scikit-learn", "numba", *peers)
    return (
        f"{today.day} {today:%B %Y}, {processor()}, one thread; "
        f"Python {platform.python_version()}, {packages}"
    )


def processor() -> str:
    """Name of the processor, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return found[0] if found else platform.processor() or platform.machine()


def write_table(name: str, rows: list[list[str]]) -> None:
    """Write a table of the documentation, its heading first."""
    with (ROOT / "docs" / "measured" / name).open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def show(rows, *peers: str) -> None:
    """Print the conditions with the versions of the peers, then rows as they come."""
    print(conditions(*peers), HEADER, sep="\n")
    for row in rows:
        print(row, flush=True)
