"""Which rows of a file are used: decided here for every kind of file, before anything is made.

A row is used only if every column that was named for the samples has a value there: the target or
the time and the event, the entry time, the stratum, the group and the id. Rows with a gap in any of
them are left out together if that was asked for, and refused otherwise. Gaps of covariates are
filled later, as those of features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...preprocessing.table import taken_rows
from ...validation.written import POINT
from .errors import DataError
from .labels import Column

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
    """The contents without rows that have a gap; refused are gaps where they may not be dropped."""
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
