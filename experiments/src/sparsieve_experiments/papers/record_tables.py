"""Tables of plain values as CSV: the rows of exhibits as a record keeps them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def kind_of(rows: Sequence[Mapping], name: str) -> str:
    """How the values of a column are written: "int", "float", "text", or "json" for the others."""
    values = [row[name] for row in rows if row.get(name) is not None]
    if all(type(value) is int for value in values):
        return "int"
    if all(type(value) in (int, float) for value in values):
        return "float"
    if all(type(value) is str and value for value in values):
        return "text"
    return "json"


def csv_table(names: Sequence[str], rows: Sequence[Mapping], kinds: Mapping[str, str]) -> str:
    """The text of a CSV file."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_written(row.get(name), kinds[name]) for name in names])
    return lines.getvalue()


def _written(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind == "float":
        return f"{value:.6g}"
    return json.dumps(short(value)) if kind == "json" else str(value)


def short(value: Any) -> Any:
    """Six digits of every number, however deep: nobody reads more, and files stay small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: short(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(part) for part in value]
    return value


def csv_rows(text: str, kinds: Mapping[str, str]) -> list[dict]:
    """The rows of such a text."""
    read: dict[str, Callable[[str], Any]] = {
        "int": int,
        "float": float,
        "text": str,
        "json": json.loads,
    }
    return [
        {name: read[kinds[name]](value) if value else None for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
