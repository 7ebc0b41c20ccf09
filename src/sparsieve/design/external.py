"""X that is neither an array in memory nor a SciPy matrix: who serves it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..device import Streamed
from .base import DesignMatrix

# Package that the type of X comes from -> module of this package whose ``design_of(X)`` serves it.
# Going by the name imports nothing: where X is such an object its package was imported before.
_SERVED = {
    "numpy": "out_of_core.files",  # memory-mapped files
    "h5py": "out_of_core.files",
    "zarr": "out_of_core.files",
    "anndata": "out_of_core.tables",
    "pyarrow": "out_of_core.tables",
    "dask": "distributed.arrays",
    "torch": "gpu.tensor",
}


def external_design(X: Any) -> DesignMatrix | None:
    """The design of an X that must not be converted to an array; None where it may be.

    A serving ``design_of(X)`` refuses in one sentence what is not two-dimensional or not real
    numbers, and returns None for what is no X at all, or small enough to be loaded. Values that
    are not finite are found by the first pass. Further it gives a ``transform``: ``taken(index)``
    of the design is what the selected columns are returned as.
    """
    if isinstance(X, DesignMatrix):
        return X
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        return None
    package = type(X).__module__.partition(".")[0]
    serving = "gpu.host_streaming" if isinstance(X, Streamed) else _SERVED.get(package)
    if serving is None:
        return None
    return import_module(f".{serving}", __package__).design_of(X)


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
