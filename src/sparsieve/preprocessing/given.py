"""What X, y and groups a user means who names columns of a data frame or of AnnData."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import listed, suggestion
from ..design import external_design
from ..validation.dataframes import check_names, native, opened
from ..validation.external import in_memory, is_tensor
from ..validation.feature_groups import by_place
from ..validation.weights import check_weights
from ..validation.written import is_gap


@dataclass(frozen=True)
class Given:
    """Values where names of columns were given.

    Attributes
    ----------
    X, y, groups : array-like
        Named columns are taken out of a data frame X.
    names : ndarray of str or None
        Names of the features, where X itself has none.
    sample_weight : array-like or None
    """

    X: Any
    y: Any
    groups: Any = None
    names: np.ndarray | None = None
    sample_weight: Any = None


def given(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    layer: str | None = None,
    feature_names: Any = None,
    streams: bool = False,
) -> Given:
    """Look up the columns that are named.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or AnnData
    y, groups, sample_weight : array-like or str
        Values, or the name of a column: of the data frame, or of ``obs`` of AnnData.
    layer : str or None, default=None
        Of AnnData; None is ``X``.
    feature_names : array-like of str, default=None
        For an X without names.
    streams : bool, default=False
        Whether an AnnData matrix that is too large for memory may stay in its file.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.given import given
    >>> frame = pd.DataFrame({"a": [1, 2], "kind": ["x", "y"], "donor": [7, 8]})
    >>> found = given(frame, "kind", groups="donor")
    >>> list(found.X.columns), found.groups.tolist()
    (['a'], [7, 8])
    """
    if is_annotated(X):
        y, groups, sample_weight = (
            obs_column(X, values) if isinstance(values, str) else values
            for values in (y, groups, sample_weight)
        )
        _check_complete(groups)
        matrix = matrix_of(X, layer, streams=streams)
        return Given(matrix, y, groups, names_of(X), sample_weight)
    if layer is not None:
        raise ValueError(f"layer={layer!r} is for AnnData, but X is of type {type(X).__name__}")
    X = native(X)
    asked = {"y": y, "groups": groups, "sample_weight": sample_weight}
    taken = {name: values for name, values in asked.items() if isinstance(values, str)}
    if taken:
        check_names(X)
        frame = opened(X)
        if frame is None:
            name, column = next(iter(taken.items()))
            raise TypeError(
                f"{name}={column!r} names a column, but X is of type {type(X).__name__}, which has "
                f"no named columns; pass the values themselves as {name}"
            )
        for name, column in taken.items():
            if alike := [one for one in taken if one != name and taken[one] == column]:
                raise ValueError(f"{name} and {alike[0]} both name the column {column!r}")
        named = list(taken.values())
        for name, column in taken.items():
            if column not in frame.columns:
                known = [str(one) for one in frame.columns]
                raise ValueError(f"X has no column {column!r}{suggestion(column, known)}")
            taken[name] = _frame_column(frame, column)
        X = frame.drop(named).to_native()
        y, groups = taken.get("y", y), taken.get("groups", groups)
        groups = np.asarray(groups) if "groups" in taken else groups
        sample_weight = taken.get("sample_weight", sample_weight)
    _check_complete(groups)
    if sample_weight is not None and hasattr(X, "shape") and not is_tensor(sample_weight):
        check_weights(sample_weight, X.shape[0], _row_labels(X))
    names: np.ndarray | None = None
    if feature_names is not None:
        names = np.array([str(name) for name in feature_names], dtype=object)
    return Given(X, y, groups, names, sample_weight)


def _row_labels(X: Any) -> list[Any] | None:
    """What the rows of a pandas frame are called, where they are not just counted."""
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    return None if index is None or type(index).__name__ == "RangeIndex" else index.tolist()


def _check_complete(groups: Any) -> None:
    """Refuse groups with gaps: nobody knows which samples belong together."""
    values = np.empty(0) if groups is None else np.ravel(np.asarray(groups))
    missing = sum(is_gap(value, ()) for value in values.tolist())
    if missing:
        raise ValueError(
            f"groups has no value in {missing} of {len(values)} rows; leave these samples out of "
            "X, y and groups first"
        )


def number_columns(selector: Any, names: np.ndarray | None) -> None:
    """Columns that parameters call by name, by their place: X itself has no names."""
    one: Any
    for one in (selector, getattr(selector, "selector", None)):
        if placed := by_place(one, names):
            one.set_params(**placed)


def is_annotated(X: Any) -> bool:
    """Whether this is an AnnData object."""
    return all(hasattr(X, part) for part in ("obs", "var", "uns", "layers", "X"))


def matrix_of(adata: Any, layer: str | None, *, streams: bool = False) -> Any:
    """``adata.X`` or a layer of it, in memory; sparse stays sparse.

    A selector that ``streams`` gets what is too large for memory as it lies in the file.
    """
    if layer is None:
        if adata.X is None:
            layers = " or ".join(repr(str(name)) for name in adata.layers) or "... (it has none)"
            raise ValueError(f"adata has no matrix X; say which layer to use: layer={layers}")
        return adata.X if streams and external_design(adata.X) is not None else in_memory(adata.X)
    if layer not in adata.layers:
        known = [str(name) for name in adata.layers]
        raise ValueError(f"adata has no layer {layer!r}{suggestion(layer, known)}")
    return in_memory(adata.layers[layer])


def names_of(adata: Any) -> np.ndarray:
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


def _frame_column(frame: Any, column: str) -> Any:
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
