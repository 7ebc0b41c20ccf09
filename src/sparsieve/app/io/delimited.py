"""CSV, TSV and Excel files, also very wide ones; text files without any extra package.

Two parsers read the rows. The reference one, on the standard library, is the fastest there is
for wide files (one row of 22,000 numbers is one call into C) and knows how to say what is wrong.
PyArrow is several times faster on files with many rows but pays for every column, so it is used
only there, and whatever it does not read as plain numbers goes to the reference parser.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..._imports import available
from ...validation.written import (
    COMMA,
    DECIMALS,
    POINT,
    decimal_sign,
    plain_number,
    with_point,
    written_number,
)
from .errors import DataError, number_names, text_columns_error
from .labels import MISSING, Column
from .layout import BROKEN, Layout, detect_layout, not_utf8_text, plain_text
from .roles import Places, Roles, column_places, make_column
from .rows import Contents

# PyArrow starts to pay above this size and this many bytes per column (about 200 rows); measured
# with 50 x 22,000 (0.7 s against 1.7 s) and 200,000 x 20 (1.8 s against 0.35 s).
_ARROW_BYTES = 8_000_000
_ARROW_BYTES_PER_COLUMN = 4_000


def read_text_table(path: Path, roles: Roles) -> Contents:
    """Read a text or Excel table; see ``read_table``."""
    with plain_text(path, roles.encoding, roles.comment) as stream:
        notes = [*getattr(stream, "notes", ())]
        # New rows for a model need no more than the columns that it uses.
        layout = detect_layout(stream, path, may_be_single=roles.only is not None)
        if layout.decimal == COMMA:
            notes.append("numbers are written with decimal commas")
        if roles.transpose:
            return _read_feature_rows(stream, layout, roles, path.name, notes)
        if _has_no_header(layout, roles):
            notes.append("the first line holds numbers: the columns are called x0, x1, ...")
            names = number_names(len(layout.names))
            layout = replace(layout, names=names, offset=layout.start, header_lines=0)
        left_out: list[str] = []
        if layout.has_row_names:
            # Row names are called so in the file and by pandas.
            left_out = [layout.names[0], "", "Unnamed: 0"]
        try:
            places = column_places(roles, layout.names, path.name, left_out)
        except DataError as error:
            raise _other_layout(error, stream, layout, roles, path.name) from None
        has_ids_first = places.columns.get("sample_id") == 0
        if layout.has_row_names and not has_ids_first:
            notes.append("the first column has no name and was taken for row names: left out")
        elif layout.unnamed and not has_ids_first:
            name = layout.names[0]
            notes.append(f"the first column has no name but holds values: it is called {name}")
        texts_of = places.of_samples or places.features[:1]
        parsed = None
        if _arrow_pays(path, layout):
            stream.seek(layout.offset)
            parsed = _parse_with_arrow(stream, layout, texts_of, places.features)
        if parsed is None:
            stream.seek(layout.offset)
            parsed = _parse(stream, layout, texts_of, places.features, path.name)
        encoded: set[int] = set()
        if parsed.unread and (roles.encode_text or not parsed.strange):
            encoded = set(parsed.unread)
            numbers = [j for j in places.features if j not in encoded]
            stream.seek(layout.offset)
            texts_of = [*texts_of, *sorted(encoded)]
            parsed = _parse(stream, layout, texts_of, numbers, path.name)
    if parsed.strange:
        strange = sorted(parsed.strange)
        example = parsed.strange[strange[0]]
        text = [layout.names[j] for j in strange]
        first = "" if "sample_id" in places.columns else layout.names[0]
        raise text_columns_error(text, path.name, example, first=first)
    if not parsed.texts[0]:
        raise DataError(f"{path.name} has column names but no rows")
    texts = dict(zip(texts_of, parsed.texts, strict=True))
    found: dict[str, Any] = {"owner": path.name, "notes": tuple(notes)}
    return _contents(layout.names, layout, places, parsed.X, texts, encoded, **found)


def _contents(
    names: Sequence[str],
    layout: Layout,
    places: Places,
    X: np.ndarray,
    texts: Mapping[int, list[str]],
    encoded: Collection[int],
    **found: Any,
) -> Contents:
    """What was found: numbers, and the texts of the samples and of features to be encoded."""
    how: dict[int, Any] = {
        j: {"is_written": True, "decimal": decimal_sign(cells, layout.decimal)}
        for j, cells in texts.items()
    }
    return Contents(
        X=X,
        features=tuple(names[j] for j in places.features),
        columns={
            r: make_column(r, names[j], texts[j], **how[j]) for r, j in places.columns.items()
        },
        texts={
            k: Column(names[j], f"text column {names[j]!r}", texts[j], **how[j])
            for k, j in enumerate(places.features)
            if j in encoded
        },
        decimal=layout.decimal,
        **found,
    )


def _other_layout(
    error: DataError, stream: BinaryIO, layout: Layout, roles: Roles, owner: str
) -> DataError:
    """The error, or a better one where the file seems to be written in another way."""
    if all(is_number(name) for name in layout.names):
        return DataError(
            f"{error} (is the line with the column names missing? then they are called x0 to "
            f"x{len(layout.names) - 1}, the target too)"
        )
    absent = [name for name in roles.columns_by_role.values() if name not in layout.names]
    if not absent:
        return error
    stream.seek(layout.offset)
    with suppress(csv.Error, UnicodeError, *BROKEN):
        rows = csv.reader(_lines(stream), delimiter=layout.delimiter)
        if any(row and row[0].strip() == absent[0] for row in rows):
            return DataError(
                f"{owner} has no column {absent[0]!r}, but a row of that name: if its features "
                "are in rows and its samples in columns, add --transpose (transpose=True from "
                "Python)"
            )
    return error


def _read_feature_rows(
    stream: BinaryIO, layout: Layout, roles: Roles, owner: str, notes: list[str]
) -> Contents:
    """A file with a feature in every row: its name, then a value for every sample."""
    # Names are made up for samples without one, unless samples are found by their names.
    ids = list(layout.header[1:] if roles.with_ids else layout.names[1:])
    width, kept_as_text = len(layout.names), set(roles.columns_by_role.values())
    names = [layout.names[0]]
    rows: list[Any] = [ids]  # of numbers, or of texts
    lines = _lines(stream, layout)
    reader = csv.reader(lines, delimiter=layout.delimiter)
    with _refusing_bad_text(reader, layout, owner):
        for row in filter(None, reader):
            if len(row) != width:
                raise _uneven(row, layout.header_lines + reader.line_num, width, owner)
            name, cells = row[0].strip(), row[1:]
            names.append(name)
            numbers = None
            if name not in kept_as_text:
                numbers = _numbers(cells, layout.decimal)
            rows.append(cells if numbers is None else numbers)
    if len(names) == 1:
        raise DataError(f"{owner} has column names but no rows")
    places = column_places(replace(roles, with_ids=True), names, owner, names[:1])
    unread = [j for j in places.features if isinstance(rows[j], list)]
    strange = [j for j in unread if not all(map(_may_be_number, rows[j]))]
    if strange and not roles.encode_text:
        raise text_columns_error([names[j] for j in strange], owner)
    numeric = [rows[j] for j in places.features if j not in unread]
    X = np.array(numeric).T if numeric else np.empty((len(ids), 0))
    texts = {j: rows[j] for j in (*places.of_samples, *unread)}
    found: dict[str, Any] = {"owner": owner, "notes": tuple(notes), "sample": "column"}
    return _contents(names, layout, places, np.ascontiguousarray(X), texts, unread, **found)


def _has_no_header(layout: Layout, roles: Roles) -> bool:
    """Whether the first line is data: it holds numbers only, and the target has no name there."""
    named, made_up = set(roles.columns_by_role.values()), set(number_names(len(layout.names)))
    unnamed = bool(named) and named <= made_up and not named & set(layout.names)
    unneeded = not named and not roles.needs_target
    return (unnamed or unneeded) and all(is_number(name) for name in layout.names)


# -- rows ------------------------------------------------------------------------------------


class _Parsed(NamedTuple):
    """Numbers, the text of some columns, and what the others hold that is not plain numbers."""

    X: np.ndarray
    texts: list[list[str]]
    strange: Mapping[int, str] = {}  # text columns, with where they were found
    unread: Collection[int] = ()  # these, and numbers with separators of thousands and the like


def _parse(
    stream: BinaryIO, layout: Layout, texts_of: list[int], features: list[int], owner: str
) -> _Parsed:
    """The reference parser: row by row into one growing buffer."""
    values, texts = array("d"), []
    width = len(layout.names)
    strange: dict[int, str] = {}
    unread: set[int] = set()
    remaining, pick, pick_texts = features, _getter(features), _getter(texts_of)
    lines = _lines(stream, layout)
    reader = csv.reader(lines, delimiter=layout.delimiter)
    with _refusing_bad_text(reader, layout, owner):
        for row in reader:
            if not row:
                continue
            line = layout.header_lines + reader.line_num
            if len(row) != width:
                raise _uneven(row, line, width, owner)
            texts.append(pick_texts(row))
            fields = pick(row)
            start = len(values)
            try:
                values.extend(map(float, _plain(fields, layout.decimal)))
            except ValueError:
                del values[start:]
                for j, field in zip(remaining, fields, strict=True):
                    number = plain_number(with_point(field, layout.decimal))
                    if number is not None:
                        values.append(number)
                        continue
                    unread.add(j)
                    if not _may_be_number(field):
                        strange[j] = f" ({field!r} in line {line})"
                if len(remaining) > len(features) - len(strange):
                    remaining = [j for j in features if j not in strange]
                    pick = _getter(remaining)
    columns = [list(column) for column in zip(*texts, strict=True)] or [[] for _ in texts_of]
    if unread:
        return _Parsed(np.empty((0, 0)), columns, strange, unread)
    X = np.frombuffer(values, dtype=np.float64).reshape(len(texts), len(features))
    return _Parsed(X, columns)


def _may_be_number(field: str) -> bool:
    """Whether a field is a number with one of the decimal signs."""
    return any(written_number(field, sign) is not None for sign in DECIMALS)


def _plain(fields: Sequence[str], decimal: str) -> Sequence[str]:
    """Fields as Python may read them; ValueError where it would misread one."""
    joined = "".join(fields)
    if "_" in joined:  # Python reads 1_2 as 12
        raise ValueError
    if decimal == POINT:
        return fields
    if POINT in joined:  # which may set thousands apart
        raise ValueError
    return [with_point(field, decimal) for field in fields]


def _lines(stream: BinaryIO, layout: Layout | None = None) -> io.TextIOWrapper:
    """The text of the stream from here on, or from the line after the header."""
    if layout is not None:
        stream.seek(layout.offset)
    return _Detached(stream, encoding="utf-8", newline="")


class _Detached(io.TextIOWrapper):
    """Text that leaves the stream of the caller open."""

    def __del__(self) -> None:
        with suppress(ValueError):
            self.detach()


def _uneven(row: list[str], line: int, width: int, owner: str) -> DataError:
    return DataError(
        f"{owner} line {line} has {len(row)} field{'s' * (len(row) != 1)} but the first line has "
        f"{width}"
    )


@contextmanager
def _refusing_bad_text(reader: Any, layout: Layout, owner: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise not_utf8_text(owner) from None
    except csv.Error as error:
        line = layout.header_lines + reader.line_num
        raise DataError(f"{owner} line {line} cannot be read: {error}") from None
    except BROKEN as error:
        raise DataError(f"{owner} is not a complete gzip file: {error}") from None


def _numbers(cells: list[str], decimal: str) -> array | None:
    """All cells as numbers, or None where one is no plain number."""
    with suppress(ValueError):
        return array("d", map(float, _plain(cells, decimal)))
    found = [plain_number(with_point(cell, decimal)) for cell in cells]
    return None if None in found else array("d", found)  # type: ignore[type-var]


def _getter(indices: list[int]) -> Any:
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda row: [row[j] for j in indices]


def is_number(field: str) -> bool:
    """Whether a field holds a number, or nothing."""
    return plain_number(field) is not None


# -- many rows -------------------------------------------------------------------------------


def _arrow_pays(path: Path, layout: Layout) -> bool:
    size = path.stat().st_size
    return size > _ARROW_BYTES and size > _ARROW_BYTES_PER_COLUMN * len(layout.names)


def _parse_with_arrow(
    stream: BinaryIO, layout: Layout, texts_of: list[int], features: list[int]
) -> _Parsed | None:
    """What ``_parse`` gives, or None where that has to look itself."""
    arrow, arrow_csv = available("pyarrow"), available("pyarrow.csv")
    if arrow is None or arrow_csv is None:
        return None
    names = [str(j) for j in range(len(layout.names))]
    try:
        rows = arrow_csv.read_csv(
            stream,
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=16 << 20),
            parse_options=arrow_csv.ParseOptions(delimiter=layout.delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types={names[j]: arrow.string() for j in texts_of},
                include_columns=list(dict.fromkeys(names[j] for j in (*features, *texts_of))),
                null_values=sorted(MISSING),
                decimal_point=layout.decimal,
            ),
        )
    except (arrow.ArrowInvalid, *BROKEN):
        return None
    X = np.empty((rows.num_rows, len(features)))
    for j, place in enumerate(features):
        column = rows.column(names[place])
        kind = column.type
        if arrow.types.is_null(kind):
            X[:, j] = np.nan
        elif arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
            X[:, j] = column.to_numpy()
        else:
            return None
    return _Parsed(X, [rows.column(names[j]).to_pylist() for j in texts_of])
