"""Files whose matrix may be larger than memory: opened here, and read by whoever selects.

A matrix that fits the memory limit (``sparsieve.set_memory``, ``--memory``) is loaded, a larger
one becomes a design that reads it in passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import listed
from .._optional import require
from ..memory import LOAD_SHARE, explicit_limit
from .arrays import as_real, without
from .columnar import plain_values
from .errors import DataError, TargetNeededError, check_fits, explained
from .hdf5 import check_annotated, check_declared, check_self_contained
from .roles import Roles, places_of
from .table import (
    MAX_CHARACTERS,
    Table,
    check_unique,
    dropped_names,
    find_target,
    numbered,
    target_from_values,
    text_of,
)
from .zarr import ZarrArrays

_NAMES = ("feature_names", "features")
MAX_FEATURES = 20_000_000  # their names alone take a gigabyte


def is_too_large(path: Path) -> bool:
    """Whether a table is not to be loaded; without a limit every one is."""
    limit = explicit_limit()
    return limit is not None and path.stat().st_size > limit // LOAD_SHARE


def read_npy(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Open an .npy file with the samples; the target is another .npy file."""
    if target is None:
        raise TargetNeededError(f"say which .npy file holds the target of {path.name}")
    beside = path.parent / target  # or the target itself, where that is a whole path
    labels = beside if beside.exists() else Path(target)
    if not labels.is_file():
        raise DataError(
            f"{path.name} holds the features alone; the target must be an .npy file, but "
            f"{target!r} does not exist"
        )
    with explained(f"{path.name} or {labels.name} is not a readable .npy file"):
        X, y = np.load(path, mmap_mode="r"), np.load(labels)
        for file, array in ((path, X), (labels, y)):
            if not isinstance(array, np.ndarray):
                raise DataError(f"{file.name} is an .npz file; give it that name")
    return _table(X, y, numbered(_width(X, path.name)), labels.stem, drop, path.name)


def read_hdf5(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Open the datasets X and y of an HDF5 file."""
    h5py = require("h5py", extra="data", purpose="read HDF5 files")
    with explained(f"{path.name} cannot be read"):
        file = h5py.File(path, "r")
        check_self_contained(file, path.name)
    return _from_group(file, path, target, drop)


def read_zarr(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Open the arrays X and y of a Zarr group."""
    require("zarr", extra="data", purpose="read Zarr arrays")
    return _from_group(ZarrArrays(path), path, target, drop)


def read_large_parquet(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Open a Parquet file whose row groups are read in passes."""
    require("pyarrow.parquet", extra="data", purpose="read Parquet files")
    from ..design.out_of_core.files import FileDesign
    from ..design.out_of_core.tables import ParquetRows, open_parquet

    with explained(f"{path.name} is not a readable Parquet file"):
        file = open_parquet(str(path), None if target is None else [target])
        names = list(file.schema_arrow.names)
        index = [name for name in names if name.startswith("__index_level_")]
        roles = Roles(target, (*drop, *index))
        places = places_of(roles, names, path.name)
        label, features = places.label, places.features
        assert label is not None
        values = plain_values(file.read(columns=[names[label]]).column(0))
    try:
        source = ParquetRows(file, [names[j] for j in features], str(path))
    except (TypeError, ValueError) as error:
        raise DataError(f"{path.name}: {error}") from None
    y = target_from_values(values, names[label], path.name, can_drop=False)
    return Table(FileDesign(source), y, tuple(source.names), names[label])


def read_large_h5ad(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Open an .h5ad file whose X is read in passes."""
    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    h5py = require("h5py", extra="data", purpose="read .h5ad files")
    with explained(f"{path.name} is not a readable .h5ad file"):
        with h5py.File(path, "r") as file:
            check_self_contained(file, path.name)
            check_annotated(file, path.name)
            check_declared((file.get(part) for part in ("obs", "var")), path.name)
        data = anndata.read_h5ad(path, backed="r")
    annotations = [str(name) for name in data.obs.columns]
    label = find_target(annotations, target, f"obs of {path.name}")
    y = target_from_values(data.obs.iloc[:, label], annotations[label], path.name, can_drop=False)
    names = tuple(str(name) for name in data.var_names)
    return _table(data, y, names, annotations[label], drop, path.name)


def _from_group(
    group: Mapping[str, Any], path: Path, target: str | None, drop: Sequence[str]
) -> Table:
    with explained(f"{path.name} cannot be read"):
        label = "y" if target is None else target
        for name in ("X", label):
            if name not in group:
                raise DataError(
                    f"{path.name} has no array {name!r}; it holds {listed(list(group)) or 'none'}"
                )
        X = group["X"]
        names = numbered(_width(X, path.name))
        # Before it is read: a file of a few bytes can declare more values than fit into memory.
        if group[label].shape[:1] != X.shape[:1]:
            shape = "x".join(map(str, group[label].shape)) or "1"
            raise DataError(
                f"X of {path.name} has {X.shape[0]} rows but {label} has {shape} values"
            )
        y = _values(group[label], f"{label} of {path.name}")
        for key in _NAMES:
            if key in group and group[key].shape == (len(names),):
                found = _values(group[key], f"{key} of {path.name}")
                names = tuple(text_of(name) for name in found)
    return _table(X, y, names, label, drop, path.name)


def _values(array: Any, owner: str) -> np.ndarray:
    """All of an array beside X, if it is what it may be: a few bytes can declare any size."""
    dtype = np.dtype(array.dtype)
    if dtype.kind in "SU" and dtype.itemsize > 4 * MAX_CHARACTERS:
        raise DataError(
            f"{owner} declares texts of {dtype.itemsize} bytes, which are neither labels nor names"
        )
    check_fits(math.prod(array.shape) * dtype.itemsize, owner)
    return np.asarray(array[:])


def _width(X: Any, owner: str) -> int:
    if len(X.shape) != 2 or 0 in X.shape:
        raise DataError(f"X of {owner} must have rows and columns, but its shape is {X.shape}")
    if X.shape[1] > MAX_FEATURES:  # a file of a few bytes can say so
        raise DataError(
            f"X of {owner} has {X.shape[1]} columns; at most {MAX_FEATURES} can be selected from"
        )
    return int(X.shape[1])


def _table(
    X: Any, y: Any, names: tuple[str, ...], label: str, drop: Sequence[str], owner: str
) -> Table:
    """The table of a stored matrix, loaded where it is small enough."""
    from ..design import RowBlockedDesign, external_design

    check_unique(names, owner)
    dropped_names(drop, names, owner)
    if len(y) != X.shape[0]:
        raise DataError(f"X of {owner} has {X.shape[0]} rows but {label} has {len(y)} values")
    try:
        design = external_design(X)
    except (TypeError, ValueError) as error:
        raise DataError(f"{owner}: {error}") from None
    made: Any
    if isinstance(design, RowBlockedDesign):
        design.feature_names = np.array(names, dtype=object)
        made = design
    elif X.dtype.kind not in "biuf":
        raise DataError(f"X of {owner} must hold real numbers, but its dtype is {X.dtype}")
    else:
        made = as_real(np.asarray(X[:]))
    return without(
        Table(made, target_from_values(y, label, owner, can_drop=False), names, label), drop, owner
    )
