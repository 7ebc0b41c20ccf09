"""Compiled code that is remembered must be that of the sources as they are."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sparsieve

BELOW = """
from sparsieve._numba import compiled

@compiled()
def below(x):
    return x + {number}
"""

ABOVE = """
from sparsieve._numba import compiled
from below import below

@compiled()
def above(x):
    return below(x)

print(above(1), sum(above.stats.cache_hits.values()))
"""


def printed(*arguments, folder, **environment):
    """The words that a new Python prints."""
    found = {**os.environ, "PYTHONPATH": str(Path(sparsieve.__file__).parents[1]), **environment}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=found,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.slow
def test_a_change_in_an_imported_file_is_noticed(tmp_path):
    (tmp_path / "above.py").write_text(ABOVE)
    below, seen = tmp_path / "below.py", []
    for number in (1, 1, 2):
        code = BELOW.format(number=number)
        if not below.exists() or below.read_text() != code:  # older numba goes by the time alone
            below.write_text(code)
        seen.append(printed("above.py", folder=tmp_path))
    assert seen == [["2", "0"], ["2", "1"], ["3", "0"]]


PLANT = """
import pathlib, pickle, sys

class Planted:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path({planted!r}),)

for index in pathlib.Path({cache!r}).rglob("*.nbi"):
    index.write_bytes(pickle.dumps(Planted()))
    print(index.name)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="modes tell nothing there")
@pytest.mark.parametrize("place", ["the folder", "the one above"])
def test_code_that_others_may_have_put_there_is_not_run(tmp_path, place):
    """What numba keeps are pickles: they run what they say when they are looked at."""
    (tmp_path / "below.py").write_text(BELOW.format(number=1) + "\nprint(below(1))\n")
    cache, planted = tmp_path / "above" / "cache", tmp_path / "planted"
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(sparsieve.__file__).parents[1]),
        "NUMBA_CACHE_DIR": str(cache),
    }

    def run(*command):
        return subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

    assert not run("below.py").stderr
    assert run("-c", PLANT.format(planted=str(planted), cache=str(cache))).stdout
    {"the folder": next(cache.iterdir()), "the one above": cache.parent}[place].chmod(0o777)
    done = run("below.py")
    assert done.stdout == "2\n"
    assert "other users can write to" in done.stderr
    assert not planted.exists()


ONLY_READ = """
from sparsieve import _numba
_numba.is_writable = lambda folder: False
import below
print(below.below(1), below.below(1.5), sum(below.below.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_code_compiled_ahead_is_used_from_a_folder_that_can_only_be_read(tmp_path):
    (tmp_path / "below.py").write_text(BELOW.format(number=1))
    cache = tmp_path / "cache"
    seen, files = [], []
    for code in ("import below; print(below.below(1))", ONLY_READ):
        seen.append(printed("-c", code, folder=tmp_path, NUMBA_CACHE_DIR=str(cache)))
        files.append({path: path.read_bytes() for path in cache.rglob("*") if path.is_file()})
    assert seen == [["2"], ["2", "2.5", "1"]]
    assert files[0] == files[1]


def test_owners_and_layouts_of_X_add_no_versions_of_a_loop(rng):
    """A read-only X, a part of a larger array and any order of the rows: one loop per type."""
    from sparsieve.design import _moment_kernels as kernels
    from sparsieve.design import parallel_passes

    whole = rng.standard_normal((30, 8))
    frozen = whole.copy()
    frozen.flags.writeable = False
    codes = np.arange(30) % 3
    for X in (whole, frozen, whole[4:]):
        parallel_passes.moments(X, None)
        parallel_passes.group_moments(X, codes[: len(X)].astype(np.int8), 3, None)
    doubles = [t for t in kernels.add_deviations.signatures if t[0].dtype.bitwidth == 64]
    assert len(doubles) == 1


def test_what_was_kept_of_a_module_that_has_moved_is_compiled_anew(monkeypatch):
    from sparsieve import _numba

    def gone(self, sig, target_context):
        raise ModuleNotFoundError("No module named 'sparsieve.elsewhere'")

    flushed = []
    monkeypatch.setattr(_numba.FunctionCache, "load_overload", gone)
    monkeypatch.setattr(_numba.FunctionCache, "flush", lambda self: flushed.append(self))
    kept = object.__new__(_numba._Remembered)
    assert kept.load_overload(None, None) is None
    assert flushed == [kept]


@pytest.mark.parametrize("watched", [True, False])
def test_who_waits_for_compilation_is_told_once(watched, monkeypatch, capsys):
    from sparsieve import _clock, _numba

    now = [0.0]
    monkeypatch.setattr(_clock, "clock", lambda: now[0])
    monkeypatch.setattr(_numba, "is_interactive", lambda: watched)
    announced = _numba._Announced()
    for _ in range(4):
        announced.on_start(None)
        announced.on_start(None)  # what it calls
        now[0] += 1.4
        announced.on_end(None)
        announced.on_end(None)
    said = capsys.readouterr().err
    assert said.count("python -m sparsieve.compile does it ahead") == int(watched)
    assert announced.spent == pytest.approx(5.6)
