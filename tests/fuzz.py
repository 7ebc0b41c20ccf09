"""Attack everything that opens files, and the estimators, for a bounded time: `make fuzz`.

Hypothesis makes the attacks: damaged files of every kind, saved estimators and records with values
of other kinds or without some, studies with values of other kinds, estimators with any parameter
and any numbers. Each is answered or refused in words. What gets
through is made as small as it can be, printed, and kept in fuzz-corpus/: the file itself, and the
example, which is tried first the next time. The attacks run in a process of their own: what kills
it is kept as well, and the next round starts a new one.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "io"))

import numpy as np
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from test_io_damaged import mutated, write

import sparsieve
import sparsieve_experiments
from odd_cells import cell
from odd_inputs import KINDS, small
from sparsieve.app.io import read_table
from sparsieve.datasets.load import PAPERS
from sparsieve.scoring import Folds
from sparsieve_experiments.papers import RecordError, read_record
from sparsieve_experiments.report import reproduction_report
from sparsieve_experiments.studies import StoreReader, Study, result_rows, run_study

SECONDS = float(os.environ.get("FUZZ_SECONDS", "180"))
KEPT = Path("fuzz-corpus")
READ = (".csv.gz", ".npz", ".mat", ".parquet", ".h5ad", ".svm")
X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.arange(12) % 2
AT = "round"
LONGEST = 300  # seconds of one attack, on a busy machine
IN_A_ROUND = 25
ESTIMATORS = [small(cls) for cls in sparsieve.all_estimators().values()]
STUDY = Path(__file__).parents[1] / "examples" / "study.toml"
# Nothing to get wrong in numbers: they start processes, print, call back or move data.
LEFT_ALONE = {"n_jobs", "verbose", "callback", "selector", "estimator", "selectors", "device"}


def wholes(folder: Path) -> dict[str, tuple[bytes, Callable]]:
    """Sound files of every kind, and how each is opened."""
    found: dict[str, tuple[bytes, Callable]] = {}
    for suffix in READ:
        path = folder / f"whole{suffix}"
        write(path, suffix)
        found[suffix] = path.read_bytes(), lambda path: read_table(path, target="y")
    sparsieve.save(sparsieve.L20Selector(2).fit(X, Y), folder / "whole.sparsieve")
    found[".sparsieve"] = (folder / "whole.sparsieve").read_bytes(), sparsieve.load
    found[".toml"] = STUDY.read_bytes(), Study.from_toml
    study = Study("fuzz", ["wine"], ["fisher"], Folds(2), ks=[1, 2], classifiers=["1nn"])
    run_study(study, folder / "whole.sqlite")
    found[".sqlite"] = (folder / "whole.sqlite").read_bytes(), _read_store
    return found


def _read_store(path: Path) -> None:
    with StoreReader(path) as store:
        list(result_rows(store))


# -- attacks: each is a function of what Hypothesis draws ---------------------------------------

values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 50),
    st.sampled_from([2**31, -(2**63), 10**30]),
    st.floats(),
    st.text(max_size=8),
)
trees = st.recursive(
    values,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)

plain = trees.filter(lambda tree: _is_plain(tree))


def _is_plain(tree: Any) -> bool:
    """Whether JSON can hold it."""
    try:
        json.dumps(tree, allow_nan=False)
    except ValueError:
        return False
    return True


def attack_files(files: dict[str, tuple[bytes, Callable]], folder: Path) -> Callable:
    @given(st.sampled_from(sorted(files)), st.randoms(use_true_random=False))
    def damaged_file(suffix, random):
        whole, use = files[suffix]
        content = mutated(whole, random)
        path = folder / f"attack{suffix}"
        path.write_bytes(content)
        _allowed(lambda: use(path), (ValueError, OSError))

    return damaged_file


@functools.cache
def _saved(name: str) -> dict[str, bytes]:
    """The members of a saved file, of which the schema says what the others become."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparsieve.save(
            small(sparsieve.all_estimators()[name]).fit(np.abs(X), Y), Path(folder) / "whole"
        )
        with zipfile.ZipFile(Path(folder) / "whole") as archive:
            return {member: archive.read(member) for member in archive.namelist()}


def attack_saved(folder: Path) -> Callable:
    @given(st.sampled_from(sorted(sparsieve.all_estimators())), st.data())
    def forged_estimator(name, data):
        members = _saved(name)
        schema = json.loads(members["schema.json"])
        _spoil(schema, data, lambda tree: _places(tree)[1:])
        path = folder / "attack.sparsieve"
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in (members | {"schema.json": json.dumps(schema)}).items():
                archive.writestr(member, content)
        _allowed(lambda: sparsieve.load(path), (ValueError,))

    return forged_estimator


def attack_records(folder: Path) -> Callable:
    home = Path(sparsieve_experiments.__file__).parent / "papers" / "records"

    @given(st.sampled_from(PAPERS), st.data(), st.randoms(use_true_random=False))
    def forged_record(paper, data, random):
        copied = folder / "attacked-record"
        shutil.rmtree(copied, ignore_errors=True)
        shutil.copytree(home / paper, copied)
        file = data.draw(st.sampled_from(sorted(copied.iterdir())))
        if file.suffix == ".json":
            content = json.loads(file.read_text(encoding="utf-8"))
            _spoil(content, data, lambda tree: _places(tree)[1:])
            file.write_text(json.dumps(content), encoding="utf-8")
        else:
            file.write_bytes(mutated(file.read_bytes(), random))
        _allowed(lambda: _shown(paper, copied), (RecordError,))

    return forged_record


