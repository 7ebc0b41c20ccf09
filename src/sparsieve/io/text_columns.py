"""Text columns of a table made into numbers: categories, dates, written numbers and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._checks import listed
from ..validation.written import (
    MAX_CATEGORIES,
    TextKind,
    dates_read,
    levels_encoded,
    taken_for_id,
    text_kind,
    too_few_values,
)
from .errors import DataError
from .labels import Column
from .rows import Contents

SEPARATOR = "="  # between a text column and its value in the name of a column of zeros and ones
AUTO, RAW = "auto", "raw"  # who decides what becomes of text; raw text stays as it is


@dataclass
class Features:
    """The features of a table as numbers.

    Attributes
    ----------
    X : array, sparse matrix or design
    names : tuple of str
    groups : dict of str to tuple of int
        Columns of zeros and ones by the text column that they were made of; gaps are NaN.
    texts : dict of str to ndarray
        The text columns as they are in the file, None where a text is missing.
    notes : list of str
        What was decided, one sentence each.
    ids : Column or None
        A column of names of the samples among the features.
    """

    X: Any
    names: tuple[str, ...]
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)
    texts: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ids: Column | None = None


def features_of(
    contents: Contents,
    *,
    decides: bool = False,
    raw: bool = False,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float | None = None,
) -> Features:
    """The features as numbers; text becomes columns of zeros and ones, dates become days.

    Parameters
    ----------
    contents : Contents
        What a reader has found.
    decides : bool, default=False
        Whether text of too many values, and that which names the samples, is left out with a note.
        Otherwise it is refused.
    raw : bool, default=False
        Whether text is left as it is, in ``texts``, and is no feature.
    max_categories : int, default=20
        How many values text may have.
    max_missing : float or None, default=None
        Columns with a larger share of missing values are left out; None keeps them.
    """
    X, names = contents.X, contents.features
    if raw:
        numbers = tuple(name for j, name in enumerate(names) if j not in contents.texts)
        return Features(X, numbers, texts=_named(_texts(contents), names))
    if not contents.texts and (max_missing is None or not isinstance(X, np.ndarray)):
        return Features(X, names)
    texts = _texts(contents)
    kinds = {j: text_kind(some.tolist(), max_categories) for j, some in texts.items()}
    missing = _mostly_missing(contents, kinds, max_missing)
    if not texts and not missing:
        return Features(X, names)
    refused = [j for j, one in kinds.items() if one.kind == "wordy" and j not in missing]
    names_samples = [j for j, one in kinds.items() if one.kind == "name"]
    if not decides:
        few = [j for j in names_samples if kinds[j].n_values > max_categories]
        _refuse_wordy([*refused, *few], contents, kinds, max_categories)
        names_samples = []
    ids = names_samples[0] if names_samples else None
    wordy = [j for j in (*refused, *names_samples[1:]) if j not in missing]
    left_out = {*wordy, *names_samples, *missing}
    made = _encoded(contents, texts, kinds, left_out)
    made.texts = _named({j: some for j, some in texts.items() if j not in left_out}, names)
    if ids is not None:
        made.ids = contents.texts[ids]
        made.notes.append(f"{names[ids]!r} is not a feature: {taken_for_id(kinds[ids].n_values)}")
    if wordy:
        many = ", ".join(f"{names[j]!r} ({kinds[j].n_values})" for j in sorted(wordy))
        made.notes.append(
            f"left out text with more than {max_categories} different values, as set by "
            f"--max-categories (max_categories= from Python): {many}"
        )
    if missing:
        made.notes.append(
            f"left out {listed([names[j] for j in sorted(missing)])}: "
            f"{too_few_values(max_missing)}; --max-missing (max_missing= from Python) sets the "
            "share"
        )
    dates = [j for j, one in kinds.items() if one.kind == "date" and j not in missing]
    made.notes += dates_read({names[j]: kinds[j] for j in dates})
    if decides and made.groups:
        made.notes.append(f"encoded {listed(list(made.groups))} as columns of zeros and ones")
    if not made.names:
        raise DataError(
            f"{contents.owner} has no column with values to select from"
            + "".join(f"; {note}" for note in made.notes)
        )
    return made


def _texts(contents: Contents) -> dict[int, np.ndarray]:
    """The text columns by place, None where a text is missing."""
    found: dict[int, np.ndarray] = {}
    for j, column in contents.texts.items():
        found[j] = np.empty(len(column.values), dtype=object)
        found[j][:] = [str(value).strip() for value in column.values]
        found[j][column.gaps] = None
    return found


def _named(texts: dict[int, np.ndarray], names: Sequence[str]) -> dict[str, np.ndarray]:
    return {names[j]: some for j, some in texts.items()}


def _numeric(contents: Contents) -> list[int]:
    """The places of the features that are numbers, in the order of X."""
    return [j for j in range(len(contents.features)) if j not in contents.texts]


def _mostly_missing(contents: Contents, kinds: dict[int, TextKind], most: float | None) -> set[int]:
    """Features with a larger share of missing values, by place."""
    if most is None:
        return set()
    shares: dict[int, float] = {}
    if isinstance(contents.X, np.ndarray) and contents.X.dtype.kind == "f":
        gaps = np.isnan(contents.X).mean(axis=0).tolist()
        shares |= dict(zip(_numeric(contents), gaps, strict=True))
    for j, column in contents.texts.items():
        numbers = kinds[j].numbers
        gap = column.gaps if numbers is None else np.isnan(numbers)
        shares[j] = float(gap.mean()) if len(gap) else 0.0
    return {j for j, share in shares.items() if share == 1.0 or share > most}


def _refuse_wordy(
    places: list[int], contents: Contents, kinds: dict[int, TextKind], max_categories: int
) -> None:
    if places:
        name = contents.features[places[0]]
        raise DataError(
            f"text column {name!r} of {contents.owner} has {kinds[places[0]].n_values:,} distinct "
            f"values; it looks like an ID or a date. At most {max_categories} are turned into "
            f"columns of zeros and ones: leave it out with --drop {name} (drop=[...] from Python)"
        )


def _encoded(
    contents: Contents,
    texts: dict[int, np.ndarray],
    kinds: dict[int, TextKind],
    left_out: set[int],
) -> Features:
    """The columns that are used, in the order of the file."""
    X, owner = contents.X, contents.owner
    place = {j: k for k, j in enumerate(_numeric(contents))}
    if not texts:
        kept = [j for j in place if j not in left_out]
        few = X[:, [place[j] for j in kept]]
        return Features(few, tuple(contents.features[j] for j in kept))
    columns: list[np.ndarray] = []
    made: list[str] = []
    groups: dict[str, tuple[int, ...]] = {}
    for j, name in enumerate(contents.features):
        if j in left_out:
            continue
        numbers = kinds[j].numbers if j in kinds else X[:, place[j]]
        if numbers is not None:
            columns.append(numbers)
            made.append(name)
            continue
        gaps, first = contents.texts[j].gaps, len(columns)
        levels = sorted(set(texts[j].tolist()) - {None})
        for level in levels_encoded(levels):
            columns.append(np.where(gaps, np.nan, texts[j] == level))
            made.append(f"{name}{SEPARATOR}{level}")
        if levels:
            groups[name] = tuple(range(first, len(columns)))
    if len(set(made)) < len(made):
        twice = [name for name in made if made.count(name) > 1]
        raise DataError(f"{owner} would have two columns called {listed(sorted(set(twice)))}")
    stacked = np.column_stack(columns) if columns else np.empty((X.shape[0], 0))
    return Features(stacked, tuple(made), groups)
