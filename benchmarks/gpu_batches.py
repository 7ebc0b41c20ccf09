"""The published nmAPG and TopK for all folds of a data set as one batch, beside the CPU.

    PYTHONPATH=src python -m benchmarks.gpu_batches [file.npz ...] [--folds 10] [--device cuda]

All folds; nmAPG for two rho, every K from the solution for the K before, and TopK for every K.
Without files (X and y in .npz) two data sets are generated. The CPU solves one problem alone on
one thread, then as many as there are cores at a time; both are multiplied up to all problems. What
was solved on both is compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import benchmarks.common  # noqa: F401  (before NumPy: one thread)

# isort: split
import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian
from sparsieve.papers.robust_l20.published import NonmonotoneAPG
from sparsieve.penalties import row_norms
from sparsieve.penalties.concave import largest
from sparsieve_experiments.papers.robust_l20 import methods

SHARES = (0.001, 0.01)  # of rho_max
KS = (5, 20, 50)
GAMMA = 0.1
GENERATED = {
    "1,500 x 1,024, 20 classes": (1500, 1024, 20),
    "7,400 x 256, 10 classes": (7400, 256, 10),
}
TINY = {"120 x 60, 3 classes": (120, 60, 3)}
HEADER = (
    f"{'data':<28}{'method':<8}{'problems':>9}{'1 thread':>10}{'all cores':>11}{'batch':>9}"
    f"{'first':>8}{'ms/iter':>9}{'x thread':>10}{'x cores':>9}{'objective':>11}"
    f"{'same set':>10}{'peak GB':>9}"
)


def generated(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes whose means differ in a tenth of the features; neighbours are correlated."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.7 * X[:, :-1]
    some = rng.permutation(d)[: d // 10]
    X[:, some] += rng.standard_normal((n_classes, len(some)))[y]
    return X, y


# -- one problem on the CPU: the chain of one rho on one fold, or one K of TopK ---------------


def nmapg_alone(X: np.ndarray, y: np.ndarray, share: float) -> tuple[float, list]:
    """CPU seconds, and (objective, features, iterations) for every K."""
    problem = methods.robust_problem(X, y, GAMMA)
    problem = replace(problem, rho=share * methods.rho_max(X, GAMMA))
    fit, found = None, []
    start = time.process_time()
    for k in KS:
        fit = algorithm_2().solve(replace(problem, k=k), fit)
        found.append((fit.objective, largest(row_norms(fit.solution.W), k), fit.n_iter))
    return time.process_time() - start, found


def top_k_alone(X: np.ndarray, y: np.ndarray, k: int) -> tuple[float, list]:
    """The same for one K of TopK."""
    problem = methods.robust_problem(X, y)
    problem = replace(problem, k=k, eligible=problem.design.column_sq_norms() > 0)
    start = time.process_time()
    fit = TopKLagrangian.published().solve(problem)
    seconds = time.process_time() - start
    return seconds, [(fit.objective, fit.solution.features, fit.n_iter)]


def algorithm_2() -> NonmonotoneAPG:
    """As in the paper's figures 2 and 3."""
    return NonmonotoneAPG(
        stage_iter=methods.STAGE_ITERATIONS,
        max_iter=methods.UNLIMITED,
        tol=0.0,
        step_tol=methods.ITERATE_TOLERANCE,
    )


# -- the batch ---------------------------------------------------------------------------------


def nmapg_batch(folds: list, device: Any) -> list[list]:
    """For every fold and rho what :func:`nmapg_alone` finds."""
    from sparsieve_experiments.papers.robust_l20.batched_nmapg import Chain, batched_nmapg

    parts = [methods.robust_problem(*fold, GAMMA) for fold in folds]
    chains = [Chain([share * methods.rho_max(X, GAMMA) for X, _ in folds], KS) for share in SHARES]
    found = batched_nmapg(algorithm_2(), parts, chains, device)
    return [[[_plain(fit) for fit in chain] for chain in part] for part in found]


