"""Attack everything that opens files, and the estimators, for a bounded time: `make fuzz`.

Every input is answered or refused by a ValueError or OSError. What does otherwise is kept in the
folder fuzz-corpus/ with the seed that made it, and named at the end. The attacks run in a process
of their own: what kills it is kept as well, and the next attack starts a new one.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
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
AT = "attack"
LONGEST = 60  # seconds of one attack
ESTIMATORS = [small(cls) for cls in sparsieve.all_estimators().values()]
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


def attack(number: int, seed: int, files: dict, folder: Path) -> str:
    """One attack, the same whenever it is repeated; what escaped, or nothing."""
    rng = random.Random(f"{seed}-{number}")
    if number % 20 == 0:
        estimator, kind = rng.choice(ESTIMATORS), rng.choice(list(KINDS))
        found = cell(estimator, kind)
        return "" if found.fine else f"{type(estimator).__name__} on {kind}: {found}"
    suffix = rng.choice(list(files))
    whole, use = files[suffix]
    path = folder / f"attack{suffix}"
    content = mutated(whole, rng)
    if suffix == ".sparsieve":  # a wrong checksum would end every attack
        content = content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()
    path.write_bytes(content)
    print(AT, number, path, flush=True)
    try:
        use(path)
    except (ValueError, OSError):
        return ""
    except Exception:
        return f"{_kept(path, seed, number)}:\n{traceback.format_exc(limit=-3)}"
    return ""


def _kept(path: Path, seed: int, number: int) -> Path:
    KEPT.mkdir(exist_ok=True)
    kept = KEPT / f"{seed}-{number}{path.suffix}"
    kept.write_bytes(path.read_bytes())
    return kept


def work(seed: int, first: int, end: float, folder: Path) -> None:
    """Attack from this number on; one line per attack, so that a crash can be told apart."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_long)
    files = wholes(folder)
    number = first
    while time.time() < end:
        print(AT, number, flush=True)
        signal.alarm(LONGEST)
        wrong = attack(number, seed, files, folder)
        signal.alarm(0)
        if wrong:
            print(wrong, flush=True)
        number += 1


def _too_long(*_: object) -> None:
    raise RuntimeError(f"took more than {LONGEST} seconds")


def main() -> int:
    seed = int(os.environ.get("FUZZ_SEED", time.time_ns() % 2**32))
    number, end, failures = 0, time.time() + SECONDS, []
    print(f"seed {seed} (FUZZ_SEED={seed} repeats it), {SECONDS:g} seconds", flush=True)
    while time.time() < end:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, str(seed), str(number), str(end), folder]
            worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert worker.stdout is not None
            last: list[str] = []
            for line in worker.stdout:
                if line.startswith(AT):
                    last = line.split()
                    number = int(last[1])
                else:
                    failures.append(line.rstrip())
            if worker.wait() != 0:  # a crash: what it was reading is still there
                kept = _kept(Path(last[2]), seed, number) if len(last) > 2 else "an estimator"
                failures.append(f"attack {number} ended the process ({worker.returncode}): {kept}")
        number += 1
    print(f"{number} attacks, {'none' if not failures else 'some'} got through")
    print("\n".join(failures))
    return int(bool(failures))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
