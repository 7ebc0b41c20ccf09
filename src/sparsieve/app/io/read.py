"""Choose the reader by the name of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._checks import check_choice, check_integer, check_real
from ...preprocessing.table import Table
from ...validation.raw_columns import AS_NAN, GAPS
from ...validation.written import MAX_CATEGORIES
from .arrays import read_mat, read_npz, read_svmlight
from .binary import read_parquet
from .delimited import read_text_table
from .errors import DataError, error_line, shown
from .layout import EXCEL, full_suffix
from .roles import IN_EITHER_FILE, Roles, as_table
from .rows import COVARIATE, Contents, complete_rows, join_labels
from .stored import (
    is_too_large,
    read_h5ad,
    read_hdf5,
    read_large_h5ad,
    read_large_parquet,
    read_npy,
    read_zarr,
)

_READERS: dict[str, Callable[..., Contents]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), read_text_table),
    **dict.fromkeys(EXCEL, read_text_table),
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

# Which readers know what a user says about columns and samples. Every reader leaves out rows with
# gaps: see ``rows.py``.
_FRAMES = (read_text_table, read_parquet)
_TABLES = (*_FRAMES, read_h5ad, read_large_parquet, read_large_h5ad)
_WITH_COLUMNS = (*_TABLES, read_npz, read_mat, read_npy, read_hdf5, read_zarr)
_ABLE: dict[str, Collection[Callable[..., Contents]]] = {
    "time": _WITH_COLUMNS,
    "groups": _WITH_COLUMNS,
    "weights": _WITH_COLUMNS,
    "sample_id": _WITH_COLUMNS,
    "target_file": _TABLES,
    "transpose": (read_text_table,),
    "encode_text": _FRAMES,
    "encoding": (read_text_table,),
    "comment": (read_text_table,),
    "covariates": _WITH_COLUMNS,
}
ENCODES_TEXT = tuple(suffix for suffix, reader in _READERS.items() if reader in _FRAMES)
_OPTIONS = {name: f"--{name.replace('_', '-')} ({name}= from Python)" for name in _ABLE}
_OPTIONS |= {"sample_id": "--id (sample_id= from Python)", "time": "--time (target= from Python)"}


def read_table(
    path: str | os.PathLike[str],
    target: str | tuple[str, str] | None = None,
    drop: Sequence[str] = (),
    *,
    layer: str | None = None,
    needs_target: bool = True,
    groups: str | None = None,
    weights: str | None = None,
    target_file: str | os.PathLike[str] | None = None,
    sample_id: str | None = None,
    id_if_there: str | None = None,
    transpose: bool = False,
    drop_unlabelled: bool = False,
    encode_text: bool | str = False,
    gaps: str = AS_NAN,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float | None = None,
    encoding: str | None = None,
    comment: str | None = None,
    covariates: Sequence[str] = (),
    entry: str | None = None,
    strata: str | None = None,
    event_value: str | None = None,
    task: str = "auto",
    only: Collection[str] | None = None,
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
    target : str or tuple of str, default=None
        Column of the target; of survival times the columns of the time and of the event, such as
        ``("months", "died")``. For .npz and .mat the name of its array ("y" when not given); for
        .h5ad a column of ``obs``; for .npy another .npy file; for .h5 and .zarr the name of an
        array beside X ("y" when not given); svmlight files have it in front and need no name.
        Groups, ids, entry times and strata are named in the same way.
    drop : sequence of str, default=()
        Columns to leave out; ``"a,b"`` means two where no column has that name.
    layer : str or None, default=None
        Of .h5ad files: the layer to read; None is ``X``.
    needs_target : bool, default=True
        False: a file may be read without a target, all its columns as features. ``y`` of the table
        then has no columns.
    groups : str or None, default=None
        Column with the group of every sample, such as the donor; it is not a feature.
    weights : str or None, default=None
        Column that says how much every sample counts; it is not a feature.
    target_file : str, path-like or None, default=None
        Another table with the target, or with covariates alone where no target is needed, joined
        by the names of the samples: the first column of both files (``obs_names`` of .h5ad) or
        ``sample_id``. ``groups``, ``weights``, ``entry`` and ``strata`` may be there too. Ids are
        compared as text: 007 is not 7.
    sample_id : str or None, default=None
        Column with the names of the samples; it is not a feature.
    id_if_there : str or None, default=None
        The same for a column that the file need not have; ignored beside ``sample_id``.
    transpose : bool, default=False
        Whether the features of a text or Excel file are in rows: each line holds the name of a
        feature (or of the target) and one value for every sample.
    drop_unlabelled : bool, default=False
        Whether to leave out samples with a gap in any column that is named for them: the target or
        the time and the event, the entry time, the stratum, the group or the id. ``notes`` of the
        table say how many. Gaps in these columns are refused otherwise.
    encode_text : bool, "auto" or "raw", default=False
        Whether to turn text columns into columns of zeros and ones, such as ``sex=female``, and
        dates such as 2024-05-31 or 31.05.2024 into days since 1970. Text of too many values is
        refused; "auto" leaves it out as well as columns of one value, and takes the first column in
        which every row has another text for the sample ids. Up to 5 % of the cells of numbers or
        dates may be other text, which is a missing value then. ``notes`` say so. "raw" leaves text
        as it is: ``texts`` of the table has such columns, which are no features.
    gaps : {"nan", "value", "mark"}, default="nan"
        What becomes of missing values: "nan" leaves them NaN; "value" makes a missing text a value
        of its own, such as ``sex=(missing)``; "mark" also adds a column that marks the missing
        values of each column of numbers.
    max_categories : int, default=20
        How many values a text column may have to be encoded.
    max_missing : float or None, default=None
        Columns with a larger share of missing values are left out; None keeps them all.
    encoding : str or None, default=None
        Of a text file, such as "cp1252". None is UTF-8, or UTF-16 where the file starts with the
        mark of it.
    comment : str or None, default=None
        Of a text file: lines that start with this are left out. None leaves out lines that start
        with # above the column names.
    covariates : sequence of str, default=()
        Columns that are always in the model, such as the age; they are no features, and may be in
        ``target_file``.
    entry : str or None, default=None
        For survival times: the column that says when the observation of each sample began.
    strata : str or None, default=None
        For survival times: the column of the stratum of each sample, such as the hospital.
    event_value : str or None, default=None
        For survival times: the label that says that the event happened. None reads 1 and 0, true
        and false, and labels such as "1:DECEASED" and "0:LIVING".
    task : {"auto", "classification", "regression", "counts"}, default="auto"
        How the target of a text or Excel file will be read. "regression" and "counts" ask for
        numbers, "classification" keeps labels apart that are written differently. "auto" reads
        numbers, but leaves whole numbers text that are written with leading zeros ('007'), or where
        two texts would become one number ('1e1' and '10'); a note says so.
    only : collection of str or None, default=None
        Of text, Excel and Parquet files: the only columns to read as features, where they are
        there; None is all.

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
    sparsieve.app.io.Table : What is returned.
    sparsieve.app.io.write_table : Writes columns to a file.
    sparsieve.datasets.load_dataset : Loads a data set by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.app.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.csv"
    ...     _ = path.write_text("a,b,label\n1,2,x\n3,4,y\n")
    ...     table = read_table(path, target="label")
    >>> table.feature_names, table.X.shape, table.y.tolist()
    (('a', 'b'), (2, 2), ['x', 'y'])
    """
    path = Path(path)
    check_readable(path)
    suffix = full_suffix(path)
    if layer is not None and suffix != ".h5ad":
        raise DataError(f"{path.name} has no layers; only .h5ad files have")
    reader = _READERS[suffix]
    if layer is None and suffix in _LARGE_READERS and is_too_large(path):
        reader = _LARGE_READERS[suffix]
    check_choice("task", task, ("auto", "classification", "regression", "counts"))
    survival = _survival_columns(target, entry, strata)
    asked = {
        "time": survival,
        "groups": groups,
        "weights": weights,
        "target_file": target_file,
        "sample_id": sample_id if target_file is None else None,  # which may be in the other file
        "transpose": transpose,
        "encode_text": encode_text is True,
        "encoding": encoding,
        "comment": comment,
        "covariates": covariates,
    }
    if not isinstance(encode_text, bool) and encode_text not in ("auto", "raw"):
        raise ValueError(f'encode_text must be True, False, "auto" or "raw", got {encode_text!r}')
    check_choice("gaps", gaps, GAPS)
    check_integer("max_categories", max_categories)
    if max_missing is not None:
        check_real("max_missing", max_missing, minimum=0, maximum=1)
    _check_able(reader, asked, path)
    optional = sample_id is None and target_file is None and reader in _ABLE["sample_id"]
    roles = Roles(
        target if isinstance(target, str) else None,
        tuple(drop),
        groups,
        id_if_there if optional else sample_id,
        survival,
        needs_target=needs_target,
        with_ids=sample_id is not None or target_file is not None,
        encode_text=encode_text,
        gaps=gaps,
        max_categories=max_categories,
        max_missing=max_missing,
        encoding=encoding,
        comment=comment,
        transpose=transpose,
        task=task,
        only=None if only is None else frozenset(only),
        covariates=tuple(dict.fromkeys(covariates)),
        event_value=event_value,
        weights=weights,
        optional=("sample_id",) * optional,
    )
    if event_value is not None and not survival:
        raise DataError("event_value is for survival times; name a time and an event as target")
    if target_file is None:
        return as_table(_read_file(reader, path, roles, layer, drop_unlabelled), roles)
    labels = _labels(Path(target_file), roles, drop_unlabelled)
    other = replace(
        roles,
        target=None,
        needs_target=False,
        groups=None if "groups" in labels.columns else groups,
        weights=None if "weights" in labels.columns else weights,
        survival={role: name for role, name in survival.items() if role not in labels.columns},
        covariates=tuple(c for c in roles.covariates if f"{COVARIATE}{c}" not in labels.columns),
        optional=("sample_id",) * (labels.columns["sample_id"].name == sample_id),
    )
    data = _read_file(reader, path, other, layer, drop_unlabelled)
    return as_table(join_labels(data, labels), roles)


