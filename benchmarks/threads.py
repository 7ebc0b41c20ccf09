"""What a second thread gains: products and fits beside a plain product, in one run.

    python -m benchmarks.threads [--quick]

*Share* is the gain over that of ``v @ X``: what the machine itself gives to a second thread.
"""

from __future__ import annotations

import argparse
import os

THREADS = 2
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)  # before NumPy is imported

from .common import best_of  # noqa: E402

import numpy as np  # noqa: E402  # isort: skip
from threadpoolctl import threadpool_limits  # noqa: E402  # isort: skip

SIZES = ((100, 1_000_000), (1000, 160_000))
FITS = ("RidgeForwardSelector", "L20Selector", "RobustL20Selector")
WANTED = 0.8  # share, of products
N_CLASSES, K = 3, 50


def gain(work, repeats: int) -> tuple[float, float, float]:
    """(seconds by one thread, seconds by two, the first over the second)."""
    seconds = []
    for n_threads in (1, THREADS):
        with threadpool_limits(n_threads):
            seconds.append(best_of(work, repeats))
    return *seconds, seconds[0] / seconds[1]


def measured(n: int, d: int):
    """Rows of the table: what, seconds by one and by two threads, gain."""
    import sparsieve
    from sparsieve.design import as_design, standardise_columns

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d), dtype=np.float32), np.arange(n) % N_CLASSES
    v = rng.standard_normal((n, N_CLASSES), dtype=np.float32)
    design = standardise_columns(as_design(X), centre=True, scale=True, clip=3.0).design
    yield "v @ X", *gain(lambda: v[:, 0] @ X, 7)
    yield "product, clipped and scaled", *gain(lambda: design.rmatmul(v[:, :1]), 7)
    yield "three of them", *gain(lambda: design.rmatmul(v), 7)
    for name in FITS:
        selector = getattr(sparsieve, name)(n_features_to_select=K)
        yield name, *gain(lambda fit=selector.fit: fit(X, y), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(f"{'':<20}{'':<30}{'1 thread':>10}{'2 threads':>11}{'gain':>7}{'share':>7}  met")
    for n, d in SIZES[: 1 if options.quick else None]:
        plain = None
        for what, one, two, gained in measured(n, d):
            plain = gained if plain is None else plain
            share = gained / plain
            met = "" if what in (*FITS, "v @ X") else "yes" if share >= WANTED else "NO"
            size = f"{n:,} x {d:,}"
            print(
                f"{size:<20}{what:<30}{one:>8.3f} s{two:>9.3f} s{gained:>7.2f}{share:>7.2f}  {met}",
                flush=True,
            )


if __name__ == "__main__":
    main()