def _shown(paper: str, folder: Path) -> None:
    record = read_record(paper, folder)
    reproduction_report(record.reproduction)
    assert record.in_words


def _spoil(tree: Any, data: Any, places: Callable) -> None:
    """Put something else in the place of a part of a tree, or leave it out."""
    *above, last = data.draw(st.sampled_from(list(places(tree))))
    for key in above:
        tree = tree[key]
    if isinstance(tree, dict) and data.draw(st.booleans()):
        del tree[last]
    else:
        tree[last] = data.draw(plain)


def _places(tree: Any, at: tuple = ()) -> list[tuple]:
    inside = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [at, *(place for key, part in inside for place in _places(part, (*at, key)))]


@given(st.data())
def another_study(data):
    content = tomllib.loads(STUDY.read_text(encoding="utf-8"))
    place = data.draw(st.sampled_from(_places(content)[1:]))
    part = content
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = data.draw(trees)
    _allowed(lambda: Study.from_dict(copy.deepcopy(content)), (ValueError,))


@given(st.sampled_from(ESTIMATORS), st.data())
def other_parameters(estimator, data):
    names = sorted(set(estimator.get_params(deep=False)) - LEFT_ALONE)
    name = data.draw(st.sampled_from(names))
    given = {name: data.draw(trees)}
    _allowed(
        lambda: clone(estimator).set_params(**given).fit(X - X.min(), Y), (ValueError, TypeError)
    )


@given(st.sampled_from(ESTIMATORS), arrays(np.float64, (8, 4)), st.booleans())
def any_numbers(estimator, numbers, single):
    with np.errstate(over="ignore"):
        numbers = numbers.astype(np.float32) if single else numbers
    fitted = clone(estimator)
    if not _allowed(lambda: fitted.fit(numbers, np.arange(8) % 2), (ValueError,)):
        return
    for name in ("scores_", "coef_"):
        assert not np.isnan(getattr(fitted, name, 0.0)).any(), f"NaN in {name}"


@given(st.sampled_from(ESTIMATORS), st.sampled_from(sorted(KINDS)))
def odd_kinds(estimator, kind):
    found = cell(estimator, kind)
    assert found.fine, found


def _allowed(do: Callable, refusals: tuple[type[Exception], ...]) -> bool:
    """Whether it was answered; what is refused otherwise than in a short sentence is raised."""
    signal.alarm(LONGEST)
    try:
        do()
    except refusals as refusal:
        note(f"refused: {refusal}")
        if not str(refusal).strip():
            raise AssertionError("refused without a word") from refusal
        return False
    finally:
        signal.alarm(0)
    return True


# -- rounds ------------------------------------------------------------------------------------


def work(first_seed: int, number: int, end: float, folder: Path) -> None:
    """Rounds from this number on, a line for each, so that the parent knows where a crash was."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_long)
    bounded = settings(
        max_examples=IN_A_ROUND,
        deadline=None,
        database=DirectoryBasedExampleDatabase(KEPT / "examples"),
        suppress_health_check=list(HealthCheck),
    )
    on_files = (attack_files(wholes(folder), folder), attack_saved(folder), attack_records(folder))
    made = (*on_files, another_study, other_parameters, any_numbers, odd_kinds)
    attacks = [bounded(attack) for attack in made]
    while time.time() < end:
        print(AT, number, flush=True)
        attack = attacks[number % len(attacks)]
        try:
            seed(first_seed + number)(attack)()
        except Exception:
            kept = [_kept(path, first_seed, number) for path in folder.glob("attack.*")]
            print(f"{attack.__name__} {kept}\n{traceback.format_exc(limit=-4)}", flush=True)
        for path in folder.glob("attack*"):
            path.unlink() if path.is_file() else shutil.rmtree(path)
        number += 1


def _kept(path: Path, first_seed: int, number: int) -> str:
    KEPT.mkdir(exist_ok=True)
    kept = KEPT / f"{first_seed}-{number}{''.join(path.suffixes)}"
    kept.write_bytes(path.read_bytes())
    return str(kept)


def _too_long(*_: object) -> None:
    raise RuntimeError(f"took more than {LONGEST} seconds")


def main() -> int:
    first_seed = int(os.environ.get("FUZZ_SEED", time.time_ns() % 2**32))
    number, end, failures = 0, time.time() + SECONDS, 0
    print(f"seed {first_seed} (FUZZ_SEED={first_seed} repeats it), {SECONDS:g} seconds", flush=True)
    while time.time() < end:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, str(first_seed), str(number), str(end), folder]
            worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert worker.stdout is not None
            for line in worker.stdout:
                if line.startswith(AT):
                    number = int(line.split()[1])
                else:
                    failures += 1
                    print(line.rstrip(), flush=True)
            if worker.wait() != 0:  # a crash: what it was reading is still there
                kept = [_kept(path, first_seed, number) for path in Path(folder).glob("attack.*")]
                failures += 1
                print(f"round {number} ended the process ({worker.returncode}): {kept}", flush=True)
        number += 1
    print(f"{number} rounds of {IN_A_ROUND} attacks, {'some' if failures else 'none'} got through")
    return int(bool(failures))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
