"""``sparsieve datasets``: the data sets the library knows."""

from __future__ import annotations

from collections.abc import Mapping

from .options import AsJson, Debug
from .output import print_json, print_rows

_FIELDS = ("name", "shape", "n_classes", "kind", "present")


def datasets(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the known data sets and whether they are present here."""
    from ..datasets import list_datasets

    rows = [_as_dict(row) for row in list_datasets()]
    if as_json:
        print_json(rows)
        return
    print_rows(
        ("name", "samples", "features", "classes", "kind", "present"),
        [
            (
                row["name"],
                *row["shape"],
                row["n_classes"] or "-",
                row["kind"],
                "yes" if row["present"] else "no",
            )
            for row in rows
        ],
        title='Data sets (in Python: sparsieve.datasets.load_dataset("NAME"))',
        right=("samples", "features", "classes"),
    )


def _as_dict(row) -> dict:
    if isinstance(row, Mapping):
        return {name: row[name] for name in _FIELDS}
    return {name: getattr(row, name) for name in _FIELDS}
