"""Bare containers: a read-only installation, another user, no home; and a cold start."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy
import pytest

import sparsieve

PACKAGE = Path(sparsieve.__file__).parent
NOBODY = 65534

FIT_ALL = textwrap.dedent(
    """
    import os, sys, warnings
    if os.getuid() == 0:
        os.setgid({nobody})
        os.setuid({nobody})
    sys.path[:0] = [{folder!r}, {packages!r}]
    import numpy as np
    import sparsieve
    assert sparsieve.__file__.startswith({folder!r}), sparsieve.__file__
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    y = np.arange(16) % 2
    X = np.abs(rng.standard_normal((16, 4)) + 2.0 * y[:, None] * np.arange(4))
    for name, kind in sparsieve.all_estimators().items():
        estimator = kind()
        small = dict(n_subsamples=4, n_repeats=1, cv=2)
        known = estimator.get_params(deep=False)
        estimator.set_params(**{{k: v for k, v in small.items() if k in known}})
        try:
            estimator.fit(X, y)
        except Exception as error:
            print("FAILED", name, type(error).__name__, error)
        else:
            print("fitted", name)
    """
)


def open_to_others(path: Path) -> bool:
    """Whether anybody can enter every folder on the way."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)


def python_for_others() -> str | None:
    """This interpreter, or one of the same version that belongs to the system."""
    if open_to_others(Path(sys.executable)) and open_to_others(Path(os.__file__)):
        return sys.executable
    return shutil.which(f"python3.{sys.version_info.minor}", path="/usr/local/bin:/usr/bin:/bin")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs another user")
def test_every_estimator_fits_as_another_user_without_home_on_a_read_only_copy(request):
    python, packages = python_for_others(), Path(numpy.__file__).parents[1]
    if python is None or not open_to_others(packages / "numpy"):
        pytest.skip("other users cannot run this Python")
    # pytest keeps its own temporary folders to its user.
    folder = Path(tempfile.mkdtemp(prefix="installation"))
    request.addfinalizer(lambda: shutil.rmtree(folder, ignore_errors=True))
    folder.chmod(0o755)
    if not open_to_others(folder / "sparsieve"):
        pytest.skip("other users cannot enter the temporary folder")
    shutil.copytree(PACKAGE, folder / "sparsieve", ignore=shutil.ignore_patterns("__pycache__"))
    places = [folder, *folder.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    hidden = ("HOME", "NUMBA_CACHE_DIR", "TMPDIR", "PYTHONPATH", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    script = FIT_ALL.format(nobody=NOBODY, folder=str(folder), packages=str(packages))
    try:
        done = subprocess.run(
            [python, "-c", script],
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=600,
        )
    finally:
        for place in places:
            if place.is_dir():
                place.chmod(0o755)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert len(lines) == len(sparsieve.all_estimators())
    assert not list(folder.rglob("__pycache__"))


def test_functions_are_compiled_without_a_cache_where_none_can_be_kept(monkeypatch):
    from sparsieve import _numba as _compiled

    asked = []

    def njit(**options):
        asked.append(options)
        return lambda function: function

    def refused(function):
        raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")

    monkeypatch.setattr(_compiled, "njit", njit)
    monkeypatch.setattr(_compiled, "KERNELS", [])
    for place in ("_Remembered", "_CompiledAhead"):
        monkeypatch.setattr(_compiled, place, refused)

    def same(x):
        return x

    assert _compiled.compiled(nogil=True)(same) is same
    (only,) = asked
    assert only["nogil"]
    assert "cache" not in only
