"""How a text table is written: its bytes as UTF-8, its separator, decimal sign and names."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from ..._checks import are_row_names
from ...memory import memory_limit
from .errors import DataError, number_names
from .excel import Recoded

EXCEL = (".xlsx", ".xlsm")


def full_suffix(path: Path) -> str:
    """The suffix in lower case, together with the one before a ``.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])


def opened_text(path: Path) -> BinaryIO:
    """The bytes of a file, inflated where its name ends in ``.gz``; of an Excel file as CSV."""
    if path.suffix.lower() in EXCEL:
        from .excel import as_csv

        return as_csv(path)
    return cast(BinaryIO, _Inflated(path)) if path.suffix.lower() == ".gz" else path.open("rb")


class _Inflated(gzip.GzipFile):
    """A compressed file that is read no further than the memory limit goes."""

    def __init__(self, path: Path):
        super().__init__(path, "rb")
        self._path, self._most = path, memory_limit()

    def read(self, size: int | None = -1) -> bytes:
        return self._check_size(super().read(self._most + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._check_size(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._check_size(
            super().readline(self._most + 1 if size is None or size < 0 else size)
        )

    def _check_size(self, content: bytes) -> bytes:
        if self.tell() > self._most:
            raise DataError(
                f"{self._path.name} inflates to more than the memory limit of "
                f"{self._most / 2**30:.1f} GiB; if that is right, unpack it or allow more with "
                "--memory (sparsieve.set_memory from Python)"
            )
        return content


def plain_text(path: Path, encoding: str | None = None, comment: str | None = None) -> BinaryIO:
    """The file as a stream of UTF-8 text.

    Files in UTF-16 or UTF-32 that say so in their first bytes, files in the given ``encoding``,
    files whose lines end in a carriage return alone and files with lines that start with
    ``comment`` are read into memory as a whole, up to the memory limit. All others are returned as
    they are.
    """
    is_sheet = path.suffix.lower() in EXCEL
    if is_sheet and (encoding is not None or comment is not None):
        option = "--encoding" if encoding is not None else "--comment"
        raise DataError(f"{option} is for text files, and {path.name} is an Excel file")
    _check_encoding(encoding)
    stream = opened_text(path)
    if is_sheet:
        return stream
    try:
        start = stream.read(1 << 16)
        stream.seek(0)
        marked = _detect_mark(start) if encoding is None else ""
        written = encoding or marked
        old_ends = b"\r" in start and b"\n" not in start
        if not (written or comment or old_ends):
            return stream
        text = _as_utf8(stream, path.name, written or "utf-8-sig")
    except BROKEN as error:
        stream.close()
        raise DataError(f"{path.name} is not a complete gzip file: {error}") from None
    except BaseException:
        stream.close()
        raise
    stream.close()
    notes = (f"read as {marked.upper()}",) if marked else ()
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if comment:
        text = re.sub(f"(?m)^{re.escape(comment)}.*$", "", text)  # lines keep their numbers
    made = Recoded(text.encode("utf-8", "replace"))
    made.notes = notes
    return made


def _detect_mark(start: bytes) -> str:
    """The encoding that the first bytes of a file name, unless that is UTF-8."""
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        info = codecs.lookup(encoding)
    except (LookupError, ValueError):
        info = None
    if info is None or not getattr(info, "_is_text_encoding", True):
        raise DataError(
            f"{encoding!r} is not an encoding of text; such are utf-8, utf-16, cp1252 and latin-1"
        )


def _as_utf8(stream: BinaryIO, owner: str, encoding: str) -> str:
    most = memory_limit()
    content = stream.read(most + 1)
    if len(content) > most:
        raise DataError(
            f"{owner} holds more than the memory limit of {most / 2**30:.1f} GiB; save it as UTF-8 "
            "without comments, or allow more with --memory (sparsieve.set_memory from Python)"
        )
    try:
        return content.decode(encoding)
    except UnicodeError:
        if encoding == "utf-8-sig":
            raise not_utf8_text(owner) from None
        raise DataError(f"{owner} is not text in {encoding.upper()}") from None


BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)  # what a damaged .gz file raises
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(,\d+)?")  # 1.790 or 1.790,82


@dataclass(frozen=True)
class Layout:
    """How the file is written: found in its first lines."""

    names: tuple[str, ...]
    delimiter: str
    decimal: str
    start: int  # where the first line begins, in bytes
    offset: int  # and the one after it
    header_lines: int
    unnamed: bool = False  # the first column has no header
    has_row_names: bool = False  # because it holds names of rows
    header: tuple[str, ...] = ()  # the names as they are written, some of them empty


def detect_layout(stream: BinaryIO, path: Path, *, may_be_single: bool = False) -> Layout:
    """The layout that the first lines of the file show; one column alone is mostly refused."""
    try:
        start, header, skipped = _header(stream)
        start += len(codecs.BOM_UTF8) * header.startswith(codecs.BOM_UTF8)
        offset = stream.tell()
        sample = [line for line in (_record(stream) for _ in range(50)) if line.strip()]
    except BROKEN as error:
        raise DataError(f"{path.name} is not a complete gzip file: {error}") from None
    text = _decode(header, path.name).strip("\r\n")
    if not text.strip():
        raise DataError(f"{path.name} is empty")
    header_lines = skipped + header.count(b"\n")
    lines = [_decode(line, path.name) for line in sample]
    delimiter = _delimiter(text, lines, path, may_be_single)
    names = tuple(name.strip() for name in _fields(text, delimiter))
    if not names:
        raise DataError(f"the first line of {path.name} cannot be split into column names")
    layout = Layout(names, delimiter, _decimal(lines, delimiter), start, offset, header_lines)
    # R's write.table gives row names no header; pandas' to_csv gives them an empty one.
    if lines and len(_fields(lines[0], delimiter)) == len(names) + 1:
        names = ("", *names)
    unnamed = len(names) > 1 and names[0] == ""
    row_names = unnamed and are_row_names(_first_cells(lines, layout))
    taken = set(names)
    named = tuple(
        name or (made_up if made_up not in taken else f"unnamed {made_up}")
        for name, made_up in zip(names, number_names(len(names)), strict=True)
    )
    return replace(layout, names=named, unnamed=unnamed, has_row_names=row_names, header=names)


def _header(stream: BinaryIO) -> tuple[int, bytes, int]:
    """(where the line with the names begins, that line, how many lines are before it).

    Lines that start with # are comments, unless the last of them has as many fields as the line
    below: then it is the line with the names.
    """
    skipped = 0
    start, line = 0, _record(stream)
    while line and (not line.strip() or line.removeprefix(codecs.BOM_UTF8).startswith(b"#")):
        after = stream.tell()
        following = _record(stream)
        if line.strip() and _alike(line, following):
            stream.seek(after)
            break
        skipped += line.count(b"\n")
        start, line = after, following
    return start, line, skipped


def _alike(line: bytes, following: bytes) -> bool:
    """Whether two lines have as many separators of one kind."""
    if following.lstrip().startswith(b"#"):
        return False
    counts = [(line.count(sign), following.count(sign)) for sign in (b",", b";", b"\t")]
    return any(here == there > 0 for here, there in counts)


def _first_cells(lines: list[str], layout: Layout) -> list[str]:
    """Of the first column in the first lines, with decimal points."""
    cells = [fields[0] for line in lines if (fields := _fields(line, layout.delimiter))]
    return [cell.replace(layout.decimal, ".") for cell in cells]


def _record(stream: BinaryIO) -> bytes:
    """One line, or several where a quoted field holds line breaks."""
    record = stream.readline()
    while record.count(b'"') % 2:
        more = stream.readline()
        if not more:
            break
        record += more
    return record


def _decode(line: bytes, owner: str) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8_text(owner) from None


def not_utf8_text(owner: str) -> DataError:
    """The sentence for a text file in another encoding."""
    return DataError(
        f"{owner} is not UTF-8 text; save it as UTF-8, or say what it is, for example with "
        "--encoding cp1252 (encoding= from Python)"
    )


def _fields(record: str, delimiter: str) -> list[str]:
    """The fields of one record; none where this delimiter leaves one longer than csv reads."""
    try:
        return next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))
    except csv.Error:
        return []


