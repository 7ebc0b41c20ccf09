"""Importances that may be compared across features, numbers of features and data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...design import DesignMatrix
from ...penalties import row_norms
from ...solvers.base import Result
from ..base import FeatureScores
from ..preparation import Prepared

NORM_MEANING = (
    "Size of the feature's standardised coefficients: how much the prediction changes when the "
    "feature changes by one standard deviation, relative to the spread of the target."
)


def shares_of_target(
    gains: np.ndarray, ridge: float, power: float, spread: np.ndarray | None = None
) -> np.ndarray:
    """(1 + ridge) gain / ||Y||^2: 1 for a standardised copy of a target of one column.

    ``gains`` are decreases of ||Y - XW||^2 + ridge * n * ||W||^2 from adding a feature, and
    ``power`` is ||Y||^2. A column of noise gets about 1/n, whatever the ridge. ``spread`` is the
    largest variance of any direction in the columns of a feature: where it is above that of a
    standardised column, the ridge takes less, 1 + ridge / spread is what makes up for it, and no
    share is above 1.
    """
    if power <= 0:
        return np.zeros_like(gains, dtype=np.float64)
    gains = np.asarray(gains, dtype=np.float64)
    if spread is None:
        shares = (1.0 + ridge) * gains
    else:  # one array for all of it: of a million features new memory takes longest
        shares = np.maximum(spread, 1.0, dtype=np.float64)
        np.divide(ridge, shares, out=shares)
        shares += 1.0
        shares *= gains
    shares /= power
    return shares


def variances(design: DesignMatrix, total_weight: float) -> np.ndarray:
    """Mean squares of the columns of a problem."""
    return design.column_sq_norms().astype(np.float64) / total_weight


def row_norm_scores(
    result: Result[Any],
    problem: Prepared,
    total_weight: float,
    remedy: str,
    norms: np.ndarray | None = None,
) -> FeatureScores:
    """Scores by the norms of the rows of W, or of groups of them; ties by their correlations."""
    if norms is None:
        norms = row_norms(result.solution.W.astype(np.float64, copy=False))
    scores = in_target_units(norms, problem.target_power, total_weight)
    return FeatureScores.by_norms(scores, result.solution.correlation, problem.constant, remedy)


def standardised_row_norms(W: np.ndarray, power: float, total_weight: float) -> np.ndarray:
    """Row norms of W in units of the root mean square of the (weighted, centred) target.

    ``power`` is the sum of squares of the target.
    """
    return in_target_units(row_norms(W.astype(np.float64, copy=False)), power, total_weight)


def in_target_units(norms: np.ndarray, power: float, total_weight: float) -> np.ndarray:
    """Norms of coefficients in units of the root mean square of the target."""
    size = float(np.sqrt(power / total_weight))
    return norms / size if size > 0 else np.zeros_like(norms)
