"""Columns of data frames and of AnnData that a user names."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import listed, suggestion
from ..validation.dataframes import opened
from ..validation.external import in_memory
from ..validation.feature_groups import by_place
from ..validation.written import is_gap


def check_complete(groups: Any) -> None:
    """Refuse groups with gaps: nobody knows which samples belong together."""
    values = np.empty(0) if groups is None else np.ravel(np.asarray(groups))
    missing = sum(is_gap(value, ()) for value in values.tolist())
    if missing:
        raise ValueError(
            f"groups has no value in {missing} of {len(values)} rows; leave these samples out of "
            "X, y and groups first"
        )


def column_names(X: Any, names: Any = None) -> Any:
    """What the columns of X are called, by itself or by ``names``; None without names."""
    frame = opened(X)
    return names if frame is None else [str(name) for name in frame.columns]


def number_columns(selector: Any, names: np.ndarray | None) -> None:
    """Columns that parameters call by name, by their place: X itself has no names."""
    one: Any
    for one in (selector, getattr(selector, "selector", None)):
        if placed := by_place(one, names):
            one.set_params(**placed)


def is_annotated(X: Any) -> bool:
    """Whether this is an AnnData object."""
    return all(hasattr(X, part) for part in ("obs", "var", "uns", "layers", "X"))


def annotated_matrix(adata: Any, layer: str | None) -> Any:
    """``adata.X`` or a layer of it, which may lie in a file."""
    if layer is None:
        if adata.X is None:
            layers = " or ".join(repr(str(name)) for name in adata.layers) or "... (it has none)"
            raise ValueError(f"adata has no matrix X; say which layer to use: layer={layers}")
        return adata.X
    if layer not in adata.layers:
        known = [str(name) for name in adata.layers]
        raise ValueError(f"adata has no layer {layer!r}{suggestion(layer, known)}")
    return in_memory(adata.layers[layer])


def variable_names(adata: Any) -> np.ndarray:
    """Names of the variables, each of which must mean one column."""
    names = adata.var_names
    if not names.is_unique:
        repeated = list(dict.fromkeys(names[names.duplicated()]))
        raise ValueError(
            f"adata.var_names has duplicates: {listed(repeated)}; make them unique with "
            "adata.var_names_make_unique()"
        )
    return np.array([str(name) for name in names], dtype=object)


def obs_column(adata: Any, column: str) -> np.ndarray:
    """A column of ``obs`` without gaps."""
    if column not in adata.obs:
        known = [str(name) for name in adata.obs.columns]
        raise ValueError(f"adata.obs has no column {column!r}{suggestion(column, known)}")
    values = adata.obs[column]
    missing = int(np.asarray(values.isna()).sum())
    if missing:
        raise ValueError(
            f"adata.obs[{column!r}] has no value in {missing} of {len(values)} rows; leave them "
            f"out with adata = adata[adata.obs[{column!r}].notna()].copy()"
        )
    labels = np.asarray(values)
    return np.array(labels.tolist()) if labels.dtype == object else labels


def frame_column(frame: Any, column: str) -> Any:
    """A column of a data frame without gaps."""
    if column not in frame.columns:
        known = [str(one) for one in frame.columns]
        raise ValueError(f"X has no column {column!r}{suggestion(column, known)}")
    values = frame.get_column(column)
    gaps = values.is_null()
    if values.dtype.is_float():
        gaps = gaps | values.is_nan()
    missing = int(gaps.sum())
    if missing:
        raise ValueError(
            f"column {column!r} has no value in {missing} of {len(values)} rows; leave them out "
            f"first, for example with X.dropna(subset=[{column!r}]) in pandas or "
            f"X.drop_nulls({column!r}) in polars"
        )
    return values.to_native()
