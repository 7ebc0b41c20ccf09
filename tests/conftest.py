"""Shared fixtures: small problems, and real data where it is at hand."""

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # references beside the tests
os.environ.setdefault("MPLBACKEND", "Agg")  # no windows, also in the examples of docstrings
# No clock, and the same examples every time; `make test-slow` and `make fuzz` try others.
settings.register_profile("quick", deadline=None, derandomize="TEST_ANEW" not in os.environ)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Call all but every n-th case of a test marked ``thinned(n)`` slow."""
    cases = Counter()
    for item in items:
        mark = item.get_closest_marker("thinned")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if cases[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[test] += 1


class TickingClock:
    """Seconds that pass only where somebody looks at the clock: ``step`` with every look."""

    def __init__(self, step=1.0):
        self.step, self.seconds = step, 0.0

    def __call__(self):
        self.seconds += self.step
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    """The clock of all time limits, whose second is one look: no test waits for the real one."""
    ticking = TickingClock()
    monkeypatch.setattr("sparsieve._clock.clock", ticking)
    return ticking


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
