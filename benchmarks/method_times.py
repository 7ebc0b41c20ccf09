"""CPU time of every method on 100 x 20,000: what ``sparsieve methods`` prints.

``python -m benchmarks.method_times --write`` measures and replaces the packaged table; without
``--write`` the rows are only printed. One thread, CPU time of the fit alone (the process does
nothing else while it is taken, but the machine may), compiled code warm, two classes, 20
features asked for.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

from benchmarks import common

N_SAMPLES, N_FEATURES, N_SELECTED = 100, 20_000, 20
LIMIT = 300  # seconds of CPU; a method that needs more is written down as that
TABLE = common.ROOT / "src" / "sparsieve" / "method_times.csv"
FIELDS = ("method", "seconds", "samples", "features", "selected", "machine", "date", "idle")


def measure(name: str) -> float:
    """Seconds of CPU that one fit takes, in this process."""
    import resource
    import warnings
    from time import process_time

    from sparsieve.datasets.synthetic.classes import make_correlated_blocks
    from sparsieve.registry import find_selector

    def fitted(n_features: int, n_selected: int) -> float:
        data = make_correlated_blocks(
            N_SAMPLES, n_features, n_relevant=20, block_size=5, random_state=0
        )
        selector = find_selector(name)(n_features_to_select=n_selected)
        X = abs(data.X) if name == "chi-square" else data.X  # counts are not negative
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, data.y)
        return process_time() - start

    fitted(200, 5)  # compiles
    used = int(process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + LIMIT + 5, used + LIMIT + 5))
    return min(fitted(N_FEATURES, N_SELECTED), LIMIT)


def rows(names):
    idle = "yes" if os.getloadavg()[0] < 0.5 else "no"
    for name in names:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.method_times", "--only", name],
            capture_output=True, text=True, check=False, cwd=common.ROOT,
        )  # fmt: skip
        try:
            seconds = float(done.stdout)
        except ValueError:
            if done.returncode >= 0:  # not stopped by the limit
                print(f"{name} failed: {done.stderr[-300:]}", file=sys.stderr)
                continue
            seconds = float(LIMIT)
        yield {
            "method": name,
            "seconds": f"{seconds:.3g}",
            "samples": N_SAMPLES,
            "features": N_FEATURES,
            "selected": N_SELECTED,
            "machine": _machine(),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "idle": idle,
        }


def _machine() -> str:
    try:
        shown = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
        facts = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
        return facts["Model name"].strip()
    except (OSError, subprocess.CalledProcessError, KeyError):
        return platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replace the packaged table")
    parser.add_argument("--only", help="print the seconds of one method and nothing else")
    chosen = parser.parse_args()
    if chosen.only:
        print(measure(chosen.only))
        return
    from sparsieve.registry import all_methods

    measured = []
    for row in rows(all_methods()):
        print(f"{row['method']:<20}{row['seconds']:>8}", flush=True)
        measured.append(row)
    if chosen.write:
        with Path(TABLE).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(measured)


if __name__ == "__main__":
    main()
