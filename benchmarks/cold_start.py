"""First fits in a new process with nothing compiled: CPU seconds beyond those of a second fit.

One process per estimator, each with an empty cache for compiled functions. Importing NumPy, SciPy,
scikit-learn and numba costs the same whatever is fitted and is not counted. Python's own bytecode
is there beforehand, as it is after an installation.

    python -m benchmarks.cold_start [--size large] [--dtype float32] [name ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

#: CPU seconds that a first fit may cost more than a second one.
MOST = 2.0

SIZES = {"small": (100, 1000), "wide": (72, 7129), "large": (5000, 5000)}

FIT = """
import time, warnings
import numpy as np, scipy, sklearn.feature_selection, numba
warnings.simplefilter("ignore")
n, d = {shape}
y = np.arange(n) % 2
X = np.abs(np.random.default_rng(0).standard_normal((n, d), dtype="{dtype}"))
X[:, :12] += y[:, None] * np.arange(12, dtype="{dtype}") / 8
seconds = []
for _ in range(2):
    start = time.process_time()
    from sparsieve import {name}
    {name}().fit(X, y)
    seconds.append(time.process_time() - start)
print(*seconds)
"""


def measured(name: str, bytecode: str, size: str, dtype: str) -> tuple[float, float]:
    """CPU seconds of the first fit, imports of this library included, and of the second."""
    with tempfile.TemporaryDirectory() as cache:
        places = {"NUMBA_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode}
        environment = {**os.environ, **places}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", FIT.format(name=name, shape=SIZES[size], dtype=dtype)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    first, second = map(float, done.stdout.split())
    return first, second


def main() -> None:
    from sparsieve import all_estimators

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="estimators; all if none is named")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    asked = parser.parse_args()
    print(f"{'estimator':<28}{'first fit':>10}{'second':>9}{'more':>7}{'at most':>9}  met")
    with tempfile.TemporaryDirectory() as bytecode:
        measured("EnsembleSelector", bytecode, "small", asked.dtype)
        for name in asked.names or all_estimators():
            first, second = measured(name, bytecode, asked.size, asked.dtype)
            verdict = "yes" if first - second <= MOST else "NO"
            figures = f"{first:>10.2f}{second:>9.2f}{first - second:>7.2f}{MOST:>9.1f}"
            print(f"{name:<28}{figures}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
