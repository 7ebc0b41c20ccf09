"""``sparsieve datasets``: the data sets the library knows."""

from __future__ import annotations

from .options import AsJson, Debug
from .output import print_json, print_rows

_FIELDS = ("name", "n_samples", "n_features", "n_classes", "kind", "status")


def datasets(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the known data sets and whether they are present here."""
    from ..datasets import get_data_home, list_datasets

    rows = [{field: getattr(row, field) for field in _FIELDS} for row in list_datasets()]
    if as_json:
        print_json(rows)
        return
    print_rows(
        ("name", "samples", "features", "classes", "kind", "status"),
        [tuple("-" if value is None else value for value in row.values()) for row in rows],
        title=(
            f"Data sets; files are looked for in {get_data_home()} (set SPARSIEVE_DATA to change "
            'it); in Python: sparsieve.datasets.load_dataset("NAME")'
        ),
        right=("samples", "features", "classes"),
    )
