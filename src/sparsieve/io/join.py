"""The target from another file, joined by the names of the samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from .._checks import listed
from .errors import DataError
from .table import Table


def joined(data: Table, labels: Table, owner: str, labels_owner: str) -> Table:
    """The features of one table with the target, and the groups, of the other.

    Only samples that are in both are kept, in the order of the features.
    """
    assert data.ids is not None
    assert labels.ids is not None
    for found, column, file in (
        (data.ids, data.id_name, owner),
        (labels.ids, labels.id_name, labels_owner),
    ):
        repeated = [str(name) for name, times in Counter(found.tolist()).items() if times > 1]
        if repeated:
            raise DataError(
                f"the sample ids of {file} (column {column!r}) are not unique: "
                f"{listed(repeated)}; name the right column with --id (sample_id= from Python), or "
                "remove the copies"
            )
    places = {name: row for row, name in enumerate(labels.ids.tolist())}
    ids = data.ids.tolist()
    matched = [row for row, name in enumerate(ids) if name in places]
    if not matched:
        inside = sum(name in places for name in data.feature_names)
        hint = (
            f"but {inside} of them are names of columns of {owner}: if its features are in rows, "
            "add --transpose (transpose=True from Python)"
            if inside
            else f"such as {str(labels.ids[0])!r} in {labels_owner} and {ids[0]!r} in {owner}; "
            "name the column of ids with --id (sample_id= from Python)"
        )
        raise DataError(f"no sample id of {labels_owner} is in {owner}, {hint}")
    there = np.array([places[ids[row]] for row in matched])
    absent = [name for name in ids if name not in places]
    unused = [name for name in places if name not in set(ids)]
    sentence = f"matched {len(matched)} of {len(ids)} samples with {labels_owner}"
    if absent:
        sentence += f"; left out, without a target there: {listed(absent)}"
    if unused:
        sentence += f"; not in {owner}: {listed(unused)}"
    groups = labels.groups if labels.groups is None else labels.groups[there]
    kept = data.rows(np.array(matched))
    return replace(
        kept,
        y=labels.y[there],
        target_name=labels.target_name,
        groups=kept.groups if groups is None else groups,
        notes=(*data.notes, *labels.notes, sentence),
    )
