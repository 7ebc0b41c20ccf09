"""Attack everything that opens files, and the estimators, for a bounded time: `make fuzz`.

Every input is answered or refused by a ValueError or OSError. What does otherwise is kept in the
folder fuzz-corpus/ with the seed that made it, and named at the end.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "io"))

import numpy as np
from test_io_damaged import mutated, write

import sparsieve
from odd_cells import cell
from odd_inputs import KINDS, small
from sparsieve.evaluation import Folds
from sparsieve.io import read_table
from sparsieve.studies import StoreReader, Study, result_rows, run_study

SECONDS = float(os.environ.get("FUZZ_SECONDS", "180"))
KEPT = Path("fuzz-corpus")
READ = (".csv.gz", ".npz", ".mat", ".parquet", ".h5ad", ".svm")
X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.arange(12) % 2
STUDY = Path(__file__).parents[1] / "examples" / "study.toml"


def wholes(folder: Path) -> dict[str, tuple[bytes, Callable]]:
    """Sound files of every kind, and how each is opened."""
    found: dict[str, tuple[bytes, Callable]] = {}
    for suffix in READ:
        path = folder / f"whole{suffix}"
        write(path, suffix)
        found[suffix] = path.read_bytes(), lambda path: read_table(path, target="y")
    sparsieve.save(sparsieve.L20Selector(2).fit(X, Y), folder / "whole.sparsieve")
    found[".sparsieve"] = (folder / "whole.sparsieve").read_bytes(), _use_saved
    found[".toml"] = STUDY.read_bytes(), Study.from_toml
    study = Study("fuzz", ["wine"], ["fisher"], Folds(2), ks=[1, 2], classifiers=["1nn"])
    run_study(study, folder / "whole.sqlite")
    found[".sqlite"] = (folder / "whole.sqlite").read_bytes(), _read_store
    return found


def _use_saved(path: Path) -> None:
    selector = sparsieve.load(path)
    selector.transform(X)
    selector.at(1)


def _read_store(path: Path) -> None:
    with StoreReader(path) as store:
        list(result_rows(store))


def main() -> int:
    warnings.simplefilter("ignore")
    seed = int(os.environ.get("FUZZ_SEED", time.time_ns() % 2**32))
    rng, end, tried, failures = random.Random(seed), time.monotonic() + SECONDS, 0, []
    estimators = [small(cls) for cls in sparsieve.all_estimators().values()]
    print(f"seed {seed} (FUZZ_SEED={seed} repeats it), {SECONDS:g} seconds", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = wholes(folder)
        while time.monotonic() < end:
            tried += 1
            if tried % 20 == 0:
                estimator, kind = rng.choice(estimators), rng.choice(list(KINDS))
                found = cell(estimator, kind)
                if not found.fine:
                    failures.append(f"{type(estimator).__name__} on {kind}: {found}")
                continue
            suffix = rng.choice(list(files))
            whole, use = files[suffix]
            path = folder / f"attack{suffix}"
            path.write_bytes(mutated(whole, rng))
            try:
                use(path)
            except (ValueError, OSError):
                continue
            except Exception:
                KEPT.mkdir(exist_ok=True)
                kept = KEPT / f"{seed}-{tried}{suffix}"
                kept.write_bytes(path.read_bytes())
                failures.append(f"{kept}:\n{traceback.format_exc(limit=-3)}")
    print(f"{tried} attacks, {len(failures)} got through")
    print("\n".join(failures))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
