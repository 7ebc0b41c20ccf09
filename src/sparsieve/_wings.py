"""What other packages bring: selectors, solvers and kinds of X, found by entry points.

The papers and the kinds of X of this distribution come in by the same door as a package of somebody
else. Its entry points are repeated here, so that a source tree works that was never installed, such
as one that a container was given; ``tests/test_wings.py`` holds them against pyproject.toml.
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
    # make_design(X) for the package that the type of X comes from (design/standardise.py)
    "sparsieve.designs": {
        "numpy": "sparsieve.scale.files.arrays:make_design",  # memory-mapped files
        "h5py": "sparsieve.scale.files.arrays:make_design",
        "zarr": "sparsieve.scale.files.arrays:make_design",
        "anndata": "sparsieve.scale.files.tables:make_design",
        "pyarrow": "sparsieve.scale.files.tables:make_design",
        "dask": "sparsieve.scale.cluster.arrays:make_design",
        "torch": "sparsieve.scale.gpu.tensor:make_design",
        "sparsieve": "sparsieve.scale.gpu.host_streaming:make_design",  # Streamed
    },
    # function of (name, values) that fetches a target or weights of such a package
    "sparsieve.arrays": {
        "dask": "sparsieve.scale.cluster.cluster:gather",
        "torch": "sparsieve.scale.gpu.tensor:plain_tensor",
    },
    # what a selection shows of itself, and the files of data sets
    "sparsieve.pages": {
        "report": "sparsieve.app.report.selection:write_report",
        "plot": "sparsieve.app.plotting.selection:draw",
        "figures": "sparsieve.app.plotting.selection:save_figures",
        "source": "sparsieve.app.plotting.selection:make_source",
        "datasets": "sparsieve.app.io.benchmarks:read_file",
    },
    # what solvers and filters run beside an X on a device
    "sparsieve.device": {
        "forward": "sparsieve.scale.gpu._forward:device_path",
        "swap_table": "sparsieve.scale.gpu._swap_table:DeviceTable",
        "mrmr": "sparsieve.scale.gpu._filters:DeviceCorrelation",
        "relieff": "sparsieve.scale.gpu._filters:on_device",
    },
}


@cache
def list_entries(group: str) -> dict[str, str]:
    """What packages bring under a group of entry points, by name; ours first."""
    found = dict(SHIPPED[group])
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry.value)
    return found


def find_server(group: str, X: Any) -> Any:
    """What serves objects of the package that the type of X comes from; None where nothing does.

    Going by the name imports nothing: where X is such an object its package was imported before.
    """
    package = type(X).__module__.partition(".")[0]
    return load_entry(group, package) if package in list_entries(group) else None


def load_entry(group: str, name: str) -> Any:
    """The object behind an entry point, imported now."""
    module, _, attribute = list_entries(group)[name].partition(":")
    home = import_module(module)
    return getattr(home, attribute) if attribute else home
