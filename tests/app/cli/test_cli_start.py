"""A command imports what it needs and no more: help and refusals come at once."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from sparsieve.app.cli.app import run
code = run(sys.argv[1:])
heavy = ("sklearn", "scipy", "numpy", "pandas", "numba")
print(json.dumps([code, [m for m in heavy if m in sys.modules]]))
"""


def started(*arguments):
    """(exit code, what was imported) of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("methods", "--for", "regression"), 0),
        (("select", "--help"), 0),
        (("select", "d.csv", "-t", "y", "-m", "fishr"), 2),
        (("select", "d.csv", "-t", "y", "-k", "few"), 2),
        (("select", "d.csv", "--task", "regression", "-m", "fisher"), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_nothing_heavy_is_imported_for_words(arguments, code):
    assert started(*arguments) == [code, []]


@pytest.mark.slow
def test_data_that_cannot_be_read_are_refused_with_numpy_alone(flowers):
    for arguments in (
        (flowers.with_name("none.csv"), "-t", "kind"),
        (flowers, "-t", "knid"),
        (flowers, "-t", "kind", "--drop", "nothing"),
        (flowers, "-t", "kind", "-o", flowers.parent / "nowhere" / "o.csv"),
    ):
        code, imported = started("select", *arguments)
        assert (code, imported) in ((1, ["numpy"]), (2, ["numpy"]))