def _delimiter(header: str, lines: list[str], path: Path, may_be_single: bool) -> str:
    """What splits header and first row alike; if several do, the one into most columns."""
    bare = re.sub(r'"[^"]*"', "", header)
    if ".tsv" in (suffix.lower() for suffix in path.suffixes) and "\t" in bare:
        return "\t"

    candidates = [delimiter for delimiter in ",;\t" if delimiter in bare]
    if not candidates and may_be_single:
        return ";" if any("," in line for line in lines) else ","  # of decimals
    if not candidates:
        raise DataError(
            f"{path.name} has no comma, semicolon or tab in its first line, so only one column; "
            "at least one feature and the target are needed"
        )

    def fit(delimiter: str) -> tuple[bool, int]:
        width = len(_fields(header, delimiter))
        alike = bool(lines) and len(_fields(lines[0], delimiter)) in (width, width + 1)
        return alike, width

    return candidates[0] if len(candidates) == 1 else max(candidates, key=fit)


def _decimal(lines: list[str], delimiter: str) -> str:
    """A comma if the first rows have decimal commas and no decimal points."""
    if delimiter == "," or not any("," in line for line in lines):
        return "."
    fields = [field.strip() for line in lines for field in _fields(line, delimiter)]
    grouped = [found for field in fields if (found := _THOUSANDS.fullmatch(field)) is not None]
    commas = any(_DECIMAL_COMMA.fullmatch(field) for field in fields)
    commas |= any(found[1] is not None for found in grouped)
    points = sum(_DECIMAL_POINT.fullmatch(field) is not None for field in fields)
    points -= sum(found[1] is None for found in grouped)  # of thousands, beside decimal commas
    return "," if commas and not points else "."
