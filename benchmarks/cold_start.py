"""First fits in a new process with nothing compiled: CPU seconds, and what was compiled for them.

One process per case, each with an empty cache for compiled functions. Importing NumPy, SciPy,
scikit-learn and numba costs the same whatever is fitted and is not counted. Python's own bytecode
is there beforehand, as it is after an installation.

    python -m benchmarks.cold_start [--size large] [--dtype float32] [case ...]

Cases are estimators, and the calls that ``CALLS`` names. What a function that is called by another
one takes is counted as its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

#: CPU seconds of a first fit: of an estimator, and of ``select`` and ``compare``.
MOST, MOST_OF_ALL = 3.0, 4.0

SIZES = {"small": (100, 1000), "wide": (72, 7129), "large": (5000, 5000)}

GROUPED = "feature_groups=np.arange(d) // 8"
CALLS = {
    "L21Selector, groups of 8": f"ss.L21Selector({GROUPED}).fit(X, y)",
    "L21Selector, four classes": "ss.L21Selector().fit(X, classes)",
    "L21Selector, sparse, groups": f"ss.L21Selector({GROUPED}).fit(packed, y)",
    "LikelihoodL21Selector, Cox": "ss.LikelihoodL21Selector(5).fit(X, times)",
    "LikelihoodL21Selector, counts": "ss.LikelihoodL21Selector(5, task='counts').fit(X, counts)",
    "LikelihoodL21Selector, classes": "ss.LikelihoodL21Selector(5).fit(X, classes)",
    "LikelihoodL21Selector, groups": f"ss.LikelihoodL21Selector(2, {GROUPED}).fit(X, y)",
    "LikelihoodForwardSelector, Cox": "ss.LikelihoodForwardSelector(5).fit(X, times)",
    "LikelihoodForwardSelector, entry": "ss.LikelihoodForwardSelector(5).fit(X, times, entry=late)",
    "LikelihoodForwardSelector, counts": (
        "ss.LikelihoodForwardSelector(5, task='counts').fit(X, counts)"
    ),
    "select, classes": "ss.select(X, y)",
    "select, four classes": "ss.select(X, classes)",
    "select, numbers": "ss.select(X, numbers)",
    "select, counts": "ss.select(X, counts, task='counts')",
    "select, survival": "ss.select(X[:, :200], times)",
    "select, groups": f"ss.select(X, y, {GROUPED})",
    "compare": "ss.compare(X[:, :200], y)",
}

FIT = """
import json, time, warnings
import numpy as np, scipy, sklearn.feature_selection, numba
from numba.core import event
warnings.simplefilter("ignore")
n, d = {shape}
y = np.arange(n) % 2
rng = np.random.default_rng(0)
X = np.abs(rng.standard_normal((n, d), dtype="{dtype}"))
X[:, :12] += y[:, None] * np.arange(12, dtype="{dtype}") / 8
packed = scipy.sparse.csr_array(X * (X > 1.5))
classes, numbers = np.arange(n) // 2 % 4, X[:, 0] + rng.standard_normal(n)
counts = rng.poisson(np.exp(X[:, 1]))
times = np.array(
    list(zip(np.arange(n) % 5 > 0, rng.exponential(np.exp(-X[:, 11])))),
    dtype=[("event", bool), ("time", float)],
)
late = np.where(np.arange(n) % 3 == 0, 0.5 * times["time"], 0.0)

class Compilations(event.Listener):
    def __init__(self):
        self.open, self.done = [], []
    def on_start(self, event):
        self.open.append([event.data["dispatcher"].__name__, time.process_time(), 0.0])
    def on_end(self, event):
        name, start, inner = self.open.pop()
        took = time.process_time() - start
        self.done.append((name, took - inner))
        if self.open:
            self.open[-1][2] += took

compilations = Compilations()
event.register("numba:compile", compilations)
seconds = []
for _ in range(2):
    start = time.process_time()
    import sparsieve as ss
    {work}
    seconds.append(time.process_time() - start)
print(json.dumps(seconds + [compilations.done]))
"""


def measured(work: str, bytecode: str, size: str, dtype: str) -> tuple[float, float, Any]:
    """CPU seconds of the first time, imports of this library included, and of the second.

    With them the functions that were compiled, and how long each took.
    """
    with tempfile.TemporaryDirectory() as cache:
        places = {"NUMBA_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environment = {**os.environ, **places, **threads}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", FIT.format(work=work, shape=SIZES[size], dtype=dtype)],
            env=environment,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"{work}: {done.stderr.splitlines()[-1]}")
    return tuple(json.loads(done.stdout))


def main() -> None:
    from sparsieve import all_estimators

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", help="estimators and calls; all if none is named")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    asked = parser.parse_args()
    cases = {name: f"ss.{name}().fit(X, y)" for name in all_estimators()} | CALLS
    print(f"{'case':<36}{'first':>7}{'second':>8}{'at most':>8}  met  functions, the longest")
    with tempfile.TemporaryDirectory() as bytecode:
        measured(cases["EnsembleSelector"], bytecode, "small", asked.dtype)
        for name in asked.cases or cases:
            try:
                rest = asked.size, asked.dtype
                first, second, compiled = measured(cases[name], bytecode, *rest)
            except RuntimeError as error:
                print(f"{name:<36}{error}", flush=True)
                continue
            most = MOST_OF_ALL if name.startswith(("select", "compare")) else MOST
            longest = sorted(compiled, key=lambda one: -one[1])[:4]
            words = ", ".join(f"{function} {seconds:.1f}" for function, seconds in longest)
            verdict = "yes" if first <= most else "NO "
            figures = f"{first:>7.2f}{second:>8.2f}{most:>8.1f}  {verdict}"
            print(f"{name:<36}{figures}{len(compiled):>5}  {words}", flush=True)


if __name__ == "__main__":
    main()
