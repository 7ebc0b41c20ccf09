"""Files that hold arrays: NumPy's .npz, MATLAB's .mat and svmlight."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import listed
from .errors import DataError, check_fits, explained, said
from .inflated import opened_text
from .roles import Places, Roles, assembled
from .table import (
    Table,
    check_unique,
    dropped_names,
    not_a_column,
    numbered,
    target_from_values,
    text_of,
)

_TARGETS = ("y", "Y")
_NAMES = ("feature_names", "features")
_MAX_COLUMNS = 50_000_000  # each gets a name
_CLASSES = "class_names"  # of the labels 0, 1, ... in y


def read_npz(path: Path, roles: Roles) -> Table:
    """Read arrays X and y of an .npz file; see ``read_table``."""
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path.name} is not a readable .npz file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            # Arrays nobody asked for are not touched: they may be large or pickled.
            stored = list(archive.files)
            wanted = set(stored) & {roles.target, roles.groups, "X", *_TARGETS, *_NAMES, _CLASSES}
            sizes = {
                info.filename.removesuffix(".npy"): info.file_size
                for info in archive.zip.infolist()
            }
            check_fits(sum(sizes[name] for name in wanted), path.name)
            arrays = {name: archive[name] for name in wanted}
    except (PermissionError, MemoryError, DataError):
        raise
    except Exception as error:  # a damaged file can make anything of the reader
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise DataError(
                f"{path.name} holds pickled Python objects, which can run code when loaded; save "
                "plain arrays of numbers (and text labels as a string array)"
            ) from None
        raise DataError(f"{path.name} is not a readable .npz file: {said(error)}") from error
    return _from_arrays(arrays, stored, roles, path.name)


def read_mat(path: Path, roles: Roles) -> Table:
    """Read arrays X and Y of a .mat file; see ``read_table``."""
    from .matlab import mat_arrays

    asked = (roles.target, roles.groups)
    wanted = [name for name in (*asked, "X", *_TARGETS, *_NAMES, _CLASSES) if name is not None]
    try:
        arrays, stored = mat_arrays(path, wanted)
    except ValueError as error:
        raise DataError(f"{path.name} is not a readable .mat file: {error}") from None
    return _from_arrays(arrays, stored, roles, path.name)


def read_svmlight(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Read an svmlight file, whose features have numbers but no names; see ``read_table``."""
    from sklearn.datasets import load_svmlight_file

    with explained(f"{path.name} is not a readable svmlight file"), opened_text(path) as file:
        X, y = load_svmlight_file(file, zero_based=True)
    if X.shape[1] > _MAX_COLUMNS:
        raise DataError(
            f"{path.name} numbers its features up to {X.shape[1] - 1:,}; more than "
            f"{_MAX_COLUMNS:,} are not read"
        )
    if X.shape[0] == 0:
        raise DataError(f"{path.name} holds no samples")
    first = 0 if X.shape[1] == 1 or X[:, [0]].nnz else 1  # most writers count from one
    X = X[:, first:]
    name = target or "target"
    notes = (f"the features are called x0, x1, ...: x0 is number {first} in the file",)
    y = target_from_values(y, name, path.name, can_drop=False)
    return without(Table(X, y, numbered(X.shape[1]), name, notes), drop, path.name)


def _from_arrays(
    arrays: Mapping[str, np.ndarray],
    stored: Sequence[str],
    roles: Roles,
    owner: str,
) -> Table:
    label = roles.target or next((name for name in _TARGETS if name in arrays), "y")
    has_target = roles.needs_target or label in arrays
    for name in ("X", *[label] * has_target, roles.groups):
        if name is not None and name not in arrays:
            raise DataError(f"{owner} has no array {name!r}; it holds {listed(stored) or 'none'}")
    X = arrays["X"]
    if X.ndim != 2 or not X.shape[0] or not X.shape[1]:
        raise DataError(f"X of {owner} must have rows and columns, but its shape is {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"X of {owner} must hold real numbers, but its dtype is {X.dtype}")
    asked = {1: label if has_target else None, 2: roles.groups}
    values = {j: arrays[name] for j, name in asked.items() if name is not None}
    for j, column in values.items():
        if not column.ndim:
            raise not_a_column(asked[j] or "", owner)
        values[j] = column = column.ravel() if 1 in column.shape[:2] else column
        if np.shape(column)[:1] != X.shape[:1]:
            raise DataError(
                f"X of {owner} has {X.shape[0]} rows but {asked[j]} has {len(column)} values"
            )
    places = Places(1 if has_target else None, 2 if roles.groups else None, None, [])
    table = assembled(roles, places, ["X", label, roles.groups or ""], as_real(X), values, owner)
    if label in _TARGETS and has_target:
        table = replace(table, y=_named_classes(table.y, arrays.get(_CLASSES), owner))
    names = numbered(X.shape[1])
    for key in _NAMES:
        if key in arrays and np.size(arrays[key]) == X.shape[1]:
            try:
                names = tuple(text_of(name).strip() for name in np.ravel(arrays[key]).tolist())
            except UnicodeDecodeError:
                raise DataError(f"{key} of {owner} is text, but not UTF-8") from None
    check_unique(names, owner)
    table = replace(table, feature_names=names)
    return without(table, roles.drop, owner, set(stored) - {label})


def _named_classes(y: np.ndarray, names: np.ndarray | None, owner: str) -> np.ndarray:
    """The classes by name, where the file names them all."""
    if names is None or y.ndim != 1 or y.dtype.kind not in "iu":
        return y
    names = target_from_values(np.ravel(names), _CLASSES, owner)
    named = names.dtype.kind == "U" and len(set(names)) == len(names)
    return names[y] if named and y.min() == 0 and y.max() == len(names) - 1 else y


def without(table: Table, drop: Sequence[str], owner: str, left_out: Collection[str] = ()) -> Table:
    """The table less the dropped features; what is ``left_out`` anyway may be dropped too."""
    dropped = dropped_names(drop, table.feature_names, owner, left_out)
    if not dropped & set(table.feature_names):
        return table
    kept = [j for j, name in enumerate(table.feature_names) if name not in dropped]
    if not kept:
        raise DataError(f"every feature of {owner} is dropped; nothing is left to select from")
    if hasattr(table.X, "columns"):  # a design, which stays in its file
        names = tuple(table.feature_names[j] for j in kept)
        return replace(table, X=table.X.columns(kept), feature_names=names)
    return table.select(kept)


def as_real(X: Any) -> Any:
    """X as float32 where it is no wider, else float64; sparse matrices as CSR."""
    dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
    if hasattr(X, "tocsr"):
        return X.tocsr().astype(dtype, copy=False)
    return np.asarray(X, dtype=dtype)
