"""Write named columns to CSV, TSV and Parquet files."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import require
from .errors import DataError
from .read import suffix_of


def write_table(path: str | os.PathLike[str], columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal length to a file, in the format of its suffix.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv (also .gz) or .parquet file; an existing one is replaced, and only once
        the new one is complete.
    columns : mapping of str to ndarray
        The columns by name, for example ``Table.columns()``. In text files whole numbers are
        written without a decimal point and a missing value is an empty field.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsieve.io import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "out.csv"
    ...     write_table(path, {"a": np.array([1.0, 2.0]), "b": np.array([0.5, 0.25])})
    ...     path.read_text().split()
    ['a,b', '1,0.5', '2,0.25']
    """
    path = Path(path)
    check_writable(path)
    with replacing(path) as scratch:
        _WRITERS[suffix_of(path)](scratch, columns)


def check_writable(path: Path, suffixes: Sequence[str] | None = None) -> None:
    """Refuse, before any work, a file that could not be written after it."""
    suffixes = WRITABLE_SUFFIXES if suffixes is None else suffixes
    if suffix_of(path) not in suffixes:
        raise DataError(
            f"cannot write {path.name}: unknown suffix {suffix_of(path) or '(none)'!r}; known are "
            f"{', '.join(suffixes)}"
        )
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise DataError(f"cannot write {path}: it is a folder")
    if suffix_of(path) == ".parquet":
        require("pyarrow.parquet", extra="data", purpose="write Parquet files")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of ``path`` when all went well."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield scratch
        os.replace(scratch, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        scratch.unlink(missing_ok=True)


def _write_delimited(
    delimiter: str, compressed: bool
) -> Callable[[Path, Mapping[str, np.ndarray]], None]:
    def write(path: Path, columns: Mapping[str, np.ndarray]) -> None:
        opened = gzip.open if compressed else open
        with opened(path, "wt", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*map(as_text, columns.values()), strict=True))

    return write


def _write_parquet(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    arrow = require("pyarrow", extra="data", purpose="write Parquet files")
    parquet = require("pyarrow.parquet", extra="data", purpose="write Parquet files")
    # Arrow takes no NumPy text arrays; lists of str it does.
    ready = {n: c.tolist() if c.dtype.kind == "U" else c for n, c in columns.items()}
    parquet.write_table(arrow.table(ready), path)


def as_text(column: Any) -> list[str]:
    """The values as shortest exact text: whole numbers plain, NaN empty."""
    column = np.asarray(column)
    if column.dtype.kind != "f":
        return column.astype(str).tolist()
    finite = np.isfinite(column)
    if finite.all() and (column == np.trunc(column)).all() and (np.abs(column) < 2**53).all():
        return column.astype(np.int64).astype(str).tolist()
    texts = column.astype(str)
    texts[np.isnan(column)] = ""
    return texts.tolist()


_WRITERS: dict[str, Callable[[Path, Mapping[str, np.ndarray]], None]] = {
    ".csv": _write_delimited(",", compressed=False),
    ".tsv": _write_delimited("\t", compressed=False),
    ".csv.gz": _write_delimited(",", compressed=True),
    ".tsv.gz": _write_delimited("\t", compressed=True),
    ".parquet": _write_parquet,
}

WRITABLE_SUFFIXES = tuple(_WRITERS)
