"""Which columns of a table belong together, from a file."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

from ..._checks import format_names, suggestion
from .errors import DataError

_COLUMNS = ("feature", "group")


def read_feature_groups(
    path: Path, feature_names: Sequence[str], made: Collection[str] = ()
) -> dict[str, list[str]]:
    r"""Features by group, from a .csv or .tsv file with the columns feature and group.

    A feature of several groups has a row for each of them; features that are not listed stand
    alone. Columns of text that others were ``made`` of may be listed too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.app.io.feature_groups import read_feature_groups
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "groups.csv"
    ...     _ = file.write_text("feature,group\na,first\nb,first\n")
    ...     read_feature_groups(file, ["a", "b", "c"])
    {'first': ['a', 'b']}
    """
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".txt") else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, delimiter=delimiter))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{path.name} is not a text file of two columns in UTF-8") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if any(name not in header for name in _COLUMNS):
        raise DataError(
            f"{path.name} must have the columns feature and group, one row per feature; its first "
            f"line has {format_names(header) if header else 'nothing'}"
        )
    places = [header.index(name) for name in _COLUMNS]
    found: dict[str, list[str]] = {}
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(places) or not all(row[j].strip() for j in places):
            raise DataError(f"line {number} of {path.name} has no feature or no group; fill it in")
        feature, group = (row[j].strip() for j in places)
        found.setdefault(group, []).append(feature)
    known = {*feature_names, *made}
    unknown = [name for names in found.values() for name in names if name not in known]
    if unknown:
        hint = suggestion(unknown[0], [*made, *feature_names], "its features are")
        raise DataError(
            f"{path.name} names {len(unknown)} feature{'s' * (len(unknown) != 1)} that the table "
            f"does not have: {format_names(unknown)}{hint}"
        )
    if not found:
        raise DataError(f"{path.name} has no groups below its first line")
    return found
