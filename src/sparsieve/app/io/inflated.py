"""Text files, which may be compressed: a few megabytes can inflate to any size."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import BinaryIO, cast

from ...memory import memory_limit
from .errors import DataError

EXCEL = (".xlsx", ".xlsm")


def suffix_of(path: Path) -> str:
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
        return self._within(super().read(self._most + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._within(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        return self._within(super().readline(self._most + 1 if size is None or size < 0 else size))

    def _within(self, content: bytes) -> bytes:
        if self.tell() > self._most:
            raise DataError(
                f"{self._path.name} inflates to more than the memory limit of "
                f"{self._most / 2**30:.1f} GiB; if that is right, unpack it or allow more with "
                "--memory (sparsieve.set_memory from Python)"
            )
        return content
