"""The benchmark scripts: figures come with versions. Nothing is timed here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
# How a peer is imported, and what its package is called.
PEERS = {
    "abess": "abess",
    "adelie": "adelie",
    "boruta": "boruta",
    "celer": "celer",
    "cvxpy": "cvxpy",
    "fast_select": "fast-select",
    "fastcan": "fastcan",
    "mrmr": "mrmr-selection",
    "skglm": "skglm",
    "skrebate": "skrebate",
    "sksurv": "scikit-survival",
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_whoever_measures_a_peer_prints_its_version(path):
    source = path.read_text("utf-8")
    imported = set(re.findall(r"^\s*(?:from|import) (\w+)", source, re.MULTILINE)) & set(PEERS)
    printed = "".join(re.findall(r"(?:show|conditions)\(.*\)", source))
    assert [one for one in imported if f'"{PEERS[one]}"' not in printed] == []


PROGRAM = """
from benchmarks.__main__ import _required
from benchmarks.common import ROOT, Row, conditions, versions
from benchmarks.readme_speed import END, START, fastest, seconds
import numpy

assert versions("numpy", "no-such-peer") == f"numpy {numpy.__version__}, no-such-peer not installed"
assert f"numpy {numpy.__version__}" in conditions()
assert [seconds(x) for x in (0.0432, 0.214, 4.27, 12.4)] == ["0.043", "0.21", "4.3", "12"]

def row(peer, theirs, note=""):
    return Row("path", "wine", 1.0, peer, theirs, "", None, note)

assert fastest([row("celer", 2.5, "tol 1e-6"), row("sklearn", 2.0, "tol 1")]) == "2 (scikit-learn)"
assert fastest([row("celer", 2.5), row("skglm", 1.0, "still 3 times the gap")]) == "2.5 (celer)"
late = "stopped at the limit of 60 s"
assert fastest([row("celer", 60.0, late), row("skglm", 60.0, late)]) == "over 60 (celer, skglm)"
assert fastest([row("-", None)]) == ""
assert _required(lambda path, n=3: None) and not _required(lambda n=3, *more: None)
text = (ROOT / "docs" / "measured.md").read_text("utf-8")
assert text.count(START) == text.count(END) == 1 and text.index(START) < text.index(END)
"""


@pytest.mark.long("starts a program of its own: the scripts allow theirs one thread")
def test_conditions_and_the_table_of_the_readme():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
