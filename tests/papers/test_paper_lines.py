"""The lines of the family pages that run a paper's method, from a table to an accuracy."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "families"
DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))
# The page of every paper, and the class that runs its method.
PAPERS = {
    "robust": ("robust", "RobustL20Selector"),
    "l20": ("least_squares", "L20Selector"),
    "exclusive": ("least_squares", "ExclusiveL21Selector"),
    "mkl": ("curves", "L0MKLSelector"),
    "mpm": ("margins", "L0MPMSelector"),
}


def accuracy(name, X, y):
    """What the line of a page gives for a table."""
    page, method = PAPERS[name]
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    (block,) = [b for b in blocks if f" {method}\n" in b and 'solver="published"' in b]
    space = {"X": X, "y": y}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block, name, "exec"), space)
    return space["accuracy"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("robust", "mkl") else ())
        for name in PAPERS
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
        ("l20", 78.4),
        ("exclusive", 68.7),
        ("mkl", 71.4),
        ("mpm", 72.2),
    ],
)
def test_on_sonar(name, expected):
    data = np.load(DATA / "sonar.npz")
    assert 100 * accuracy(name, data["X"].astype(float), data["y"]) == pytest.approx(
        expected, abs=1
    )
