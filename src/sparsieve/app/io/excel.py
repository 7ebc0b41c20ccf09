"""Excel files (.xlsx): the cells of the first sheet as the text of a CSV file.

A workbook is a ZIP archive of XML that may come from anybody. Before openpyxl sees it, the archive
is checked: how large it becomes, and that no part, whatever it is called, declares entities or an
unusual encoding. Links to other files are not followed, macros are not run, and of formulas only
the values that were saved with them are read.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..._imports import require
from ...memory import memory_limit
from .errors import DataError, explain_failure

_CHUNK = 1 << 20
_OVERLAP = 64  # bytes: longer than what is looked for, also with four bytes per letter
_MAX_ROWS = 1_048_576  # that a sheet can have
_UTF_8 = (b"utf-8", b"us-ascii", b"ascii")
_ENCODING = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")


class Recoded(io.BytesIO):
    """Text in another form than that of its file, and what a user should know about it."""

    notes: tuple[str, ...] = ()


def as_csv(path: Path) -> BinaryIO:
    """The first sheet as CSV, in UTF-8."""
    openpyxl = require("openpyxl", extra="excel", purpose="read Excel files")
    with explain_failure(f"{path.name} is not a readable Excel file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and the like, which nobody needs here
        has_formulas = _check_archive(path)
        with path.open("rb") as file, path.open("rb") as again:
            book = _open_workbook(openpyxl, file, data_only=True)
            sheet = next((one for one in book.worksheets if hasattr(one, "iter_rows")), None)
            if sheet is None:
                raise DataError(f"{path.name} has no sheet with cells")
            formulas = None
            if has_formulas:
                formulas = _open_workbook(openpyxl, again, data_only=False)[sheet.title]
            found = Recoded(_text(sheet, formulas, path.name).encode("utf-8"))
        if len(book.sheetnames) > 1:
            found.notes = (
                f"read the first of {len(book.sheetnames)} sheets, {sheet.title!r}; save another "
                "one as a file of its own to use it",
            )
    return found


def _open_workbook(openpyxl: Any, file: BinaryIO, *, data_only: bool) -> Any:
    return openpyxl.load_workbook(file, read_only=True, data_only=data_only, keep_links=False)


def _text(sheet: Any, formulas: Any, owner: str) -> str:
    text, width, most = io.StringIO(newline=""), 0, memory_limit()
    # Quotes around all texts: nothing else may look like a separator.
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = _rows(sheet) if formulas is None else _values(sheet, formulas, owner)
    for number, row in enumerate(rows, 1):
        if number > _MAX_ROWS:
            raise DataError(f"{owner} has a row beyond the {_MAX_ROWS:,} that a sheet can have")
        cells = [_plain(cell) for cell in row]
        while cells and cells[-1] is None:
            del cells[-1]
        if not cells:
            text.write("\n")
            continue
        width = width or len(cells)
        writer.writerow([*cells, *[None] * (width - len(cells))])
        if text.tell() > most:
            raise DataError(f"{owner} holds more than the memory limit of {most / 2**30:.1f} GiB")
    return text.getvalue()


def _plain(cell: Any) -> Any:
    """A value of a cell; to a workbook 7 and 7.0 are the same number."""
    is_whole = type(cell) is float and cell.is_integer() and abs(cell) < 2**53
    return int(cell) if is_whole else cell


def _rows(sheet: Any, *, values_only: bool = True) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what it says about its size need not be true
    return sheet.iter_rows(values_only=values_only)


def _values(sheet: Any, formulas: Any, owner: str) -> Iterator[list[Any]]:
    """The saved values of a sheet with formulas; refused where there is none."""
    pairs = zip(_rows(sheet, values_only=False), _rows(formulas), strict=True)
    for number, (cells, as_written) in enumerate(pairs, 1):
        for cell, formula in zip(cells, as_written, strict=True):
            # A formula that gives an empty text has that type.
            if cell.value is None and formula is not None and cell.data_type == "n":
                raise DataError(
                    f"row {number} of {owner} holds a formula whose value was not saved; open the "
                    "file in a spreadsheet program and save it again, or save it as .csv"
                )
        yield [cell.value for cell in cells]


def _check_archive(path: Path) -> bool:
    """Refuse what is too large or could make an XML parser misbehave; tell of formulas."""
    if not zipfile.is_zipfile(path):
        raise DataError(
            f"{path.name} is not a readable Excel file: it is not an .xlsx workbook (an older .xls "
            "file or one with a password must be saved as .xlsx without one)"
        )
    has_formulas, most = False, memory_limit()
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > most:
            raise DataError(
                f"{path.name} inflates to more than the memory limit of {most / 2**30:.1f} GiB; "
                "if that is right, allow more with --memory (sparsieve.set_memory from Python)"
            )
        for part in parts:
            with archive.open(part) as file:
                has_formulas |= _check_part(file, part.filename, path.name)
    return has_formulas


def _check_part(file: Any, name: str, owner: str) -> bool:
    """Refuse a part that declares entities; tell whether it has formulas.

    Any part may be a sheet: the workbook says which, and not their names. Letters may take several
    bytes, all but one of them zero.
    """
    tail, chunk = b"", file.read(_CHUNK)
    has_formulas, start = False, chunk.removeprefix(codecs.BOM_UTF8)
    declared = _ENCODING.match(start)
    is_xml = name.lower().endswith((".xml", ".rels")) or _letters(start[:_OVERLAP]).startswith(b"<")
    if is_xml and (b"\0" in start[:4] or (declared and declared[1].lower() not in _UTF_8)):
        raise DataError(f"{owner} is not read: its part {name!r} is not UTF-8 text")
    while chunk:
        window = tail + chunk
        letters = _letters(window)
        if b"<!DOCTYPE" in letters or b"<!ENTITY" in letters:
            raise DataError(
                f"{owner} is not read: its part {name!r} declares entities, which no workbook "
                "needs; save it again in a spreadsheet program, or save the sheet as .csv"
            )
        has_formulas = has_formulas or _FORMULA.search(window) is not None
        tail, chunk = window[-_OVERLAP:], file.read(_CHUNK)
    return has_formulas


def _letters(content: bytes) -> bytes:
    """The letters of text in UTF-8, UTF-16 or UTF-32, without what marks its encoding."""
    return content.replace(b"\0", b"").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").lstrip()
