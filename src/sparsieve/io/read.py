"""Choose the reader by the name of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .annotated import read_h5ad
from .arrays import read_mat, read_npz, read_svmlight
from .columnar import read_parquet
from .delimited import read_delimited
from .errors import DataError, said, shown
from .stored import (
    is_too_large,
    read_hdf5,
    read_large_h5ad,
    read_large_parquet,
    read_npy,
    read_zarr,
)
from .table import Table

_READERS: dict[str, Callable[..., Table]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), read_delimited),
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".mat": read_mat,
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), read_svmlight),
    **dict.fromkeys((".svm.gz", ".svmlight.gz", ".libsvm.gz"), read_svmlight),
    ".h5ad": read_h5ad,
    ".npy": read_npy,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
    ".zarr": read_zarr,
}
# Of files larger than the memory limit, where one was set.
_LARGE_READERS = {".parquet": read_large_parquet, ".h5ad": read_large_h5ad}

READABLE_SUFFIXES = tuple(_READERS)

# Files of these kinds can hold features alone.
_TARGET_OPTIONAL = (read_delimited, read_parquet, read_h5ad, read_npz, read_mat)


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    drop: Sequence[str] = (),
    *,
    layer: str | None = None,
    needs_target: bool = True,
) -> Table:
    r"""Read a data file into features, target and names.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv or .txt file (comma, semicolon or tab; also .gz), .parquet, .npz, .mat,
        svmlight (.svm, .svmlight, .libsvm; also .gz), .h5ad, .npy, .h5, .hdf5 or .zarr file.
        Of the last four, and of .parquet and .h5ad where :func:`sparsieve.set_memory` set a
        limit, a matrix that is too large to be loaded is left in its file; selectors read it in
        passes.
    target : str, default=None
        Column of the target. For .npz and .mat the name of its array ("y" when not given); for
        .h5ad a column of ``obs``; for .npy another .npy file; for .h5 and .zarr the name of an
        array beside X ("y" when not given); svmlight files have it in front and need no name.
    drop : sequence of str, default=()
        Columns to leave out.
    layer : str or None, default=None
        Of .h5ad files: the layer to read; None is ``X``.
    needs_target : bool, default=True
        False: a text, .parquet, .h5ad, .npz or .mat file may be read without a target, all its
        columns as features. ``y`` of the table then has no columns.

    Returns
    -------
    table : Table
        The features as numbers (a sparse X stays sparse), the target and their names.

    Raises
    ------
    DataError
        With one sentence about what is wrong with the file.
    MissingExtraError
        When the format needs a package that is not installed.

    See Also
    --------
    sparsieve.io.Table : What is returned.
    sparsieve.io.write_table : Writes columns to a file.
    sparsieve.datasets.load_dataset : Loads a data set by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.csv"
    ...     _ = path.write_text("a,b,label\n1,2,x\n3,4,y\n")
    ...     table = read_table(path, target="label")
    >>> table.feature_names, table.X.shape, table.y.tolist()
    (('a', 'b'), (2, 2), ['x', 'y'])
    """
    path = Path(path)
    check_readable(path)
    if layer is not None and suffix_of(path) != ".h5ad":
        raise DataError(f"{path.name} has no layers; only .h5ad files have")
    suffix = suffix_of(path)
    reader = _READERS[suffix]
    if layer is None and suffix in _LARGE_READERS and is_too_large(path):
        reader = _LARGE_READERS[suffix]
    options: dict[str, Any] = {} if layer is None else {"layer": layer}
    if target is None and not needs_target and reader in _TARGET_OPTIONAL:
        options["needs_target"] = False
    try:
        return _matched(reader(path, target, drop, **options), path.name)
    except PermissionError:
        raise DataError(f"{shown(path)} may not be read: permission denied") from None
    except MemoryError as error:
        raise MemoryError(
            f"{shown(path)} does not fit into memory, or is damaged: {said(error)}"
        ) from error
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error.strerror or error}") from error


def _matched(table: Table, owner: str) -> Table:
    """The table, if it has a name for every column and a target for every row."""
    shape, found = table.X.shape, (len(table.y), len(table.feature_names))
    if found != shape:
        raise DataError(
            f"X of {owner} has the shape {shape}, but there are {found[0]} targets and {found[1]} "
            "names of features"
        )
    return table


def check_readable(path: Path) -> None:
    """Refuse, before anything is loaded, a file that is not there or of an unknown kind."""
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:  # a name too long, or with a null in it
        raise DataError(f"file {shown(path)} cannot exist: {said(error)}") from None
    if is_folder and suffix_of(path) != ".zarr":
        raise DataError(f"{shown(path)} is a folder; name a data file in it")
    if not exists:
        raise DataError(f"file {shown(path)} does not exist")
    suffix = suffix_of(path)
    if suffix not in _READERS:
        raise DataError(
            f"{path.name}: unknown suffix {suffix or '(none)'!r}; known are "
            f"{', '.join(READABLE_SUFFIXES)}"
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty")


def suffix_of(path: Path) -> str:
    """The suffix in lower case, together with the one before a ``.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])
