"""Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import require
from .errors import DataError, said
from .table import Table, no_target, split_or_all_columns, target_from_values, text_columns_error


def read_parquet(
    path: Path, target: str | None, drop: Sequence[str], *, needs_target: bool = True
) -> Table:
    """Read a Parquet file; see ``read_table``."""
    arrow = require("pyarrow", extra="data", purpose="read Parquet files")
    parquet = require("pyarrow.parquet", extra="data", purpose="read Parquet files")
    try:
        with parquet.ParquetFile(path) as file:  # quicker than read_table on wide files
            rows = file.read()
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make anything of the reader
        raise DataError(f"{path.name} is not a readable Parquet file: {said(error)}") from error
    # Every access to these builds them anew, which tens of thousands of columns would feel.
    all_names, schema, columns = rows.column_names, rows.schema, rows.columns
    # The names pandas gives to a data frame's index when it writes one.
    index = [name for name in all_names if name.startswith("__index_level_")]
    notes = ("the index of the data frame was left out",) if index else ()
    label, features = split_or_all_columns(
        all_names, target, drop, path.name, left_out=index, needs_target=needs_target
    )
    if rows.num_rows == 0:
        raise DataError(f"{path.name} has columns but no rows")
    kinds = [schema.field(j).type for j in features]
    text = [
        all_names[j]
        for j, kind in zip(features, kinds, strict=True)
        if not _is_numeric(arrow.types, kind)
    ]
    if text:
        raise text_columns_error(text, path.name)
    narrow = all(kind in (arrow.float32(), arrow.float16()) for kind in kinds)
    X = np.empty((rows.num_rows, len(features)), dtype=np.float32 if narrow else np.float64)
    for k, (j, kind) in enumerate(zip(features, kinds, strict=True)):
        column = columns[j]
        if arrow.types.is_boolean(kind):
            column = column.cast(arrow.int8())
        elif arrow.types.is_decimal(kind):
            column = column.cast(arrow.float64())
        X[:, k] = column.to_numpy()
    names = tuple(all_names[j] for j in features)
    if label is None:
        return Table(X, no_target(len(X)), names, "", notes)
    name = all_names[label]
    values = columns[label]
    y = np.array(values.to_pylist()) if values.null_count == 0 else values.to_pylist()
    return Table(X, target_from_values(y, name, path.name), names, name, notes)


def _is_numeric(types: Any, kind: Any) -> bool:
    return (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )
