"""What was found is written into annotated data (AnnData): its ``var`` and ``uns``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..registry import name_of
from ..selectors.ranked import ranked_features

if TYPE_CHECKING:
    from .result import SelectedFeatures


def write_back(adata: Any, selected: SelectedFeatures) -> None:
    """What was found into ``adata.var`` and, in plain types that .h5ad files hold, ``adata.uns``.

    Parameters
    ----------
    adata : AnnData
        Changed in place; covariates stand behind its variables.
    selected : SelectedFeatures
        Fitted on it.
    """
    selector, inputs, n_vars = selected.selector, selected.inputs, adata.n_vars
    for name, values in columns_of(selector).items():
        adata.var[name] = values[:n_vars]
    adata.uns["sparsieve"] = summary_of(
        selected.method,
        k=int(selector.get_support()[:n_vars].sum()),
        meaning=ranked_features(selector).meaning,
        target=" and ".join(inputs.target_names),
        layer="X" if inputs.layer is None else inputs.layer,
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
