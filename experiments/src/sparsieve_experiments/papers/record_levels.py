"""A record of the standard level together with what was done at the full one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .claims import DATA_SETS

if TYPE_CHECKING:
    from .records import Record


def with_full(record: Record, full: Record) -> Record:
    """The record with the rows of the full level in the place of others of these data sets."""
    fuller = {exhibit.name: exhibit for exhibit in full.reproduction.exhibits}
    exhibits = []
    levels: dict[str, tuple[str, ...]] = {}
    behind: dict[str, tuple[str, ...]] = {}
    for exhibit in record.reproduction.exhibits:
        found = fuller.pop(exhibit.name, None)
        if found is None:
            exhibits.append(exhibit)
        elif exhibit.name == DATA_SETS:
            exhibits.append(replace(exhibit, rows=_at_hand(exhibit.rows, found.rows)))
        else:
            rows, rest = _joined(found.rows, exhibit.rows)
            summary, _ = _joined(found.summary, exhibit.summary)
            exhibits.append(
                replace(found, rows=rows, summary=summary, codes={**exhibit.codes, **found.codes})
            )
            levels[exhibit.name] = (full.reproduction.level,)
            if rest:
                levels[exhibit.name] = (record.reproduction.level, full.reproduction.level)
                behind[exhibit.name] = rest
    levels |= dict.fromkeys(fuller, (full.reproduction.level,))  # what only the full level has
    exhibits += fuller.values()
    there = full.reproduction.missing
    missing = {name: why for name, why in record.reproduction.missing.items() if name in there}
    return replace(
        record,
        reproduction=replace(
            record.reproduction, exhibits=exhibits, levels=levels, behind=behind, missing=missing
        ),
        remarks=[*record.remarks, *(r for r in full.remarks if r not in record.remarks)],
        fuller=full,
    )


def _joined(rows: Sequence[dict], others: Sequence[dict]) -> tuple[list[dict], tuple[str, ...]]:
    """Rows, and the other rows of other data sets; and what these are called."""
    if not rows or "dataset" not in rows[0]:
        return list(rows), ()
    known = {row["dataset"] for row in rows}
    rest = [row for row in others if row.get("dataset") not in known]
    return [*rows, *rest], tuple(dict.fromkeys(row["dataset"] for row in rest))


def _at_hand(rows: Sequence[dict], fuller: Sequence[dict]) -> list[dict]:
    """The list of data sets, those included that only the full level had."""
    there = {row["dataset"]: row for row in fuller if row.get("n_samples") is not None}
    return [there.get(row["dataset"], row) if row.get("n_samples") is None else row for row in rows]
