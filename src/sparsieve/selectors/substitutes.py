"""Near-duplicates of selected features among those that were left out."""

from __future__ import annotations

import numpy as np

from ..design import DesignMatrix, standardised

# Selected columns correlated with all others at a time: bounds the memory to this many columns.
BLOCK = 64


def correlated_features(
    design: DesignMatrix, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected column the others with |correlation| of at least ``threshold``.

    Returns the columns left out with their signed correlations, the strongest first.
    """
    view = standardised(design, centre=True, scale=True)
    n_samples = design.shape[0]
    selected = np.flatnonzero(support)
    others = ~support & ~view.constant
    found: dict[int, list[tuple[int, float]]] = {}
    for start in range(0, len(selected), BLOCK):
        block = selected[start : start + BLOCK]
        correlation = view.design.rmatmul(view.design.dense_columns(block)) / n_samples
        for position, feature in enumerate(block):
            column = correlation[:, position]
            close = np.flatnonzero(others & (np.abs(column) >= threshold))
            close = close[np.argsort(-np.abs(column[close]), kind="stable")]
            found[int(feature)] = [(int(j), float(column[j])) for j in close]
    return found
