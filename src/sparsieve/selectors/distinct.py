"""The different values of a target, and which of them every sample has, in little memory."""

from __future__ import annotations

from typing import Any

import numpy as np

# Samples that are sorted together; the values of more are merged.
STEP = 1 << 20


def distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted different values and how often each occurs, as ``numpy.unique`` has them.

    Sorting a copy of all samples takes the time and memory of several passes over them.
    """
    values, counts = np.unique(y[:STEP], return_counts=True)
    for start in range(STEP, len(y), STEP):
        if len(values) > STEP // 2:  # nearly all of them are different
            return np.unique(y, return_counts=True)
        others, more = np.unique(y[start : start + STEP], return_counts=True)
        values, place = np.unique(np.concatenate([values, others]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([counts, more])).astype(np.int64)
    return values, counts


def places(y: np.ndarray, values: np.ndarray, dtype: Any = np.intp) -> np.ndarray:
    """Where every sample's value stands among the sorted ones."""
    found = np.empty(len(y), dtype=dtype)
    for start in range(0, len(y), STEP):
        found[start : start + STEP] = np.searchsorted(values, y[start : start + STEP])
    return found


def smallest_integer(count: int) -> np.dtype:
    """The smallest signed type of the numbers below ``count``."""
    return np.min_scalar_type(-max(count, 1))
