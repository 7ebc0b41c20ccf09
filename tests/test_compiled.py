"""Compiled code that is remembered must be that of the sources as they are."""

import os
import subprocess
import sys
from pathlib import Path

import sparsieve

BELOW = """
from sparsieve._compiled import compiled

@compiled()
def below(x):
    return x + {number}
"""

ABOVE = """
from sparsieve._compiled import compiled
from below import below

@compiled()
def above(x):
    return below(x)

print(above(1), sum(above.stats.cache_hits.values()))
"""


def test_a_change_in_an_imported_file_is_noticed(tmp_path):
    (tmp_path / "above.py").write_text(ABOVE)
    environment = {**os.environ, "PYTHONPATH": str(Path(sparsieve.__file__).parents[1])}
    below, seen = tmp_path / "below.py", []
    for number in (1, 1, 2):
        code = BELOW.format(number=number)
        if not below.exists() or below.read_text() != code:  # older numba goes by the time alone
            below.write_text(code)
        done = subprocess.run(
            [sys.executable, "above.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.append(done.stdout.split())
    assert seen == [["2", "0"], ["2", "1"], ["3", "0"]]
