"""Importances that may be compared across features, numbers of features and data."""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms


def shares_of_target(gains: np.ndarray, ridge: float, power: float) -> np.ndarray:
    """(1 + ridge) gain / ||Y||^2: 1 for a standardised copy of a target of one column.

    ``gains`` are decreases of ||Y - XW||^2 + ridge * n * ||W||^2 from adding a feature, and
    ``power`` is ||Y||^2. A column of noise gets about 1/n, whatever the ridge.
    """
    if power <= 0:
        return np.zeros_like(gains, dtype=np.float64)
    shares = (1.0 + ridge) * np.asarray(gains, dtype=np.float64)
    shares /= power
    return shares


def standardized_norms(W: np.ndarray, Y: np.ndarray, total_weight: float) -> np.ndarray:
    """Row norms of W in units of the root mean square of the (weighted, centred) target Y."""
    size = float(np.sqrt(np.vdot(Y, Y) / total_weight))
    norms = row_norms(W)
    return (norms / size).astype(norms.dtype) if size > 0 else np.zeros_like(norms)
