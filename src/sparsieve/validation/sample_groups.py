"""Groups of samples, such as the rows of one patient, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def group_codes(groups: Any, n_samples: int) -> np.ndarray:
    """Groups as numbers 0, 1, ...: one for every sample, none missing.

    Examples
    --------
    >>> from sparsieve.validation.sample_groups import group_codes
    >>> group_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise ValueError(
            f"groups must say for each of the {n_samples} samples where it belongs, got shape "
            f"{groups.shape}"
        )
    missing = np.array([value is None or value != value for value in groups.tolist()], dtype=bool)
    if missing.any():
        times = int(missing.sum())
        raise ValueError(
            f"the group of {times} sample{'s' * (times != 1)} is missing (first of sample "
            f"{int(np.argmax(missing))}); give every sample its group, if need be one of its own"
        )
    labels = groups.astype(str) if groups.dtype == object else groups
    return np.unique(labels, return_inverse=True)[1]
