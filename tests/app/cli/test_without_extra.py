"""The command where the packages of the extra ``cli`` are missing."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_the_command_says_which_extra_to_install(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None  # as if it were not installed
sys.argv = ["sparsieve", "--version"]
from sparsieve.app.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"sparsieve: the command needs {missing}; install it with: pip install 'sparsieve[cli]'\n"
    )
