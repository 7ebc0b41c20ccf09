"""Data that come through a pipe: ``cat x.csv | sparsieve select - -t y --format csv``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .output import progress

if TYPE_CHECKING:  # loading it takes a while
    from ..io import Table

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
        raise UsageError("nothing comes from standard input; pipe data into it or name a file")
    # Readers look at names and move about in files.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"standard input{suffix}"
        with open(path, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield path


def read_data(path: Path, target: str | None, drop: list[str] | None, **options: Any) -> Table:
    """The table in the file; the options are those of :func:`~sparsieve.io.read_table`."""
    from ..io.errors import TargetNeededError
    from ..io.read import read_table

    try:
        with progress(f"Reading {path.name}"):
            return read_table(path, target, drop or (), **options)
    except TargetNeededError as error:
        raise UsageError(f"--target is missing: {error}") from None


def _suffix(form: str | None) -> str:
    from ..io.read import READABLE_SUFFIXES

    known = ", ".join(suffix[1:] for suffix in READABLE_SUFFIXES)
    if form is None:
        raise UsageError(f"say with --format what standard input holds: {known}")
    suffix = "." + form.lower().removeprefix(".")
    if suffix not in READABLE_SUFFIXES:
        raise UsageError(f"unknown --format {form!r}; known are {known}")
    return suffix
