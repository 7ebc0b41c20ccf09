"""What the columns of a table are for, and the table made of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import listed, suggestion
from .errors import DataError
from .table import (
    Table,
    check_unique,
    dropped_names,
    find_target,
    is_missing,
    no_target,
    target_from_values,
)

MAX_VALUES = 20  # of a text column: more name samples rather than describing them
SEPARATOR = "="  # between a text column and its value in the name of a column of zeros and ones


@dataclass(frozen=True)
class Roles:
    """What a user said about the columns.

    Attributes
    ----------
    target, groups, sample_id : str or None
        Names of columns.
    drop : tuple of str
        Columns to leave out.
    needs_target : bool
        Whether a table without a target is refused.
    with_ids : bool
        Whether names of samples are wanted; without ``sample_id`` they are the first column.
    drop_unlabelled : bool
        Whether to leave out rows whose target is missing.
    encode_text : bool
        Whether text columns become columns of zeros and ones.
    transpose : bool
        Whether the features are in rows.
    labels_only : bool
        Whether the table holds no features, as the file of ``target_file``; its groups and its ids
        may then be in the other file.
    id_optional : bool
        Whether the ids are the first column where no column is called ``sample_id``.
    """

    target: str | None = None
    drop: tuple[str, ...] = ()
    groups: str | None = None
    sample_id: str | None = None
    needs_target: bool = True
    with_ids: bool = False
    drop_unlabelled: bool = False
    encode_text: bool = False
    transpose: bool = False
    labels_only: bool = False
    id_optional: bool = False


@dataclass(frozen=True)
class Places:
    """Where the columns are."""

    label: int | None
    groups: int | None
    sample_id: int | None
    features: list[int]

    @property
    def texts(self) -> list[int]:
        """The columns that are read as text."""
        return [j for j in (self.label, self.groups, self.sample_id) if j is not None]


def places_of(
    roles: Roles,
    names: Sequence[str],
    owner: str,
    left_out: Collection[str] = (),
    *,
    first: int = 0,
) -> Places:
    """Positions of the target, the groups, the ids and the features among the named columns.

    What is ``left_out`` anyway may be dropped too. The target has no position where none is named
    and none is needed. ``first`` is the column of ids where they have no name.
    """
    label = None
    if roles.target is not None or roles.needs_target:
        label = find_target(names, roles.target, owner)
    else:
        check_unique(names, owner)
    dropped = {*dropped_names(roles.drop, names, owner, left_out), *left_out}
    if roles.target in dropped:
        raise DataError(f"column {roles.target!r} cannot be dropped: it is the target")
    groups = _named(roles.groups, names, owner, optional=roles.labels_only)
    optional = roles.labels_only or roles.id_optional
    sample_id = _named(roles.sample_id, names, owner, optional=optional)
    if sample_id is None and roles.with_ids:
        if first in (label, groups):
            raise DataError(
                f"the first column of {owner}, {names[first]!r}, does not hold sample ids; name "
                "the column that does with --id (sample_id= from Python)"
            )
        sample_id = first
    taken = [j for j in (label, groups, sample_id) if j is not None]
    if len(set(taken)) < len(taken):
        twice = next(names[j] for j in taken if taken.count(j) > 1)
        raise DataError(
            f"column {twice!r} of {owner} cannot have two roles at once: the target, the groups "
            "and the sample ids must be different columns"
        )
    features = [j for j, name in enumerate(names) if j not in taken and name not in dropped]
    if roles.labels_only:
        features = []
    elif not features:
        besides = "" if label is None else f" besides the target {roles.target!r}"
        raise DataError(f"{owner} has no column{besides} to select from")
    return Places(label, groups, sample_id, features)


def _named(name: str | None, names: Sequence[str], owner: str, *, optional: bool) -> int | None:
    if name is None or (optional and name not in names):
        return None
    if name not in names:
        raise DataError(
            f"{owner} has no column {name!r}{suggestion(name, names, 'its columns are')}"
        )
    return list(names).index(name)


def assembled(
    roles: Roles,
    places: Places,
    names: Sequence[str],
    X: Any,
    texts: Mapping[int, Any],
    owner: str,
    notes: Sequence[str] = (),
    target_of: Any = target_from_values,
) -> Table:
    """The table of what a reader has found.

    Parameters
    ----------
    roles, places
        What the columns are for, and where they are.
    names : sequence of str
        Of all columns.
    X : array or sparse matrix
        The features that are numbers, in the order of ``places.features``.
    texts : mapping of int to sequence
        The values of all other columns by position: target, groups, ids, and features to encode.
    owner : str
        Name of the file.
    notes : sequence of str
        What the reader decided by itself.
    target_of : callable
        Makes the target of values, a name and the owner.
    """
    notes = [*notes]
    if roles.drop_unlabelled and places.label is not None:
        labelled = np.array([not is_missing(value) for value in texts[places.label]], dtype=bool)
        n_left_out = int((~labelled).sum())
        if not labelled.any():
            raise DataError(f"target {names[places.label]!r} of {owner} is missing in every row")
        if n_left_out:
            rows = np.flatnonzero(labelled)
            X = X[rows]
            texts = {j: [values[i] for i in rows] for j, values in texts.items()}
            notes.append(f"left out {n_left_out} of {len(labelled)} rows, whose target is missing")
    features: list[int] = [j for j in places.features if j not in texts]
    X, feature_names, text_groups = _with_text(X, features, places, names, texts, owner)
    y, label = no_target(X.shape[0]), ""
    if places.label is not None:
        label = names[places.label]
        y = target_of(texts[places.label], label, owner)
    groups = ids = None
    if places.groups is not None:
        groups = _labels(texts[places.groups], f"groups column {names[places.groups]!r}", owner)
    if places.sample_id is not None:
        ids = _labels(texts[places.sample_id], "the column of sample ids", owner)
    id_name = "" if places.sample_id is None else names[places.sample_id]
    return Table(
        X, y, feature_names, label, tuple(notes), groups, ids, id_name, text_groups=text_groups
    )


def _labels(values: Any, what: str, owner: str) -> np.ndarray:
    missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        raise DataError(
            f"{what} of {owner} is empty in {len(missing)} row{'s' * (len(missing) != 1)} (first "
            f"in data row {missing[0] + 1}); fill it in"
        )
    return np.array([_as_text(value) for value in values])


def _as_text(value: Any) -> str:
    """The same text for 7 in one file and 7.0 in another."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _with_text(
    X: Any,
    numeric: list[int],
    places: Places,
    names: Sequence[str],
    texts: Mapping[int, Any],
    owner: str,
) -> tuple[Any, tuple[str, ...], dict[str, tuple[int, ...]]]:
    """X, its names and which columns were made of one text column, which gaps leave NaN."""
    if len(numeric) == len(places.features):
        return X, tuple(names[j] for j in numeric), {}
    where = {j: k for k, j in enumerate(numeric)}
    columns: list[np.ndarray] = []
    made: list[str] = []
    groups: dict[str, tuple[int, ...]] = {}
    for j in places.features:
        if j in where:
            columns.append(X[:, where[j]])
            made.append(names[j])
            continue
        values = [None if is_missing(value) else str(value).strip() for value in texts[j]]
        levels = sorted({value for value in values if value is not None})
        if len(levels) > MAX_VALUES:
            raise DataError(
                f"text column {names[j]!r} of {owner} has {len(levels)} different values, as names "
                f"of samples do; at most {MAX_VALUES} are turned into columns of zeros and ones: "
                f"leave it out with --drop {names[j]} (drop=[...] from Python)"
            )
        gaps = np.array([value is None for value in values])
        first = len(columns)
        for level in levels:
            columns.append(np.where(gaps, np.nan, [value == level for value in values]))
            made.append(f"{names[j]}{SEPARATOR}{level}")
        if levels:
            groups[names[j]] = tuple(range(first, len(columns)))
    if len(set(made)) < len(made):
        twice = [name for name in made if made.count(name) > 1]
        raise DataError(f"{owner} would have two columns called {listed(sorted(set(twice)))}")
    if not columns:
        raise DataError(f"{owner} has no column with values to select from")
    return np.column_stack(columns), tuple(made), groups
