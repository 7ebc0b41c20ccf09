"""Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._imports import require
from .errors import DataError, check_fits, explain_failure, text_columns_error
from .labels import MAX_CHARACTERS, Column, convert_values, not_a_column, not_utf8
from .roles import Roles, column_places, make_column, what
from .rows import Contents


def read_parquet(path: Path, roles: Roles) -> Contents:
    """Read a Parquet file; see ``read_table``."""
    arrow = require("pyarrow", extra="data", purpose="read Parquet files")
    parquet = require("pyarrow.parquet", extra="data", purpose="read Parquet files")
    # A text that is the same in every row takes next to nothing in the file: it is read once.
    texts = list(roles.columns_by_role.values()) or None
    with (
        explain_failure(f"{path.name} is not a readable Parquet file"),
        parquet.ParquetFile(path, read_dictionary=texts) as file,  # quicker than read_table
    ):
        # Every access to these builds them anew, which tens of thousands of columns would feel.
        meta, schema = file.metadata, file.schema_arrow
        all_names = schema.names
        # The names pandas gives to a data frame's index when it writes one.
        index = [name for name in all_names if name.startswith("__index_level_")]
        first = all_names.index(index[0]) if index else 0
        places = column_places(roles, all_names, path.name, index, first=first)
        features = places.features
        if meta.num_rows == 0:
            raise DataError(f"{path.name} has columns but no rows")
        # Nothing is read but numbers and the target, and only if they fit.
        kinds = [schema.field(j).type for j in features]
        text = [
            all_names[j]
            for j, kind in zip(features, kinds, strict=True)
            if not _is_numeric(arrow.types, kind)
        ]
        encoded = [j for j in features if all_names[j] in set(text)] if text else []
        if text and not roles.encode_text:
            first_name = "" if "sample_id" in places.columns else all_names[0]
            raise text_columns_error(text, path.name, first=first_name)
        wanted = [all_names[j] for j in (*features, *places.of_samples)]
        said = {j: what(role, all_names[j]) for role, j in places.columns.items()}
        said |= {j: f"text column {all_names[j]!r}" for j in encoded}
        for j, named in said.items():
            if arrow.types.is_nested(schema.field(j).type):
                raise not_a_column(named, path.name)
        check_fits(8 * meta.num_rows * len(wanted), path.name)
        rows = file.read(columns=None if len(wanted) == len(all_names) else wanted)
    is_id = places.columns.get("sample_id") == first
    notes = ("the index of the data frame was left out",) * bool(index and not is_id)
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    numeric = [(j, kind) for j, kind in zip(features, kinds, strict=True) if j not in encoded]
    narrow = all(kind in (arrow.float32(), arrow.float16()) for _, kind in numeric)
    X = np.empty((rows.num_rows, len(numeric)), dtype=np.float32 if narrow else np.float64)
    for k, (j, kind) in enumerate(numeric):
        column = columns[all_names[j]]
        if arrow.types.is_boolean(kind):
            column = column.cast(arrow.int8())
        elif arrow.types.is_decimal(kind):
            column = column.cast(arrow.float64())
        X[:, k] = column.to_numpy()
    values = {j: arrow_values(columns[all_names[j]], n, path.name) for j, n in said.items()}
    return Contents(
        path.name,
        X,
        tuple(all_names[j] for j in features),
        {r: make_column(r, all_names[j], values[j]) for r, j in places.columns.items()},
        {
            k: Column(all_names[j], said[j], values[j])
            for k, j in enumerate(features)
            if j in encoded
        },
        notes,
    )


def _is_numeric(types: Any, kind: Any) -> bool:
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(kind) for is_kind in (*numeric, types.is_null))


def arrow_values(column: Any, named: str, owner: str) -> Any:
    """The values of an Arrow column about the samples, or of one of text."""
    try:
        return convert_values(plain_values(column), named, owner)
    except UnicodeDecodeError:
        raise not_utf8(named, owner) from None


def plain_values(column: Any) -> Any:
    """An Arrow column as an array, or as a list where values are missing.

    Python's own objects would take many times the memory of as many labels.
    """
    from pyarrow import types

    kind = column.type
    is_coded = types.is_dictionary(kind)
    held = kind.value_type if is_coded else kind
    if any(is_kind(held) for is_kind in (types.is_string, types.is_large_string)):
        coded = column.unify_dictionaries() if is_coded else column.dictionary_encode()
        coded = coded.combine_chunks()
        texts = coded.dictionary.to_pylist()
        short = max(map(len, texts), default=MAX_CHARACTERS) < MAX_CHARACTERS
        if short and not coded.null_count:
            return np.array(texts)[coded.indices.to_numpy()]
        return [None if i is None else texts[i] for i in coded.indices.to_pylist()]
    is_plain = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
    return column.to_numpy() if is_plain and not column.null_count else column.to_pylist()
