"""The core finds what other packages bring, and needs none of them."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sparsieve import _wings

ROOT = Path(__file__).parents[1]

SELECTOR = '''
"""Selectors of somebody else."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsieve.selectors.base import BaseSelector, FeatureScores

__all__ = ["LargestSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class LargestSelector(BaseSelector):
    """Features with the largest values.

    In short: keeps what is large.
    """

    _accepts_regression = True
    _accepts_sparse = False
    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _score_meaning: ClassVar[str] = "The largest value."

    def _fit(self, data):
        X, _ = data.arrays()
        return FeatureScores(np.abs(X).max(axis=0), n_kept=2)
'''

DESIGN = '''
"""A kind of X of somebody else."""

import numpy as np

from sparsieve.design import DenseDesign


class Halves:
    def __init__(self, left, right):
        self.left, self.right = left, right


def make_design(X):
    if not isinstance(X, Halves):
        return None
    return DenseDesign(np.hstack([X.left, X.right]))


def fetched(name, y):
    return np.concatenate([y.left, y.right])
'''


def run_with(folder, code, *arguments):
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, *(("-c", code) if code else ()), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """An installed distribution that brings a selector."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "large_features.py").write_text(SELECTOR, encoding="utf-8")
    (folder / "halves.py").write_text(DESIGN, encoding="utf-8")
    info = folder / "large_features-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: large-features\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[sparsieve.selectors]\nlarge = large_features\n"
        "[sparsieve.designs]\nhalves = halves:make_design\n"
        "[sparsieve.arrays]\nhalves = halves:fetched\n"
    )
    return folder


@pytest.mark.long("starts an interpreter")
def test_a_selector_of_another_package_is_a_method(package):
    code = """
import numpy as np
from sparsieve import all_selectors, select
from sparsieve.registry import all_methods, find_selector

method = all_methods()["largest"]
print(method.words, sorted(method.purposes))
print(all_selectors()["LargestSelector"] is find_selector("largest") is method.cls)
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 6))
X[:, [1, 4]] *= 100
print(*select(X, X[:, 1] + X[:, 4], k=2, method="largest").features)
"""
    done = run_with(package, code)
    assert done.stdout.splitlines()[:2] == [
        "keeps what is large. ['panel', 'regression']",
        "True",
    ], done.stderr
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()[2].split()) == ["x1", "x4"]


@pytest.mark.long("starts an interpreter")
def test_a_kind_of_x_of_another_package_is_taken(package):
    code = """
import numpy as np
from halves import Halves
from sparsieve import RidgeForwardSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6))
y = X[:, 1] - X[:, 5]
there = Halves(X[:, :3], X[:, 3:]), Halves(y[:20], y[20:])
print(*RidgeForwardSelector(2).fit(*there).get_support(indices=True))
"""
    done = run_with(package, code)
    assert done.stdout.split() == ["1", "5"], done.stderr


@pytest.mark.long("starts the command line")
def test_the_command_line_lists_it(package):
    done = run_with(package, "", "-m", "sparsieve", "methods", "--for", "panel")
    assert "largest" in done.stdout, done.stderr


@pytest.mark.long("starts an interpreter")
def test_an_entry_point_of_a_module_that_is_gone_is_named(package, tmp_path):
    for part in package.iterdir():
        if part.is_dir() and part.suffix == ".dist-info":
            part_copy = tmp_path / part.name
            part_copy.mkdir()
            for file in part.iterdir():
                (part_copy / file.name).write_bytes(file.read_bytes())
    done = run_with(tmp_path, "from sparsieve.registry import all_methods; all_methods()")
    assert "large_features has selectors" in done.stderr
    assert "remove that package" in done.stderr


def test_the_source_tree_declares_what_the_distribution_does():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    points = declared["project"]["entry-points"]
    assert {group: points[group] for group in _wings.SHIPPED} == _wings.SHIPPED


@pytest.mark.long("starts an interpreter")
def test_the_core_works_without_the_papers(tmp_path):
    """What the core does by default touches no wing."""
    code = """
import sys
import numpy as np
import sparsieve
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 30))
sparsieve.select(X, X[:, 0] + rng.standard_normal(60) / 4, k=2)
sparsieve.L20Selector(2).fit(X, X[:, 0])
print(sorted(name for name in sys.modules if name.startswith("sparsieve.papers")))
"""
    done = run_with(tmp_path, code)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
