"""Arithmetic on arrays with an entry per feature that lie beside X: NumPy arrays, or tensors.

What a design gives ``beside`` X is a NumPy array where X is in the memory of the host, and a tensor
on the device where X is on one. Operators, ``abs``, ``@``, ``.sum(axis=...)`` and ``.clip`` read
the same for both; the few functions here are those that do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def here(array: Any) -> np.ndarray:
    """An array beside X in the memory of the host; one that is there already is not copied."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def where(mask: Any, yes: Any, no: Any) -> Any:
    """Entry by entry, one or the other."""
    if isinstance(mask, np.ndarray):
        return np.where(mask, yes, no)
    import torch

    return torch.where(mask, yes, no)


def row_norms(rows: Any) -> Any:
    """Euclidean norm of every row."""
    if isinstance(rows, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return (rows * rows).sum(dim=1).sqrt_()


def largest(values: Any) -> float:
    """The largest of non-negative values; 0 where there are none."""
    return float(values.max()) if len(values) else 0.0


def some_of(values: Any, places: np.ndarray) -> np.ndarray:
    """A few of the values, in the memory of the host."""
    if isinstance(values, np.ndarray):
        return values[places]
    import torch

    return here(values[torch.from_numpy(np.ascontiguousarray(places)).to(values.device)])


def put(array: Any, places: Any, values: Any) -> None:
    """Write a few of the entries, or rows."""
    if not isinstance(array, np.ndarray):
        import torch

        if isinstance(values, np.ndarray):
            values = torch.from_numpy(np.ascontiguousarray(values)).to(array)
        places = torch.from_numpy(np.ascontiguousarray(places)).to(array.device)
    array[places] = values


def in_double(array: Any) -> Any:
    """The same in double precision."""
    if isinstance(array, np.ndarray):
        return array.astype(np.float64, copy=False)
    return array.double()


def places_of(mask: Any) -> np.ndarray:
    """Where a mask is true: few places, in the memory of the host."""
    return np.flatnonzero(mask) if isinstance(mask, np.ndarray) else here(mask.nonzero()[:, 0])
