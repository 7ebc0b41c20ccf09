"""The lines of the family pages that run a paper's method, from a table to an accuracy."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "families"
DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))
NAMES = ["robust", "least_squares", "exclusive", "mkl", "minimax"]


def accuracy(name, X, y):
    """What the line of a page gives for a table."""
    text = (PAGES / f"{name}.md").read_text()
    section = re.search(
        r"^## The (?:l2,0 )?paper's method on your data$(.*?)^## ", text, re.M | re.S
    )
    (block,) = re.findall(r"^```python\n(.*?)^```", section.group(1), re.M | re.S)
    assert 'solver="published"' in block
    space = {"X": X, "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block, name, "exec"), space)
    return space["accuracy"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("robust", "mkl") else ())
        for name in NAMES
    ],
)
def test_on_a_small_table(name):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 6)) + 2.0 * y[:, None] * (np.arange(6) < 3)
    assert accuracy(name, X, y) > 0.75


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "sonar.npz").exists(), reason="sonar is not at hand")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("robust", 75.0),
        ("least_squares", 78.4),
        ("exclusive", 68.7),
        ("mkl", 71.4),
        ("minimax", 72.2),
    ],
)
def test_on_sonar(name, expected):
    data = np.load(DATA / "sonar.npz")
    assert 100 * accuracy(name, data["X"].astype(float), data["y"]) == pytest.approx(
        expected, abs=1
    )