def _survival_columns(target: Any, entry: str | None, strata: str | None) -> dict[str, str]:
    """The columns of a survival target by role; none where one column is the target."""
    if target is None or isinstance(target, str):
        if entry is not None or strata is not None:
            raise DataError(
                "entry and strata are for survival times; name the columns of the time and the "
                'event, such as target=("months", "died")'
            )
        return {}
    if len(target) != 2 or not all(isinstance(name, str) for name in target):
        raise DataError(
            f"target must be one column, or the columns of a time and an event, got {target!r}"
        )
    columns = {"time": target[0], "event": target[1], "entry": entry, "strata": strata}
    return {role: name for role, name in columns.items() if name is not None}


def _labels(path: Path, roles: Roles, drop_unlabelled: bool) -> Contents:
    """The target in a file of its own."""
    check_readable(path)
    reader = _READERS[full_suffix(path)]
    if reader not in _FRAMES:
        raise DataError(
            "the second file must be a table (.csv, .tsv, .txt, .xlsx or .parquet), got "
            f"{path.name}"
        )
    only = replace(
        roles,
        encoding=roles.encoding if reader is read_text_table else None,
        comment=roles.comment if reader is read_text_table else None,
        needs_target=roles.needs_target or not roles.covariates,
        transpose=False,
        drop=(),
        labels_only=True,
        optional=(*IN_EITHER_FILE, *(f"{COVARIATE}{name}" for name in roles.covariates)),
    )
    return _read_file(reader, path, only, None, drop_unlabelled)