def top_k_batch(folds: list, device: Any) -> list[list]:
    """For every fold and K what :func:`top_k_alone` finds."""
    from sparsieve_experiments.papers.robust_l20.batched_top_k import batched_top_k

    parts = [methods.robust_problem(*fold) for fold in folds]
    found = batched_top_k(TopKLagrangian.published(), parts, KS, device)
    return [[[_plain(fit)] for fit in part] for part in found]


def _plain(fit: Any) -> tuple:
    return fit.objective, fit.features, fit.n_iter


@dataclass(frozen=True)
class Method:
    """One solver: a problem alone, all of them, and what the problems of a fold are."""

    alone: Callable[..., tuple[float, list]]
    batch: Callable[[list, Any], list[list]]
    variants: tuple


METHODS = {
    "nmAPG": Method(nmapg_alone, nmapg_batch, SHARES),
    "TopK": Method(top_k_alone, top_k_batch, KS),
}


def compared(data: str, name: str, folds: list, device: Any, n_cores: int) -> str:
    """One line of the table."""
    import torch

    method = METHODS[name]
    problems = [(f, v) for v in reversed(range(len(method.variants))) for f in range(len(folds))]
    one, _ = method.alone(*folds[0], method.variants[-1])
    some = problems[: min(n_cores, len(problems))]
    pool = Parallel(n_jobs=len(some))
    pool(delayed(method.alone)(*generated(30, 8, 2), method.variants[0]) for _ in some)  # imports
    start = time.perf_counter()
    found = pool(
        delayed(method.alone)(*folds[fold], method.variants[variant]) for fold, variant in some
    )
    cores = (time.perf_counter() - start) * len(problems) / len(some)
    seconds = []
    for _ in range(2):  # the first one also prepares the device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        start = time.perf_counter()
        batch = method.batch(folds, device)
        seconds.append(time.perf_counter() - start)
    peak = torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else float("nan")
    pairs = [
        (mine, theirs)
        for (fold, variant), (_, expected) in zip(some, found, strict=True)
        for mine, theirs in zip(batch[fold][variant], expected, strict=True)
    ]
    off = max(abs(mine[0] - theirs[0]) / theirs[0] for mine, theirs in pairs)
    same = sum(np.array_equal(mine[1], theirs[1]) for mine, theirs in pairs)
    n_iter = max(sum(fit[2] for fit in chain) for part in batch for chain in part)
    thread = one * len(problems)
    return (
        f"{data:<28}{name:<8}{len(problems):>9}{thread:>10.1f}{cores:>11.1f}{seconds[1]:>9.2f}"
        f"{seconds[0]:>8.2f}{1e3 * seconds[1] / n_iter:>9.2f}{thread / seconds[1]:>10.3g}"
        f"{cores / seconds[1]:>9.3g}{off:>11.1e}{same:>6} of {len(pairs):<3}{peak:>7.2f}"
    )


def main(arguments: list[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a small set: whether all works")
    asked = parser.parse_args(arguments)
    import torch

    if asked.device.startswith("cuda") and not torch.cuda.is_available():
        print("skipped: torch finds no CUDA device; pass --device cpu")
        return
    device = torch.device(asked.device)
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    print(
        f"{asked.folds} folds, K = {KS}; seconds; CPU: {n_cores} cores ({platform.machine()}), "
        f"device: {where}, torch {torch.__version__}.\n"
        "1 thread: CPU seconds of one problem times the number of problems."
    )
    print(HEADER, flush=True)
    for name, data in _sources(asked):
        X, y = data()
        folds = [
            (StandardScaler().fit_transform(X[train]), y[train])
            for train, _ in StratifiedKFold(asked.folds, shuffle=True, random_state=0).split(X, y)
        ]
        for method in METHODS:
            print(compared(name, method, folds, device, n_cores or 1), flush=True)


def _sources(asked: argparse.Namespace) -> list[tuple[str, Callable[[], tuple]]]:
    if asked.files:
        return [(path.stem, lambda path=path: _read(path)) for path in asked.files]
    sizes = TINY if asked.tiny else GENERATED
    return [(name, lambda size=size: generated(*size)) for name, size in sizes.items()]


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    arrays = np.load(path)
    return arrays["X"].astype(np.float64), arrays["y"]


if __name__ == "__main__":
    main()
