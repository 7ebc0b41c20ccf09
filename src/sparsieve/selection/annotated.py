"""Annotated data (AnnData) in, its ``var`` and ``uns`` filled in."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import listed
from .._version import __version__
from ..design import external_design
from ..io.annotated import in_memory
from ..registry import name_of
from ..selectors.ranked import ranked_features


def is_annotated(X: Any) -> bool:
    """Whether this is an AnnData object."""
    return all(hasattr(X, part) for part in ("obs", "var", "uns", "layers", "X"))


def matrix_of(adata: Any, layer: str | None, *, streams: bool = False) -> Any:
    """``adata.X`` or a layer of it, in memory; sparse stays sparse.

    A selector that ``streams`` gets what is too large for memory as it lies in the file.
    """
    if layer is None:
        if adata.X is None:
            raise ValueError(
                f"adata has no matrix X; say which layer to use: layer={_or(adata.layers)}"
            )
        return adata.X if streams and external_design(adata.X) is not None else in_memory(adata.X)
    if layer not in adata.layers:
        raise ValueError(
            f"adata has no layer {layer!r}{_hint(layer, [str(name) for name in adata.layers])}"
        )
    return in_memory(adata.layers[layer])


def labels_of(adata: Any, column: Any) -> Any:
    """The target: a column of ``adata.obs`` by its name, or values of the user's own."""
    if not isinstance(column, str):
        return column
    if column not in adata.obs:
        known = [str(name) for name in adata.obs.columns]
        raise ValueError(f"adata.obs has no column {column!r}{_hint(column, known)}")
    values = adata.obs[column]
    missing = int(np.asarray(values.isna()).sum())
    if missing:
        raise ValueError(
            f"adata.obs[{column!r}] has no label in {missing} of {len(values)} rows; leave them "
            f"out with adata = adata[adata.obs[{column!r}].notna()].copy()"
        )
    labels = np.asarray(values)
    return np.array(labels.tolist()) if labels.dtype == object else labels


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


def write_back(adata: Any, selector: Any, method: Any, target: Any, layer: str | None) -> None:
    """What was found into ``adata.var`` and, in plain types that .h5ad files hold, ``adata.uns``.

    Parameters
    ----------
    adata : AnnData
        Changed in place.
    selector : selector
        Fitted on it.
    method : selector
        The one that ranks: inside ``selector`` where that searched for the number of features.
    target : str or array-like
        As given.
    layer : str or None
        As given.
    """
    ranked = ranked_features(selector)
    for name, values in columns_of(selector).items():
        adata.var[name] = values
    adata.uns["sparsieve"] = summary_of(
        method,
        k=int(ranked.selected.sum()),
        meaning=ranked.meaning,
        target=target if isinstance(target, str) else "",
        layer="X" if layer is None else layer,
    )


def columns_of(selector: Any) -> dict[str, np.ndarray]:
    """New columns of ``var``: what a fitted selector says of every variable."""
    return {
        "sparsieve_rank": np.asarray(selector.ranking_, dtype=np.int64),
        "sparsieve_score": np.asarray(selector.scores_, dtype=np.float64),
        "sparsieve_selected": np.asarray(selector.get_support(), dtype=bool),
    }


def summary_of(method: Any, *, k: int, meaning: str, target: str, layer: str) -> dict[str, Any]:
    """What ``uns["sparsieve"]`` holds: text, numbers and truth values only."""
    return {
        "method": name_of(method),
        "k": k,
        "target": target,
        "layer": layer,
        "score_meaning": meaning,
        "parameters": {
            name: value if isinstance(value, bool | int | float | str) else repr(value)
            for name, value in method.get_params(deep=False).items()
        },
        "version": __version__,
    }


def _hint(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {listed(known)}" if known else "; there is none"


def _or(names: Any) -> str:
    return " or ".join(repr(str(name)) for name in names) or "... (it has none)"