def _check_able(reader: Callable[..., Contents], asked: Mapping[str, Any], path: Path) -> None:
    for name, value in asked.items():
        if value and reader not in _ABLE[name]:
            kinds = [suffix for suffix in READABLE_SUFFIXES if _READERS[suffix] in _ABLE[name]]
            large = reader in _LARGE_READERS.values()
            raise DataError(
                f"{_OPTIONS[name]} cannot be used with {path.name}"
                + (", which is larger than the memory limit" if large else "")
                + f"; it is for {', '.join(kinds)} files"
                + (" that fit" if large else "")
            )


def _read_file(
    reader: Callable[..., Contents], path: Path, roles: Roles, layer: str | None, drop: bool
) -> Contents:
    """The rows of the file that are used, with one sentence where reading fails."""
    options: dict[str, Any] = {} if layer is None else {"layer": layer}
    try:
        return complete_rows(_check_contents(reader(path, roles, **options)), drop=drop)
    except PermissionError:
        raise DataError(f"{shown(path)} may not be read: permission denied") from None
    except MemoryError as error:
        raise MemoryError(
            f"{shown(path)} does not fit into memory, or is damaged: {error_line(error)}"
        ) from error
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error.strerror or error}") from error


def _check_contents(contents: Contents) -> Contents:
    """The contents, if they have a name for every column and a value of each role for every row."""
    n_rows, n_columns = contents.X.shape
    n_names = len(contents.features) - len(contents.texts)
    for column in contents.columns.values():
        if len(column.values) != n_rows:
            raise DataError(
                f"X of {contents.owner} has {n_rows} rows, but {column.what} has "
                f"{len(column.values)} values"
            )
    if n_names != n_columns:
        raise DataError(
            f"X of {contents.owner} has {n_columns} columns, but there are {n_names} names of "
            "features"
        )
    return contents


def check_readable(path: Path) -> None:
    """Refuse, before anything is loaded, a file that is not there or of an unknown kind."""
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError) as error:  # a name too long, or with a null in it
        raise DataError(f"file {shown(path)} cannot exist: {error_line(error)}") from None
    if is_folder and full_suffix(path) != ".zarr":
        raise DataError(f"{shown(path)} is a folder; name a data file in it")
    if not exists:
        raise DataError(f"file {shown(path)} does not exist")
    suffix = full_suffix(path)
    if suffix not in _READERS:
        raise DataError(
            f"{path.name}: unknown suffix {suffix or '(none)'!r}; known are "
            f"{', '.join(READABLE_SUFFIXES)}"
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty")
