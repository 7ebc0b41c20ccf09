"""Shared fixtures: small problems, and real data where it is at hand."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # references beside the tests
os.environ.setdefault("MPLBACKEND", "Agg")  # no windows, also in the examples of docstrings


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def real_data(monkeypatch):
    """Load a benchmark set by name, or skip the test where there is none."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    home = Path(os.environ.get("SPARSIEVE_DATA", beside))
    monkeypatch.setenv("SPARSIEVE_DATA", str(home))  # for load_dataset as well

    def load(name):
        file = home / f"{name}.npz"
        if not file.exists():
            pytest.skip(f"{name} is not in the data home")
        arrays = np.load(file)
        return arrays["X"].astype(np.float64), arrays["y"]

    return load
