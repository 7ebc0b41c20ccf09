"""Data that come through a pipe: ``cat x.csv | sparsieve select - -t y --format csv``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError

DASH = Path("-")


@contextmanager
def data_file(file: Path, form: str | None) -> Iterator[Path]:
    """The file to read: the one named, or what standard input holds as a file for a while."""
    if file != DASH:
        if form is not None:
            raise UsageError(f"--format is for standard input (-), but the data are in {file}")
        yield file
        return
    suffix = _suffix(form)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("standard input has no data; pipe data into it or name a file")
    # Readers look at names and move about in files.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"standard input{suffix}"
        with open(path, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield path


def _suffix(form: str | None) -> str:
    from ..io.read import READABLE_SUFFIXES

    known = ", ".join(suffix[1:] for suffix in READABLE_SUFFIXES)
    if form is None:
        raise UsageError(f"say with --format what standard input holds: {known}")
    suffix = "." + form.lower().removeprefix(".")
    if suffix not in READABLE_SUFFIXES:
        raise UsageError(f"unknown --format {form!r}; known are {known}")
    return suffix
