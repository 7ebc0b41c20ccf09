"""Which rows of a file are used, which row of another file and which columns go together."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import format_names, suggestion
from ...preprocessing.table import taken_rows
from ...validation.written import POINT
from .errors import DataError
from .labels import Column, format_labels

COVARIATE = "covariate "  # how the roles of covariates begin, which may have gaps
_OPTION = "with --drop-unlabelled (drop_unlabelled=True from Python)"


@dataclass(frozen=True)
class Contents:
    """What a reader has found in a file: all of its rows, and nothing made of them yet.

    Attributes
    ----------
    owner : str
        Name of the file.
    X : array, sparse matrix or design
        The features that are numbers.
    features : tuple of str
        Names of all features, in the order of the file.
    columns : dict of str to Column
        What was named for the samples, by role.
    texts : dict of int to Column
        The features that are text, by place among ``features``.
    notes : tuple of str
        What the reader decided by itself.
    n_left_out : int
        How many rows of the file are not here any more.
    sample : str
        What a sample is in this file: a row or a column.
    decimal : str
        The decimal sign of a text file, as its first lines show it.
    """

    owner: str
    X: Any
    features: tuple[str, ...]
    columns: Mapping[str, Column] = field(default_factory=dict)
    texts: Mapping[int, Column] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_left_out: int = 0
    sample: str = "row"
    decimal: str = POINT

    def rows(self, index: np.ndarray) -> Contents:
        """The same with these samples only, in this order: all parts of it at once."""
        return replace(
            self,
            X=taken_rows(self.X, index),
            columns={role: column.rows(index) for role, column in self.columns.items()},
            texts={place: column.rows(index) for place, column in self.texts.items()},
            n_left_out=self.n_left_out + self.X.shape[0] - len(index),
        )


def complete_rows(contents: Contents, *, drop: bool) -> Contents:
    """The contents without rows that have a gap; refused are gaps where they may not be dropped.

    A row is used only if every column that was named for the samples has a value there: the target
    or the time and the event, the entry time, the stratum, the group and the id. Gaps of covariates
    are filled later, as those of features.
    """
    n_rows, sample = contents.X.shape[0], contents.sample
    asked = {r: c for r, c in contents.columns.items() if not r.startswith(COVARIATE)}
    gaps = {role: column.gaps for role, column in asked.items()}
    gaps = {role: missing for role, missing in gaps.items() if missing.any()}
    if not gaps:
        return contents
    incomplete = np.logical_or.reduce(list(gaps.values()))
    n_incomplete = int(incomplete.sum())
    where = [
        (contents.columns[role].what, int(missing.sum()), int(np.flatnonzero(missing)[0]) + 1)
        for role, missing in gaps.items()
    ]
    every = [what for what, times, _ in where if times == n_rows]
    if every:
        raise DataError(f"{every[0]} of {contents.owner} is missing in every {sample}")
    if n_incomplete == n_rows or not drop:
        (what, times, place), *others = where
        said = f"{what} of {contents.owner} is missing in {_times(times, sample, place)}"
        for what, times, place in others:
            said += f", {what} in {_times(times, sample, place)}"
        if n_incomplete == n_rows:
            raise DataError(f"{said}: every {sample} has a gap, so nothing is left; fill them in")
        if others:
            said += f", together in {n_incomplete} of {n_rows} {sample}s"
        it = "them" if others else "it"
        raise DataError(f"{said}; fill {it} in, or leave out such {sample}s {_OPTION}")
    reasons = ", ".join(
        f"{what} {'is missing ' * (not i)}in {times}" for i, (what, times, _) in enumerate(where)
    )
    note = f"left out {n_incomplete} of {n_rows} {sample}s of {contents.owner}: {reasons}"
    left = contents.rows(np.flatnonzero(~incomplete))
    return replace(left, notes=(*contents.notes, note))


def _times(times: int, sample: str, place: int) -> str:
    return f"{times} {sample}{'s' * (times != 1)} (first in data {sample} {place})"


def join_labels(data: Contents, labels: Contents) -> Contents:
    """The features of one file with what the other says about the samples.

    Only samples that are in both are kept, in the order of the features.
    """
    ids, known = _ids(data), _ids(labels)
    places = {name: row for row, name in enumerate(known)}
    matched = [row for row, name in enumerate(ids) if name in places]
    if not matched:
        inside = sum(name in places for name in data.features)
        hint = (
            f"but {inside} of them are names of columns of {data.owner}: if its features are in "
            "rows, add --transpose (transpose=True from Python)"
            if inside
            else f"such as {known[0]!r} in {labels.owner} and {ids[0]!r} in {data.owner}; "
            "name the column of ids with --id (sample_id= from Python)"
        )
        raise DataError(f"no sample id of {labels.owner} is in {data.owner}, {hint}")
    has_target = "target" in labels.columns or "time" in labels.columns
    there = np.array([places[ids[row]] for row in matched])
    absent = [name for name in ids if name not in places]
    unused = [name for name in places if name not in set(ids)]
    sentence = f"matched {len(matched)} of {len(ids)} samples with {labels.owner}"
    if absent:
        why = "without a target there" if has_target else "not there"
        sentence += f"; left out, {why}: {format_names(absent)}"
    if unused:
        sentence += f"; not in {data.owner}: {format_names(unused)}"
    kept = data.rows(np.array(matched))
    return replace(
        kept,
        columns={**labels.rows(there).columns, **kept.columns},
        notes=(*data.notes, *labels.notes, sentence),
    )


def _ids(contents: Contents) -> list[str]:
    """The names of the samples, each of which must mean one."""
    column = contents.columns["sample_id"]
    ids: list[str] = format_labels(column, contents.owner).tolist()
    repeated = [name for name, times in Counter(ids).items() if times > 1]
    if repeated:
        raise DataError(
            f"the sample ids of {contents.owner} (column {column.name!r}) are not unique: "
            f"{format_names(repeated)}; name the right column with --id (sample_id= from "
            "Python), or "
            "remove the copies"
        )
    return ids


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
    >>> from sparsieve.app.io.rows import read_feature_groups
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
