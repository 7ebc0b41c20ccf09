"""Write named columns to CSV, TSV and Parquet files."""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO, cast

import numpy as np

from ..._files import replacing
from ..._imports import require
from .errors import DataError, shown
from .labels import are_whole
from .layout import full_suffix


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, np.ndarray],
    *,
    escape_formulas: bool = False,
) -> None:
    """Write columns of equal length to a file, in the format of its suffix.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv (also .gz) or .parquet file; an existing one is replaced, and only once
        the new one is complete.
    columns : mapping of str to ndarray
        The columns by name, for example ``Table.columns()``. In text files whole numbers are
        written without a decimal point and a missing value is an empty field.
    escape_formulas : bool, default=False
        Put an apostrophe before text and names that begin with ``=``, ``+``, ``-``, ``@``, a tab
        or a carriage return, also behind apostrophes. Spreadsheets run such cells as formulas when
        a CSV or TSV file is opened; wanted where names or labels come from strangers. Numbers are
        left alone, and so are Parquet files, whose cells are never run.

    See Also
    --------
    sparsieve.app.io.read_table : Reads a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsieve.app.io import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "out.csv"
    ...     write_table(path, {"a": np.array([1.0, 2.0]), "b": np.array([0.5, 0.25])})
    ...     path.read_text().split()
    ['a,b', '1,0.5', '2,0.25']
    """
    path = Path(path)
    check_writable(path)
    if escape_formulas and full_suffix(path) != ".parquet":
        columns = {_harmless(name): _without_formulas(c) for name, c in columns.items()}
    with replacing(path) as scratch:
        _WRITERS[full_suffix(path)](scratch, columns)


_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def _harmless(text: str) -> str:
    """The text behind an apostrophe, also where there is one already: no two become the same."""
    return f"'{text}" if _FORMULA.match(text) else text


def _without_formulas(column: np.ndarray) -> np.ndarray:
    column = np.asarray(column)
    if column.dtype.kind in "biufc":
        return column
    return np.array([_harmless(text) for text in column.astype(str).tolist()])


def check_writable(path: Path, suffixes: Sequence[str] | None = None) -> None:
    """Refuse, before any work, a file that could not be written after it."""
    suffixes = WRITABLE_SUFFIXES if suffixes is None else suffixes
    if full_suffix(path) not in suffixes:
        raise DataError(
            f"cannot write {shown(path.name)}: unknown suffix {full_suffix(path) or '(none)'!r}; "
            f"known are {', '.join(suffixes)}"
        )
    try:
        target = Path(os.path.realpath(path))
        exists, is_folder, has_place = target.exists(), target.is_dir(), target.parent.is_dir()
    except OSError as error:  # a name too long, say
        raise DataError(f"cannot write {shown(path)}: {error.strerror or error}") from None
    if not has_place:
        folder = path.parent if not path.is_symlink() else target.parent
        raise DataError(f"cannot write {shown(path)}: the folder {shown(folder)} does not exist")
    if is_folder:
        raise DataError(f"cannot write {shown(path)}: it is a folder")
    if exists and not os.access(target, os.W_OK):
        raise DataError(f"cannot write {shown(path)}: it may not be written to")
    if (not exists or target.is_file()) and not os.access(target.parent, os.W_OK | os.X_OK):
        raise DataError(
            f"cannot write {shown(path)}: the folder {shown(target.parent)} may not be written to"
        )
    if full_suffix(path) == ".parquet":
        require("pyarrow.parquet", extra="data", purpose="write Parquet files")


class _Lines:
    """Lines that end in a line feed alone, of which fields with a carriage return are quoted."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, line: str) -> int:
        """One line; the writer of older Pythons quotes only what ends a line to it."""
        return self._stream.write(line.removesuffix("\r\n") + "\n")


def _write_text_table(
    path: Path, columns: Mapping[str, np.ndarray], *, delimiter: str, compressed: bool = False
) -> None:
    opened = gzip.open if compressed else open
    with opened(path, "wt", encoding="utf-8", newline="") as stream:
        plain = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        lines = _Lines(cast(TextIO, stream))
        careful = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
        careful.writerow(columns)
        values = [np.asarray(column) for column in columns.values()]
        whole = [are_whole(column) for column in values]
        words = [j for j, column in enumerate(values) if column.dtype.kind not in "biuf"]
        # Text takes many times the memory of numbers.
        for start in range(0, max(map(len, values), default=0), _ROWS):
            rows = slice(start, start + _ROWS)
            texts = [_texts(column[rows], w) for column, w in zip(values, whole, strict=True)]
            has_returns = any("\r" in text for j in words for text in texts[j])
            (careful if has_returns else plain).writerows(zip(*texts, strict=True))


def _write_parquet(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    arrow = require("pyarrow", extra="data", purpose="write Parquet files")
    parquet = require("pyarrow.parquet", extra="data", purpose="write Parquet files")
    # Arrow takes no NumPy text arrays; lists of str it does.
    ready = {n: c.tolist() if c.dtype.kind == "U" else c for n, c in columns.items()}
    parquet.write_table(arrow.table(ready), path)


def _texts(column: np.ndarray, whole: bool) -> list[str]:
    """The values as shortest exact text: whole numbers plain, NaN empty."""
    if whole:
        return column.astype(np.int64).astype(str).tolist()
    if column.dtype.kind != "f":
        return column.astype(str).tolist()
    texts = column.astype(str)
    texts[np.isnan(column)] = ""
    return texts.tolist()


_ROWS = 1 << 16  # of a text file, written together


_WRITERS: dict[str, Callable[[Path, Mapping[str, np.ndarray]], None]] = {
    ".csv": partial(_write_text_table, delimiter=","),
    ".tsv": partial(_write_text_table, delimiter="\t"),
    ".csv.gz": partial(_write_text_table, delimiter=",", compressed=True),
    ".tsv.gz": partial(_write_text_table, delimiter="\t", compressed=True),
    ".parquet": _write_parquet,
}

WRITABLE_SUFFIXES = tuple(_WRITERS)
