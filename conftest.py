"""Fixtures of all tests, those of the experiments included: small problems and real data."""

import os
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import settings
from sklearn.utils.fixes import parse_version

sys.path.insert(0, str(Path(__file__).parent / "tests"))  # references beside the tests
os.environ.setdefault("MPLBACKEND", "Agg")  # no windows, also in the examples of docstrings
# No clock, and the same examples every time; `make test-slow` and `make fuzz` try others.
settings.register_profile("quick", deadline=None, derandomize="TEST_ANEW" not in os.environ)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Call all but every n-th case of a test marked ``thinned(n)`` slow.

    TEST_FIRST_CASES leaves the first case of every second test alone (`make check`).
    """
    if "TEST_FIRST_CASES" in os.environ:
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}.values()
        kept = set(map(id, list(first)[::2]))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = [item for item in items if id(item) in kept]
    cases = Counter()
    for item in items:
        needed = item.get_closest_marker("needs_sklearn")
        if needed and parse_version(sklearn.__version__) < parse_version(needed.args[0]):
            item.add_marker(pytest.mark.skip(reason=needed.args[1]))
        if os.name == "nt" and item.get_closest_marker("posix"):
            item.add_marker(pytest.mark.skip(reason="Windows has no such files, signals or limits"))
        mark = item.get_closest_marker("thinned")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if cases[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[test] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Remember tests that take more than a second and do not say why."""
    report = yield
    if call.when == "call" and call.duration > 1.0 and not item.get_closest_marker("long"):
        report.user_properties.append(("unexplained", call.duration))
    return report


def pytest_terminal_summary(terminalreporter):
    """Name them: whoever adds such a test marks it ``long("why")`` or makes it shorter."""
    for report in terminalreporter.stats.get("passed", []):
        for name, seconds in report.user_properties:
            if name == "unexplained":
                terminalreporter.write_line(f"over a second ({seconds:.1f} s): {report.nodeid}")


@pytest.fixture
def lines_only(monkeypatch):
    """``select`` does not ask whether trees do better, which takes long and has its own tests."""
    select = import_module("sparsieve.selection.select")
    monkeypatch.setattr(select, "compare_paths", lambda *given, **how: None)


pytest_plugins = ["fixtures.command_line", "fixtures.pages"]


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
    beside = Path(__file__).resolve().parents[1] / "shared" / "data"
    home = Path(os.environ.get("SPARSIEVE_DATA", beside))
    monkeypatch.setenv("SPARSIEVE_DATA", str(home))  # for load_dataset as well

    def load(name):
        file = home / f"{name}.npz"
        if not file.exists():
            pytest.skip(f"{name} is not in the data home")
        arrays = np.load(file)
        return arrays["X"].astype(np.float64), arrays["y"]

    return load
