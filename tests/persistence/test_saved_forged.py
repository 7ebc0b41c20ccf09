"""No file makes compiled code read or write where it must not, however well it is forged.

Files are forged and used in a process of its own: what would crash must not take the tests along.
Compiled functions check their bounds there, so that what happens not to crash is found as well.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparsieve import all_estimators

FORGING = Path(__file__).parent / "forging.py"
# One of every family that keeps more than arrays.
SAMPLE = ("L0MKLSelector", "L0SVMSelector", "L20Selector", "RobustL20Selector")
# And those whose methods read attributes of their own.
OWN_ATTRIBUTES = (
    "ExclusiveL21Selector",
    "L1MPMSelector",
    "MPMClassifier",
    "RPMFSSelector",
    "RidgeForwardSelector",
    "SelectorCV",
    "ShadowSelector",
    "SparseKernelMPMClassifier",
    "StabilitySelection",
)


def forged(tmp_path_factory, *arguments, checked=True):
    cache = tmp_path_factory.getbasetemp() / "checked"
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)} if checked else {}
    return subprocess.run(
        [sys.executable, str(FORGING), *arguments],
        env={**os.environ, **checks},
        capture_output=True,
        text=True,
        timeout=1200,
    )


def assert_held(done):
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-500:])
    assert lines[-1].startswith("done")
    assert not [line for line in lines if line.startswith("wrong")]


@pytest.mark.slow
def test_some_forged_files(tmp_path_factory):
    done = forged(tmp_path_factory, *SAMPLE, "--every", "41")
    assert_held(done)
    assert int(done.stdout.split()[-1]) > 50


@pytest.mark.slow
def test_no_attribute_can_be_left_out(tmp_path_factory):
    """It is refused, or does without: nothing fails later for want of it."""
    assert_held(forged(tmp_path_factory, *SAMPLE, *OWN_ATTRIBUTES, "--left-out", checked=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", all_estimators())
def test_every_value_of_a_saved_estimator_forged(name, tmp_path_factory):
    assert_held(forged(tmp_path_factory, name))
