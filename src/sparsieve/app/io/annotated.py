"""Annotated data of single-cell analysis (.h5ad)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import suggestion
from ..._files import replacing
from ..._optional import require
from ...validation.external import in_memory
from .arrays import as_real, without
from .errors import DataError, explained
from .hdf5 import check_annotated, check_declared, check_self_contained
from .labels import typed
from .names import check_unique
from .roles import Roles, column_of, places_of, what
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
    places = places_of(about, known, f"obs of {owner}", first=n_columns)
    columns = {
        role: column_of(
            role,
            known[j],
            typed(obs.index if j == n_columns else obs.iloc[:, j], what(role, known[j]), owner),
        )
        for role, j in places.columns.items()
    }
    left_out = set(annotations) - {roles.target, *roles.survival.values()}
    return without(Contents(owner, X, names, columns), roles.drop, f"var of {owner}", left_out)


def _parts(path: Path, layer: str | None) -> tuple[Any, Any, Any]:
    """obs, the names of the variables and the matrix; all else stays in the file."""
    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    with explained(f"{path.name} is not a readable .h5ad file"):
        h5py, read = import_module("h5py"), import_module("anndata.io").read_elem
        with h5py.File(path, "r") as file:
            check_self_contained(file, path.name)
            check_annotated(file, path.name)
            if all(isinstance(file.get(part), h5py.Group) for part in ("obs", "var")):
                _check_layer(layer, list(file.get("layers", ())), path.name)
                X = file.get("X") if layer is None else file["layers"][layer]
                check_declared((X, file["obs"], file["var"]), path.name)
                X = in_memory(X) if isinstance(X, h5py.Dataset) else None if X is None else read(X)
                return read(file["obs"]), read(file["var"]).index, _sound(X)
            check_declared([file], path.name)
        data = anndata.read_h5ad(path)  # written by a version of long ago
        _check_layer(layer, list(data.layers), path.name)
        X = data.X if layer is None else data.layers[layer]
        return data.obs, data.var_names, _sound(X)


def _sound(X: Any) -> Any:
    """The matrix, if its indices stay inside: what is done next with others may crash."""
    if hasattr(X, "check_format"):
        from ...validation.values import check_sparse  # which needs scikit-learn

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
    with explained(f"{source.name} is not a readable .h5ad file"):
        part = anndata.read_h5ad(source)[:, list(features)].copy()
    for name, values in columns.items():
        part.var[name] = values
    part.uns["sparsieve"] = dict(summary)
    with replacing(path) as scratch:
        part.write_h5ad(scratch)
