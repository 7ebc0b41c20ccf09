"""What the convex models say about a feature: the norm of its standardised coefficients."""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms
from ..base import TrainingData
from ..preparation import Prepared

GAP = "a relative duality gap of"  # what these models stop on, for warnings
NORM_MEANING = (
    "Norm of the feature's standardised coefficients: how many root mean squares of the centred "
    "target the prediction moves when the feature moves by one standard deviation."
)


def standardised_row_norms(W: np.ndarray, problem: Prepared, data: TrainingData) -> np.ndarray:
    """Row norms of W in units of the root mean square of the centred target."""
    spread = np.sqrt(problem.target_power / data.total_weight)
    norms = row_norms(W.astype(np.float64, copy=False))
    return norms / spread if spread > 0 else norms
