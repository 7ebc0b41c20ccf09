"""The features of a table as numbers: what becomes of its text, its dates and its gaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._checks import listed
from ...validation.raw_columns import (
    AS_MARK,
    TEXT,
    RawColumn,
    RawValues,
    values_of_array,
    values_of_text,
)
from ...validation.raw_tables import planned
from .errors import DataError
from .labels import Column
from .names import text_columns_error
from .rows import Contents

if TYPE_CHECKING:
    from .roles import Roles

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


def features_of(contents: Contents, roles: Roles) -> Features:
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
        plan = planned(
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
    if decides and plan.encoded:
        plan.notes.append(f"encoded {listed(plan.encoded)} as columns of zeros and ones")
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
