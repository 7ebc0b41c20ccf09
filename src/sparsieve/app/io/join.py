"""The target from another file, joined by the names of the samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ..._checks import listed
from .errors import DataError
from .labels import labels_of
from .rows import Contents


def joined(data: Contents, labels: Contents) -> Contents:
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
        sentence += f"; left out, {why}: {listed(absent)}"
    if unused:
        sentence += f"; not in {data.owner}: {listed(unused)}"
    kept = data.rows(np.array(matched))
    return replace(
        kept,
        columns={**labels.rows(there).columns, **kept.columns},
        notes=(*data.notes, *labels.notes, sentence),
    )


def _ids(contents: Contents) -> list[str]:
    """The names of the samples, each of which must mean one."""
    column = contents.columns["sample_id"]
    ids: list[str] = labels_of(column, contents.owner).tolist()
    repeated = [name for name, times in Counter(ids).items() if times > 1]
    if repeated:
        raise DataError(
            f"the sample ids of {contents.owner} (column {column.name!r}) are not unique: "
            f"{listed(repeated)}; name the right column with --id (sample_id= from Python), or "
            "remove the copies"
        )
    return ids
