"""What the columns of a table are for, and the table made of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._checks import format_names, suggestion
from ...preprocessing.table import Table
from ...validation.raw_columns import (
    AS_MARK,
    AS_NAN,
    TEXT,
    RawColumn,
    RawValues,
    values_of_array,
    values_of_text,
)
from ...validation.raw_tables import make_plan
from ...validation.written import MAX_CATEGORIES
from .errors import DataError, TargetNeededError, check_unique, dropped_names, text_columns_error
from .labels import Column, format_labels, parse_numbers, read_covariate, read_target
from .rows import COVARIATE, Contents

AUTO, RAW = "auto", "raw"  # who decides what becomes of text; raw text stays as it is


@dataclass
class Features:
    """The features of a table as numbers.

    Attributes
    ----------
    X : array, sparse matrix or design
    names : tuple of str
    encode : tuple of RawColumn
        What was made of every column; empty where they are numbers as they are.
    texts : dict of str to ndarray
        Text that was left as it is, None where it is missing.
    notes : list of str
        What was decided, one sentence each.
    ids : Column or None
        A column of names of the samples among the features.
    """

    X: Any
    names: tuple[str, ...]
    encode: tuple[RawColumn, ...] = ()
    texts: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ids: Column | None = None


def encode_features(contents: Contents, roles: Roles) -> Features:
    """The features as numbers; text becomes columns of zeros and ones, dates become days."""
    X, names, owner = contents.X, contents.features, contents.owner
    places = [j for j in range(len(names)) if j not in contents.texts]
    texts = {j: _values(column) for j, column in contents.texts.items()}
    if roles.encode_text == RAW:
        left = {names[j]: values.texts for j, values in texts.items()}
        return Features(X, tuple(names[j] for j in places), texts=left)  # type: ignore[arg-type]
    asks = roles.gaps == AS_MARK or roles.max_missing is not None
    if not texts and not (asks and isinstance(X, np.ndarray) and np.isnan(X.sum())):
        return Features(X, names)
    at, decides = {j: k for k, j in enumerate(places)}, roles.encode_text == AUTO
    try:
        plan = make_plan(
            {
                name: texts[j] if j in texts else RawValues(X[:, at[j]])
                for j, name in enumerate(names)
            },
            gaps=roles.gaps,
            max_categories=roles.max_categories,
            max_missing=roles.max_missing,
            decides=decides,
            decimal=contents.decimal,
        )
    except ValueError as error:
        raise DataError(f"{owner}: {error}") from None
    if not roles.encode_text and (odd := [c.name for c in plan.columns if c.kind == TEXT or c.odd]):
        raise text_columns_error(odd, owner)  # numbers with points and numbers with commas
    if plan.wordy and not decides:
        name, several = next(iter(plan.wordy.items()))
        raise DataError(
            f"text column {name!r} of {owner} has {several:,} distinct values; it looks like an ID "
            f"or a date. At most {roles.max_categories} are turned into columns of zeros and ones: "
            f"leave it out with --drop {name} (drop=[...] from Python)"
        )
    if not plan.changes and len(plan.names) == len(names):
        return Features(X, names)
    if not plan.names:
        said = "".join(f"; {note}" for note in plan.notes)
        raise DataError(f"{owner} has no column with values to select from{said}")
    if decides and plan.encoded_columns:
        plan.notes.append(
            f"encoded {format_names(plan.encoded_columns)} as columns of zeros and ones"
        )
    ids = contents.texts[names.index(plan.id_name)] if plan.id_name else None
    is_text = {names[j] for j in texts}
    encodes = any(one.name in is_text or len(one.outputs) > 1 for one in plan.columns)
    encode = tuple(plan.columns) if encodes else ()
    return Features(plan.numbers(), tuple(plan.names), encode, notes=plan.notes, ids=ids)


def _values(column: Column) -> RawValues:
    """The values of a text column; dates of files with types are none."""
    if isinstance(column.values, np.ndarray) and column.values.dtype.kind == "M":
        return values_of_array(column.values)
    return values_of_text(column.values)


# What a column with this role holds, in words.
WORDS = {
    "target": "target",
    "time": "time",
    "event": "event",
    "entry": "entry time",
    "strata": "stratum",
    "groups": "group",
    "weights": "weight",
    "sample_id": "sample id",
}
SURVIVAL = ("time", "event", "entry", "strata")
# With the target in a file of its own, these may be in either file.
IN_EITHER_FILE = ("entry", "strata", "groups", "weights", "sample_id")


@dataclass(frozen=True)
class Roles:
    """What a user said about the columns.

    Attributes
    ----------
    target, groups, weights, sample_id : str or None
        Names of columns.
    drop : tuple of str
        Columns to leave out.
    survival : dict of str to str
        The columns of a survival target by role, see ``SURVIVAL``; empty for any other target.
    needs_target : bool
        Whether a table without a target is refused.
    with_ids : bool
        Whether names of samples are wanted; without ``sample_id`` they are the first column.
    encode_text : bool or "auto"
        Whether text columns become columns of zeros and ones; "auto" also leaves out text that
        names samples, with a note.
    gaps : {"nan", "value", "mark"}
        What becomes of missing values, see ``read_table``.
    max_categories, max_missing : int, float or None
        See ``read_table``.
    encoding, comment : str or None
        How a text file is written, see ``plain_text``.
    transpose : bool
        Whether the features are in rows.
    labels_only : bool
        Whether the table holds no features, as the file of ``target_file``.
    optional : tuple of str
        Roles whose columns need not be here, because they may be in the other file.
    task : str
        How the target will be read, see ``read_target``.
    only : frozenset of str or None
        The only columns that may be features; None is all.
    covariates : tuple of str
        Columns that are always in the model.
    event_value : str or None
        The label of the event, see ``as_survival``.
    """

    target: str | None = None
    drop: tuple[str, ...] = ()
    groups: str | None = None
    sample_id: str | None = None
    survival: Mapping[str, str] = field(default_factory=dict)
    needs_target: bool = True
    with_ids: bool = False
    encode_text: bool | str = False
    gaps: str = AS_NAN
    max_categories: int = MAX_CATEGORIES
    max_missing: float | None = None
    encoding: str | None = None
    comment: str | None = None
    transpose: bool = False
    labels_only: bool = False
    optional: tuple[str, ...] = ()
    task: str = "auto"
    only: frozenset[str] | None = None
    covariates: tuple[str, ...] = ()
    event_value: str | None = None
    weights: str | None = None

    @property
    def columns_by_role(self) -> dict[str, str]:
        """The columns that were named for the samples, by role."""
        columns = {"target": self.target, **self.survival}
        columns |= {"groups": self.groups, "weights": self.weights, "sample_id": self.sample_id}
        columns |= {f"{COVARIATE}{name}": name for name in self.covariates}
        return {role: name for role, name in columns.items() if name is not None}

    @property
    def wants_target(self) -> bool:
        """Whether one column is, or must be, the target."""
        return self.target is not None or (self.needs_target and not self.survival)


@dataclass(frozen=True)
class Places:
    """Where the columns are."""

    columns: dict[str, int]  # about the samples, by role
    features: list[int]

    @property
    def of_samples(self) -> list[int]:
        """The columns about the samples."""
        return list(self.columns.values())


def make_column(role: str, name: str, values: Any, **how: Any) -> Column:
    """A column about the samples; ``how`` are further fields of ``Column``."""
    return Column(name, what(role, name), values, **how)


def what(role: str, name: str) -> str:
    """What a column is for and what it is called, in words."""
    return f"{in_words(role)} {name!r}"


def in_words(role: str) -> str:
    """What a column with this role holds."""
    return "covariate" if role.startswith(COVARIATE) else WORDS[role]


def column_places(
    roles: Roles,
    names: Sequence[str],
    owner: str,
    left_out: Collection[str] = (),
    *,
    first: int = 0,
) -> Places:
    """Positions of the columns about the samples and of the features among the named columns.

    What is ``left_out`` anyway may be dropped too. The target has no position where none is named
    and none is needed. ``first`` is the column of ids where they have no name.
    """
    check_unique(names, owner)
    if roles.wants_target and roles.target is None:
        raise TargetNeededError(f"name the column of {owner} to predict: {format_names(names)}")
    taken: dict[str, int] = {}
    dropped = {*dropped_names(roles.drop, names, owner, left_out), *left_out}
    for role, name in roles.columns_by_role.items():
        if name in dropped and name not in left_out:
            raise DataError(f"column {name!r} cannot be dropped: it is the {in_words(role)}")
        if name in names:
            taken[role] = list(names).index(name)
        elif role not in roles.optional:
            hint = suggestion(name, names, "its columns are")
            raise DataError(f"{owner} has no column {name!r}{hint}")
    if "sample_id" not in taken and roles.with_ids:
        if first in taken.values():
            raise DataError(
                f"the first column of {owner}, {names[first]!r}, does not hold sample ids; name "
                "the column that does with --id (sample_id= from Python)"
            )
        taken["sample_id"] = first
    used: dict[int, str] = {}
    for role, place in taken.items():
        if place in used:
            raise DataError(
                f"column {names[place]!r} of {owner} cannot have two roles at once, "
                f"{in_words(used[place])} and {in_words(role)}: they must be different columns"
            )
        used[place] = role
    features = [j for j, name in enumerate(names) if j not in used and name not in dropped]
    if roles.only is not None:
        features = [j for j in features if names[j] in roles.only]
    if roles.labels_only:
        features = []
    elif not features:
        besides = "" if roles.target is None else f" besides the target {roles.target!r}"
        if roles.only is not None:
            raise DataError(f"{owner} has none of the columns {format_names(sorted(roles.only))}")
        raise DataError(f"{owner} has no column{besides} to select from")
    return Places(taken, features)


def as_table(contents: Contents, roles: Roles) -> Table:
    """The table of what a reader has found, whose rows are those to be used."""
    columns, owner = contents.columns, contents.owner
    features = encode_features(contents, roles)
    X = features.X
    y, name, notes = np.empty((X.shape[0], 0)), "", [*contents.notes, *features.notes]
    if features.ids is not None and "sample_id" not in columns:
        columns = {**columns, "sample_id": features.ids}
    if "target" in columns:
        name = columns["target"].name
        y, note = read_target(columns["target"], owner, roles.task)
        notes += [note] * bool(note)
    elif "time" in columns:
        y, name = _survival(columns, owner, roles.event_value)
    groups, ids = (
        format_labels(columns[role], owner) if role in columns else None
        for role in ("groups", "sample_id")
    )
    id_name = columns["sample_id"].name if "sample_id" in columns else ""
    return Table(
        X,
        y,
        features.names,
        name,
        tuple(notes),
        groups,
        ids,
        id_name,
        encode=features.encode,
        texts=features.texts,
        n_left_out=contents.n_left_out,
        covariates={
            column.name: read_covariate(column)
            for role, column in columns.items()
            if role.startswith(COVARIATE)
        },
        weights=_weights(columns["weights"], owner) if "weights" in columns else None,
        together=roles.encode_text == "auto",
    )


def _weights(column: Column, owner: str) -> np.ndarray:
    """The weights of the samples, refused where they are no numbers or below 0."""
    values = parse_numbers(column, owner)
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise DataError(f"the {column.what} of {owner} must hold numbers")
    if (below := values < 0).any():
        first = int(np.flatnonzero(below)[0])
        raise DataError(
            f"the {column.what} of {owner} is negative in data row {first + 1} "
            f"({values[first]:g}); weights are numbers from 0 on"
        )
    return values.astype(np.float64)


def _survival(
    columns: Mapping[str, Column], owner: str, event_value: str | None
) -> tuple[np.ndarray, str]:
    """Survival times, and what they are called together."""
    from ...validation.survival import as_survival  # which loads solvers

    name = f"{columns['time'].name} and {columns['event'].name}"
    parts: dict[str, Any] = {
        role: (format_labels if role == "strata" else parse_numbers)(columns[role], owner)
        for role in SURVIVAL
        if role in columns
    }
    try:
        times = parts.pop("time"), parts.pop("event")
        return as_survival(times, event_value=event_value, **parts), name
    except ValueError as error:
        said = str(error).replace("event_value=", "--event-value ")
        raise DataError(f"{name}: {said}") from None
