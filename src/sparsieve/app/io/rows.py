"""Which rows of a file are used, and which row of another file belongs to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._checks import format_names
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
