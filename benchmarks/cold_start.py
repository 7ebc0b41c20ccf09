"""First fits in a new process with nothing compiled: CPU seconds beyond importing the libraries.

One process per estimator, each with an empty cache for compiled functions. Importing NumPy, SciPy,
scikit-learn and numba costs the same whatever is fitted and is shown apart. Python's own bytecode
is there beforehand, as it is after an installation.

    python -m benchmarks.cold_start [name ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

#: CPU seconds that a first fit may cost.
MOST = {"L21Selector": 3.0}
MOST_OF_OTHERS = 2.0

FIT = """
import time, warnings
start = time.process_time()
import numpy, scipy, sklearn.feature_selection, numba
libraries = time.process_time() - start
import numpy as np
warnings.simplefilter("ignore")
y = np.arange(40) % 2
X = np.abs(np.random.default_rng(0).standard_normal((40, 12)) + y[:, None] * np.arange(12) / 4)
from sparsieve import {name}
{name}().fit(X, y)
print(libraries, time.process_time() - start - libraries)
"""


def measured(name: str, bytecode: str) -> tuple[float, float]:
    """CPU seconds of importing the libraries, and of everything else up to the first fit."""
    with tempfile.TemporaryDirectory() as cache:
        places = {"NUMBA_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": bytecode}
        environment = {**os.environ, **places}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", FIT.format(name=name)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    libraries, rest = map(float, done.stdout.split())
    return libraries, rest


def main(names: list[str] | None = None) -> None:
    from sparsieve import all_estimators

    if names is None:
        names = argparse_names()
    print(f"{'estimator':<28}{'libraries':>10}{'first fit':>11}{'at most':>9}  met")
    with tempfile.TemporaryDirectory() as bytecode:
        measured("EnsembleSelector", bytecode)
        for name in names or all_estimators():
            libraries, rest = measured(name, bytecode)
            most = MOST.get(name, MOST_OF_OTHERS)
            verdict = "yes" if rest <= most else "NO"
            print(f"{name:<28}{libraries:>10.2f}{rest:>11.2f}{most:>9.1f}  {verdict}", flush=True)


def argparse_names() -> list[str]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="estimators; all if none is named")
    return parser.parse_args().names


if __name__ == "__main__":
    main()
