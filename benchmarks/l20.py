"""The greedy l2,0 path against fastcan and homotopy iterative hard thresholding.

Run with one BLAS thread, for example::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.l20

Data come from the folder named by SPARSIEVE_DATA or from ../shared/data; what is not there is
skipped with a line that says so. Times are the least of several whole fits, compiled code warm.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from importlib.util import find_spec
from time import perf_counter

from benchmarks.common import DATA, conditions

import numpy as np  # isort: skip  (after common, which sets the number of threads)

from sparsieve import L20Selector


def load(name: str):
    """Standardised X and labels, or None."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        print(f"{name}: not in {DATA.name}, skipped")
        return None
    with np.load(path) as file:
        X, y = file["X"].astype(float), file["y"]
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


def residuals(X, Y, supports) -> np.ndarray:
    """Residual sum of squares of least squares with intercept on every support."""
    values = []
    for support in supports:
        A = np.hstack([np.ones((len(X), 1)), X[:, support]])
        R = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
        values.append(float((R**2).sum()))
    return np.array(values)


def fastest(run, repeats: int):
    """Least wall time of several runs, and the last result."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        result = run()
        times.append(perf_counter() - start)
    return min(times), result


def against_fastcan(repeats: int = 5) -> None:
    """The path k = 1..50."""
    if find_spec("fastcan") is None:
        print("fastcan is not installed, skipped")
        return
    from fastcan import FastCan

    print(conditions("fastcan"))
    print(f"{'data':<12}{'ours, s':>9}{'fastcan, s':>12}{'ratio':>8}   mean residual k = 1..50")
    for name in ("allaml", "warppie10p", "coil20", "isolet"):
        if (data := load(name)) is None:
            continue
        X, y = data
        Y = np.eye(y.max() + 1)[y]
        selector = L20Selector(n_features_to_select=50, ridge=0).fit(X, y)
        ours, selector = fastest(partial(selector.fit, X, y), repeats)
        theirs, peer = fastest(partial(FastCan(50, verbose=0).fit, X, Y), repeats)
        mine = residuals(X, Y, selector.path_.supports[1:])
        other = residuals(X, Y, [peer.indices_[:k] for k in range(1, 51)])
        print(
            f"{name:<12}{ours:>9.3f}{theirs:>12.3f}{theirs / ours:>7.1f}x   "
            f"{mine.mean():.4f} against {other.mean():.4f}"
        )


def against_homotopy() -> None:
    """Residual at equal k after refitting the support of HIHT."""
    ks = (5, 10, 20, 50)
    print(f"\n{'data':<12}{'solver':<10}{'s':>9}   residual at k = {', '.join(map(str, ks))}")
    for name in ("allaml", "glioma", "isolet", "coil20"):
        if (data := load(name)) is None:
            continue
        X, y = data
        Y = np.eye(y.max() + 1)[y]
        for solver in ("greedy", "hiht", "published"):
            selector = L20Selector(n_features_to_select=50, ridge=0, solver=solver)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds, selector = fastest(partial(selector.fit, X, y), 1)
            values = residuals(X, Y, [selector.at(k).get_support(indices=True) for k in ks])
            print(
                f"{name:<12}{solver:<10}{seconds:>9.3f}   " + "  ".join(f"{v:.4f}" for v in values)
            )


def main() -> None:
    against_fastcan()
    if "--quick" not in sys.argv:
        against_homotopy()


if __name__ == "__main__":
    main()
