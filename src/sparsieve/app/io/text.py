"""The bytes of a text file, which may be compressed, as UTF-8 with line feeds."""

from __future__ import annotations

import codecs
import gzip
import re
from pathlib import Path
from typing import BinaryIO, cast

from ...memory import memory_limit
from .errors import DataError
from .excel import Recoded
from .layout import BROKEN, not_utf8_text

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
        text = _decode(stream, path.name, written or "utf-8-sig")
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


def _decode(stream: BinaryIO, owner: str, encoding: str) -> str:
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
