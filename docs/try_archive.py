"""Install an archive into a bare environment and use it there.

``try_archive.py ARCHIVE [PYTHON [REQUIREMENT ...]]``

Prints how many packages the library and its command bring, and how much room they take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SIZES = """
import json, sys
from importlib.metadata import distributions
from platform import python_version
found = {one.name.lower(): one for one in distributions()}
for brought_by_venv in ("pip", "setuptools"):
    found.pop(brought_by_venv, None)
paths = [one.locate_file(path) for one in found.values() for path in one.files or ()]
room = sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
print(json.dumps([python_version(), found["scikit-learn"].version, len(found), room / 1e6]))
"""
USE = """
import sparsieve
from sklearn.datasets import load_wine
kept = sparsieve.RidgeForwardSelector(3).fit(*load_wine(return_X_y=True)).get_support(indices=True)
assert len(kept) == 3 and len(sparsieve.all_selectors()) > 30
"""


def tried(archive: Path, python: str, requirements: list[str]) -> None:
    """Raise where something fails; print one line where nothing does."""
    with TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        programs = Path(folder) / ("Scripts" if os.name == "nt" else "bin")

        def run(*command: str, check: bool = True) -> subprocess.CompletedProcess:
            program = [str(programs / command[0]), *command[1:]]
            said = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
            if check and said.returncode:
                raise SystemExit(f"{' '.join(command)} failed:\n{said.stdout}{said.stderr}")
            return said

        run("python", "-m", "pip", "install", "--quiet", str(archive), *requirements)
        run("python", "-c", USE)
        alone = json.loads(run("python", "-c", SIZES).stdout)
        refused = run("sparsieve", "--version", check=False)
        if refused.returncode == 0 or "sparsieve[cli]" not in refused.stderr:
            raise SystemExit(f"without typer the command must name the extra; it said:\n{refused}")
        run("python", "-m", "pip", "install", "--quiet", f"{archive}[cli]", *requirements)
        run("sparsieve", "--version")
        json.loads(run("sparsieve", "demo", "--json").stdout)
        version, sklearn, n_packages, room = alone
        *_, n_more, more = json.loads(run("python", "-c", SIZES).stdout)
    print(
        f"{archive.name}, Python {version}, scikit-learn {sklearn}: {n_packages} packages, "
        f"{room:.0f} MB; with the command {n_more} packages, {more:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    tried(Path(sys.argv[1]).resolve(), (sys.argv[2:] or [sys.executable])[0], sys.argv[3:])
