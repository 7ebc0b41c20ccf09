"""Which columns of a table belong together: from a file, or from how the table was encoded."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .._checks import listed, suggestion
from ..validation.feature_groups import GAP, SEPARATOR
from .errors import DataError
from .table import Table

_COLUMNS = ("feature", "group")


def read_feature_groups(
    path: Path, feature_names: Sequence[str], made: Mapping[str, Sequence[str]] | None = None
) -> dict[str, list[str]]:
    r"""Features by group, from a .csv or .tsv file with the columns feature and group.

    A feature of several groups has a row for each of them; features that are not listed stand
    alone. A text column stands for the columns that were ``made`` of it, which are a group of
    their own where it is not listed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.io.feature_groups import read_feature_groups
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
            f"line has {listed(header) if header else 'nothing'}"
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
    known, made = set(feature_names), made or {}
    found = {
        group: [column for name in names for column in made.get(name, (name,))]
        for group, names in found.items()
    }
    unknown = [name for names in found.values() for name in names if name not in known]
    if unknown:
        hint = suggestion(unknown[0], [*made, *feature_names], "its features are")
        raise DataError(
            f"{path.name} names {len(unknown)} feature{'s' * (len(unknown) != 1)} that the table "
            f"does not have: {listed(unknown)}{hint}"
        )
    if not found:
        raise DataError(f"{path.name} has no groups below its first line")
    listed_ = {name for names in found.values() for name in names}
    alone = {name: list(some) for name, some in made.items() if not listed_ & set(some)}
    return found | {name: some for name, some in alone.items() if name not in found}


def with_gap_marks(table: Table, *, numbers: bool = True) -> tuple[Table, dict[str, list[int]]]:
    """(the table with a column for the gaps of every column, columns by where they come from).

    Gaps of a text column become a value of their own; gaps in numbers stay, and a further column
    marks them unless ``numbers`` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.io import Table
    >>> from sparsieve.io.feature_groups import with_gap_marks
    >>> table = Table(np.array([[1.0], [np.nan]]), np.array([0, 1]), ("age",), "label")
    >>> marked, groups = with_gap_marks(table)
    >>> marked.feature_names, groups
    (('age', 'age=(missing)'), {'age': [0, 1]})
    """
    if not isinstance(table.X, np.ndarray) or not (
        numbers or table.text_groups
    ):  # sparse data and files have no gaps to mark
        return table, {name: list(some) for name, some in table.text_groups.items()}
    of_text = {j: name for name, some in table.text_groups.items() for j in some}
    sources: dict[str, list[int]] = {}
    for j, name in enumerate(table.feature_names):
        sources.setdefault(of_text.get(j, name), []).append(j)
    parts: list[np.ndarray] = []
    names: list[str] = []
    groups: dict[str, list[int]] = {}
    texts: dict[str, tuple[int, ...]] = {}
    for name, columns in sources.items():
        start, part = len(names), table.X[:, columns]
        names += [table.feature_names[j] for j in columns]
        is_text = name in table.text_groups
        gaps = np.isnan(part[:, 0])
        if is_text:
            texts[name] = tuple(range(start, len(names)))
        if gaps.any() and (is_text or numbers):
            names.append(f"{name}{SEPARATOR}{GAP}")
            part = np.column_stack([np.where(gaps[:, None] & is_text, 0.0, part), gaps])
        parts.append(part)
        if is_text or len(names) - start > 1:
            groups[name] = list(range(start, len(names)))
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"the table would have two columns called {listed(twice)}; rename one")
    made = np.column_stack(parts) if len(names) > table.X.shape[1] else table.X
    return replace(table, X=made, feature_names=tuple(names), text_groups=texts), groups
