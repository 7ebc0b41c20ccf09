"""X that is neither an array in memory nor a SciPy matrix: who serves it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._wings import find_server
from .base import DesignMatrix


def external_design(X: Any) -> DesignMatrix | None:
    """The design of an X that must not be converted to an array; None where it may be.

    A serving ``make_design(X)`` refuses in one sentence what is not two-dimensional or not real
    numbers, and returns None for what is no X at all, or small enough to be loaded. Values that
    are not finite are found by the first pass. Further it gives a ``transform``:
    ``take_columns(index)`` of the design is what the selected columns are returned as.
    """
    if isinstance(X, DesignMatrix):
        return X
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        return None
    design_of = find_server("sparsieve.designs", X)
    return None if design_of is None else design_of(X)


def check_matrix(shape: tuple[int, ...], dtype: np.dtype, what: str) -> None:
    """Refuse what is not a matrix of real numbers with rows and columns."""
    if len(shape) != 2:
        raise ValueError(
            f"X must be a 2D array of samples x features, but {what} has {len(shape)} "
            f"dimension{'s' * (len(shape) != 1)}: its shape is {shape}"
        )
    if shape[0] < 2 or shape[1] < 1:
        raise ValueError(
            f"X needs at least 2 samples and 1 feature, but {what} has the shape {shape}"
        )
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(
            f"X must hold real numbers, but {what} has the dtype {dtype}; convert it to float32 "
            "or float64 first"
        )


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The precision that numbers of this dtype are worked with: float32 stays."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)
