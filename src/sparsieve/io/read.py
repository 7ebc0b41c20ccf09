"""Choose the reader by the name of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .annotated import read_h5ad
from .arrays import read_mat, read_npz, read_svmlight
from .columnar import read_parquet
from .delimited import read_delimited
from .errors import DataError, said, shown
from .inflated import EXCEL
from .join import joined
from .roles import Roles
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
    **dict.fromkeys(EXCEL, read_delimited),
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

# Which readers know what a user says about columns and samples; the others take a target and
# what to drop.
_TABLES = (read_delimited, read_parquet, read_h5ad)
_ABLE = {
    "groups": (*_TABLES, read_npz, read_mat),
    "sample_id": (read_delimited, read_parquet),
    "target_file": _TABLES,
    "transpose": (read_delimited,),
    "drop_unlabelled": (*_TABLES, read_npz, read_mat),
    "encode_text": (read_delimited, read_parquet),
}
_OPTIONS = {name: "--" + name.replace("_", "-") for name in _ABLE} | {"sample_id": "--id"}


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    drop: Sequence[str] = (),
    *,
    layer: str | None = None,
    needs_target: bool = True,
    groups: str | None = None,
    target_file: str | os.PathLike[str] | None = None,
    sample_id: str | None = None,
    transpose: bool = False,
    drop_unlabelled: bool = False,
    encode_text: bool = False,
) -> Table:
    r"""Read a data file into features, target and names.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv or .txt file (comma, semicolon or tab; also .gz), .xlsx (the first sheet),
        .parquet, .npz, .mat, svmlight (.svm, .svmlight, .libsvm; also .gz), .h5ad, .npy, .h5,
        .hdf5 or .zarr file.
        Of the last four, and of .parquet and .h5ad where :func:`sparsieve.set_memory` set a
        limit, a matrix that is too large to be loaded is left in its file; selectors read it in
        passes.
    target : str, default=None
        Column of the target. For .npz and .mat the name of its array ("y" when not given); for
        .h5ad a column of ``obs``; for .npy another .npy file; for .h5 and .zarr the name of an
        array beside X ("y" when not given); svmlight files have it in front and need no name.
    drop : sequence of str, default=()
        Columns to leave out; ``"a,b"`` means two where no column has that name.
    layer : str or None, default=None
        Of .h5ad files: the layer to read; None is ``X``.
    needs_target : bool, default=True
        False: a text, .parquet, .h5ad, .npz or .mat file may be read without a target, all its
        columns as features. ``y`` of the table then has no columns.
    groups : str or None, default=None
        Column with the group of every sample, such as the donor; it is not a feature. For .npz and
        .mat the name of an array, for .h5ad a column of ``obs``.
    target_file : str, path-like or None, default=None
        Another table with the target, joined by the names of the samples: the first column of
        both files (``obs_names`` of .h5ad) or ``sample_id``. ``groups`` may be there too.
    sample_id : str or None, default=None
        Column with the names of the samples; it is not a feature.
    transpose : bool, default=False
        Whether the features of a text or Excel file are in rows: each line holds the name of a
        feature (or of the target) and one value for every sample.
    drop_unlabelled : bool, default=False
        Whether to leave out samples whose target is missing.
    encode_text : bool, default=False
        Whether to turn text columns of up to 20 values into columns of zeros and ones, such as
        ``sex=female``; missing texts become NaN.

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
    suffix = suffix_of(path)
    if layer is not None and suffix != ".h5ad":
        raise DataError(f"{path.name} has no layers; only .h5ad files have")
    reader = _READERS[suffix]
    if layer is None and suffix in _LARGE_READERS and is_too_large(path):
        reader = _LARGE_READERS[suffix]
    asked = {
        "groups": groups,
        "target_file": target_file,
        "sample_id": sample_id if target_file is None else None,  # which may be in the other file
        "transpose": transpose,
        "drop_unlabelled": drop_unlabelled,
        "encode_text": encode_text,
    }
    _check_able(reader, asked, path)
    roles = Roles(
        target,
        tuple(drop),
        groups,
        sample_id,
        needs_target=needs_target,
        with_ids=sample_id is not None or target_file is not None,
        drop_unlabelled=drop_unlabelled,
        encode_text=encode_text,
        transpose=transpose,
    )
    if target_file is not None:
        labels_file = Path(target_file)
        labels = _labels(labels_file, roles)
        if reader is read_h5ad and sample_id not in (None, labels.id_name):
            raise DataError(f"{labels_file.name} has no column {sample_id!r} of sample ids")
        roles = replace(
            roles,
            target=None,
            needs_target=False,
            groups=groups if labels.groups is None else None,
            id_optional=labels.id_name == sample_id,
        )
        features = _read(reader, path, roles, layer)
        return joined(features, labels, path.name, labels_file.name)
    return _read(reader, path, roles, layer)


def _labels(path: Path, roles: Roles) -> Table:
    """The target in a file of its own."""
    check_readable(path)
    reader = _READERS[suffix_of(path)]
    if reader not in (read_delimited, read_parquet):
        raise DataError(
            "the target file must be a table (.csv, .tsv, .txt, .xlsx or .parquet), got "
            f"{path.name}"
        )
    only = replace(roles, needs_target=True, transpose=False, drop=(), labels_only=True)
    return _read(reader, path, only, None)


def _check_able(reader: Callable[..., Table], asked: Mapping[str, Any], path: Path) -> None:
    for name, value in asked.items():
        if value and reader not in _ABLE[name]:
            kinds = [suffix for suffix in READABLE_SUFFIXES if _READERS[suffix] in _ABLE[name]]
            large = reader in _LARGE_READERS.values()
            raise DataError(
                f"{_OPTIONS[name]} ({name}= from Python) cannot be used with {path.name}"
                + (", which is larger than the memory limit" if large else "")
                + f"; it is for {', '.join(kinds)} files"
                + (" that fit" if large else "")
            )


def _read(reader: Callable[..., Table], path: Path, roles: Roles, layer: str | None) -> Table:
    """The table, with one sentence where that fails."""
    options: dict[str, Any] = {} if layer is None else {"layer": layer}
    knows_roles = reader in _ABLE["groups"]
    given = (roles,) if knows_roles else (roles.target, roles.drop)
    try:
        return _matched(reader(path, *given, **options), path.name)
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
