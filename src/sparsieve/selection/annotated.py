"""What was found is written into annotated data (AnnData): its ``var`` and ``uns``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._version import __version__
from ..registry import name_of
from ..selectors.ranked import ranked_features


def write_back(
    adata: Any, selector: Any, method: Any, target: Any, layer: str | None, n_vars: int
) -> None:
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
    n_vars : int
        How many of the columns are variables; covariates may stand behind them.
    """
    ranked = ranked_features(selector)
    for name, values in columns_of(selector).items():
        adata.var[name] = values[:n_vars]
    adata.uns["sparsieve"] = summary_of(
        method,
        k=int(selector.get_support()[:n_vars].sum()),
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
