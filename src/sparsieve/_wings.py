"""What other packages bring: selectors and solvers, found by entry points.

The papers of this distribution come in by the same door as a package of somebody else. Its
entry points are repeated here, so that a source tree works that was never installed, such as one
that a container was given; ``tests/test_wings.py`` holds them against pyproject.toml.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

SHIPPED = {
    # packages whose public classes are selectors
    "sparsieve.selectors": {"papers": "sparsieve.papers"},
    # functions that fit a selector of the core by a solver, by the name of its settings
    "sparsieve.solvers": {
        "HIHT": "sparsieve.papers.l20.homotopy:fit_homotopy",
        "AHIHT": "sparsieve.papers.l20.homotopy:fit_homotopy",
    },
}


@cache
def brought(group: str) -> dict[str, str]:
    """What packages bring under a group of entry points, by name; ours first."""
    found = dict(SHIPPED[group])
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry.value)
    return found


def loaded(group: str, name: str) -> Any:
    """The object behind an entry point, imported now."""
    module, _, attribute = brought(group)[name].partition(":")
    home = import_module(module)
    return getattr(home, attribute) if attribute else home
