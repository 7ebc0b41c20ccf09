"""Compiling ahead reaches every loop."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparsieve import compile as ahead


@pytest.mark.slow
def test_every_loop_is_compiled(tmp_path):
    script = (
        "from sparsieve.compile import compile_ahead\n"
        "compile_ahead()\n"
        "from sparsieve._numba import KERNELS\n"
        "print([k.__name__ for k in KERNELS if not k.signatures])"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(ahead.__file__).parents[1]),
        "NUMBA_CACHE_DIR": str(tmp_path),  # of what is kept inner functions are not loaded
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_command_says_where_the_results_are(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(ahead, "compile_ahead", lambda: tmp_path)
    assert ahead.main() == 0
    assert str(tmp_path) in capsys.readouterr().out
    monkeypatch.setattr(ahead, "compile_ahead", lambda: None)
    assert ahead.main() == 1
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err
