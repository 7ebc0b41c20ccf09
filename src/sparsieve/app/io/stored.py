"""Files whose matrix may be larger than memory: opened here, and read by whoever selects.

A matrix that fits the memory limit (``sparsieve.set_memory``, ``--memory``) is loaded, a larger
one becomes a design that reads it in passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import suggestion
from ..._files import replacing
from ..._imports import require
from ...memory import LOAD_SHARE, explicit_limit
from .arrays import NAMES, as_real, asked_arrays, check_length, drop_features
from .binary import ZarrArrays, arrow_values, check_attributes, check_sizes, refuse_external_files
from .errors import (
    DataError,
    TargetNeededError,
    check_fits,
    check_unique,
    decode_name,
    explain_failure,
    number_names,
)
from .labels import MAX_CHARACTERS, convert_values
from .roles import Roles, column_places, in_words, make_column, what
from .rows import Contents


def read_h5ad(path: Path, roles: Roles, layer: str | None = None) -> Contents:
    """Read X or a layer, ``var_names`` and columns of ``obs``; see ``read_table``."""
    obs, var_names, X = _parts(path, layer)
    if X is None:
        raise DataError(f"{path.name} has no matrix X")
    return annotated_contents(as_real(X, path.name), obs, var_names, roles, path.name)


def annotated_contents(X: Any, obs: Any, var_names: Any, roles: Roles, owner: str) -> Contents:
    """X with what ``obs`` says about the samples; their ids are ``obs_names`` where not named."""
    names = tuple(str(name) for name in var_names)
    check_unique(names, f"var of {owner}")
    annotations = [str(name) for name in obs.columns]
    n_columns = len(annotations)
    known = [*annotations, "obs_names" if "obs_names" not in annotations else "(obs_names)"]
    about = replace(roles, drop=(), labels_only=True)
    places = column_places(about, known, f"obs of {owner}", first=n_columns)
    columns = {
        role: make_column(
            role,
            known[j],
            convert_values(
                obs.index if j == n_columns else obs.iloc[:, j], what(role, known[j]), owner
            ),
        )
        for role, j in places.columns.items()
    }
    left_out = set(annotations) - {roles.target, *roles.survival.values()}
    return drop_features(
        Contents(owner, X, names, columns), roles.drop, f"var of {owner}", left_out
    )


def _parts(path: Path, layer: str | None) -> tuple[Any, Any, Any]:
    """obs, the names of the variables and the matrix; all else stays in the file."""
    from ...validation.columns import in_memory

    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    with explain_failure(f"{path.name} is not a readable .h5ad file"):
        h5py, read = import_module("h5py"), import_module("anndata.io").read_elem
        with h5py.File(path, "r") as file:
            refuse_external_files(file, path.name)
            check_attributes(file, path.name)
            if all(isinstance(file.get(part), h5py.Group) for part in ("obs", "var")):
                _check_layer(layer, list(file.get("layers", ())), path.name)
                X = file.get("X") if layer is None else file["layers"][layer]
                check_sizes((X, file["obs"], file["var"]), path.name)
                X = in_memory(X) if isinstance(X, h5py.Dataset) else None if X is None else read(X)
                return read(file["obs"]), read(file["var"]).index, _sound(X)
            check_sizes([file], path.name)
        data = anndata.read_h5ad(path)  # written by a version of long ago
        _check_layer(layer, list(data.layers), path.name)
        X = data.X if layer is None else data.layers[layer]
        return data.obs, data.var_names, _sound(X)


def _sound(X: Any) -> Any:
    """The matrix, if its indices stay inside: what is done next with others may crash."""
    if hasattr(X, "check_format"):
        from ...validation.containers import check_sparse  # which needs scikit-learn

        check_sparse(X)
    return X


def _check_layer(layer: str | None, known: Sequence[str], owner: str) -> None:
    if layer is not None and layer not in known:
        raise DataError(f"{owner} has no layer {layer!r}{suggestion(layer, known)}")


def write_h5ad(
    path: Path,
    source: Path,
    features: Sequence[str],
    columns: Mapping[str, np.ndarray],
    summary: Mapping[str, Any],
) -> None:
    """Write the file ``source`` with these variables only, and what was found about them.

    Parameters
    ----------
    path : path
        The new file; it takes its place when it is complete.
    source : path
        An .h5ad file: ``obs``, ``obsm``, ``uns``, ``raw`` and, of these variables, ``layers``,
        ``var`` and ``varm`` are kept.
    features : sequence of str
        Names of variables, in the order in which they are written.
    columns : mapping of str to ndarray
        New columns of ``var``, one value for each of ``features``.
    summary : mapping
        What ``uns["sparsieve"]`` will hold.
    """
    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    with explain_failure(f"{source.name} is not a readable .h5ad file"):
        part = anndata.read_h5ad(source)[:, list(features)].copy()
    for name, values in columns.items():
        part.var[name] = values
    part.uns["sparsieve"] = dict(summary)
    with replacing(path) as scratch:
        part.write_h5ad(scratch)


MAX_FEATURES = 20_000_000  # their names alone take a gigabyte


def is_too_large(path: Path) -> bool:
    """Whether a table is not to be loaded; without a limit every one is."""
    limit = explicit_limit()
    return limit is not None and path.stat().st_size > limit // LOAD_SHARE


def read_npy(path: Path, roles: Roles) -> Contents:
    """Open an .npy file with the samples; what is named for them is in other .npy files."""
    if roles.wants_target and roles.target is None:
        raise TargetNeededError(f"say which .npy file holds the target of {path.name}")
    columns = {}
    for role, name in roles.columns_by_role.items():
        beside = path.parent / name  # or the name itself, where that is a whole path
        file = beside if beside.exists() else Path(name)
        if not file.is_file():
            raise DataError(
                f"{path.name} holds the features alone; the {in_words(role)} must be an .npy "
                f"file, but {name!r} does not exist"
            )
        columns[role] = file.stem, _load_npy(file)
    X = _load_npy(path, mmap_mode="r")
    names = number_names(_width(X, path.name))
    return _contents(X, columns, names, roles, path.name)


def _load_npy(path: Path, **how: Any) -> np.ndarray:
    with explain_failure(f"{path.name} is not a readable .npy file"):
        array = np.load(path, **how)
    if not isinstance(array, np.ndarray):
        raise DataError(f"{path.name} is an .npz file; give it that name")
    return array


def read_hdf5(path: Path, roles: Roles) -> Contents:
    """Open the datasets X and y of an HDF5 file."""
    h5py = require("h5py", extra="data", purpose="read HDF5 files")
    with explain_failure(f"{path.name} cannot be read"):
        file = h5py.File(path, "r")
        refuse_external_files(file, path.name)
    return _from_group(file, path, roles)


def read_zarr(path: Path, roles: Roles) -> Contents:
    """Open the arrays X and y of a Zarr group."""
    require("zarr", extra="data", purpose="read Zarr arrays")
    return _from_group(ZarrArrays(path), path, roles)


def read_large_parquet(path: Path, roles: Roles) -> Contents:
    """Open a Parquet file whose row groups are read in passes."""
    require("pyarrow.parquet", extra="data", purpose="read Parquet files")
    from ...scale.files.arrays import FileDesign
    from ...scale.files.tables import ParquetRows, open_parquet

    with explain_failure(f"{path.name} is not a readable Parquet file"):
        file = open_parquet(str(path), list(roles.columns_by_role.values()) or None)
        names = list(file.schema_arrow.names)
        index = [name for name in names if name.startswith("__index_level_")]
        first = names.index(index[0]) if index else 0
        places = column_places(roles, names, path.name, index, first=first)
        about = [names[j] for j in places.of_samples]
        read = dict(zip(about, file.read(columns=about).columns, strict=True)) if about else {}
        columns = {}
        for role, j in places.columns.items():
            values = arrow_values(read[names[j]], what(role, names[j]), path.name)
            columns[role] = make_column(role, names[j], values)
    try:
        source = ParquetRows(file, [names[j] for j in places.features], str(path))
    except (TypeError, ValueError) as error:
        raise DataError(f"{path.name}: {error}") from None
    return Contents(path.name, FileDesign(source), tuple(source.names), columns)


def read_large_h5ad(path: Path, roles: Roles) -> Contents:
    """Open an .h5ad file whose X is read in passes."""
    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    h5py = require("h5py", extra="data", purpose="read .h5ad files")
    with explain_failure(f"{path.name} is not a readable .h5ad file"):
        with h5py.File(path, "r") as file:
            refuse_external_files(file, path.name)
            check_attributes(file, path.name)
            check_sizes((file.get(part) for part in ("obs", "var")), path.name)
        data = anndata.read_h5ad(path, backed="r")
    names = tuple(str(name) for name in data.var_names)
    X = _make_features(data, names, path.name)
    return annotated_contents(X, data.obs, data.var_names, roles, path.name)


def _from_group(group: Mapping[str, Any], path: Path, roles: Roles) -> Contents:
    with explain_failure(f"{path.name} cannot be read"):
        asked = asked_arrays(roles, group, list(group), path.name)
        X = group["X"]
        names = number_names(_width(X, path.name))
        columns = {}
        for role, name in asked.items():
            # Before it is read: a file of a few bytes can declare more values than fit into memory.
            if group[name].shape[:1] != X.shape[:1]:
                shape = "x".join(map(str, group[name].shape)) or "1"
                raise DataError(
                    f"X of {path.name} has {X.shape[0]} rows but {name} has {shape} values"
                )
            columns[role] = name, _values(group[name], f"{name} of {path.name}")
        for key in NAMES:
            if key in group and group[key].shape == (len(names),):
                found = _values(group[key], f"{key} of {path.name}")
                names = tuple(decode_name(name) for name in found)
    return _contents(X, columns, names, roles, path.name)


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


def _contents(
    X: Any,
    columns: Mapping[str, tuple[str, np.ndarray]],
    names: tuple[str, ...],
    roles: Roles,
    owner: str,
) -> Contents:
    """What is in a file of arrays; ``columns`` are names and values by role."""
    check_unique(names, owner)
    found = {}
    for role, (name, values) in columns.items():
        array = convert_values(values, what(role, name), owner)
        check_length(X, array, name, owner)
        found[role] = make_column(role, name, array)
    contents = Contents(owner, _make_features(X, names, owner), names, found)
    return drop_features(contents, roles.drop, owner)


def _make_features(X: Any, names: tuple[str, ...], owner: str) -> Any:
    """The features, loaded where they are small enough, else the design that reads them."""
    from ...design import RowBlockedDesign, external_design

    try:
        design = external_design(X)
    except (TypeError, ValueError) as error:
        raise DataError(f"{owner}: {error}") from None
    if isinstance(design, RowBlockedDesign):
        design.feature_names = np.array(names, dtype=object)
        return design
    return as_real(X, owner)
