"""``sparsieve datasets``: the data sets the library knows."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from .options import AsJson, Debug
from .output import print_json, print_rows

if TYPE_CHECKING:
    from ...datasets.registry import DatasetInfo

_FIELDS = ("name", "n_samples", "n_features", "n_classes", "kind", "status")


def datasets(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the known data sets, whether they are present here, and how to get them.

    Nothing is downloaded. In Python: sparsieve.datasets.load_dataset("NAME").
    """
    from ...datasets import get_data_home, list_datasets

    home = get_data_home()
    rows = [
        {field: getattr(info, field) for field in _FIELDS} | {"how_to_get": _how(info, home)}
        for info in list_datasets()
    ]
    if as_json:
        print_json(rows)
        return
    print_rows(
        ("name", "samples", "features", "classes", "kind", "status", "how to get it"),
        [tuple("-" if value is None else value for value in row.values()) for row in rows],
        title=(
            f"Data sets; files are searched in {home} (set SPARSIEVE_DATA to change this); in "
            'Python: sparsieve.datasets.load_dataset("NAME")'
        ),
        right=("samples", "features", "classes"),
    )


def _how(info: DatasetInfo, home: Path) -> str:
    """What to do to have the data set, in one phrase."""
    if info.status == "embedded":
        return "comes with scikit-learn"
    if info.path is not None:
        return f"here: {info.path.name}"
    if info.status == "unavailable":
        instead = f"; the closest is {info.stand_in}" if info.stand_in else ""
        return f"not available: {info.unavailable.rstrip('.')}{instead}"
    public = PurePosixPath(info.origin_file)
    if info.public_stem:  # read as it is published
        return f"download {public.name} of {info.origin} into {home}"
    return f"make {info.name}.npz (X, y) or .csv of {info.source} and put it into {home}"
