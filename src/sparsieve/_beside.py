"""Arithmetic on arrays with an entry per feature that lie beside X: NumPy arrays, or tensors.

What a design gives beside X is a NumPy array where X is in the memory of the host, and a tensor
on the device where X is on one. Operators, ``abs``, ``@``, ``.sum(axis=...)`` and ``.clip`` read
the same for both; the few functions here are those that do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SMALL = 4096  # numbers of an array whose rows are looked at one by one faster than all at once


def to_numpy(array: Any) -> np.ndarray:
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
    return row_squares(rows) ** 0.5


def row_squares(rows: Any) -> Any:
    """Squared Euclidean norm along the last axis."""
    if isinstance(rows, np.ndarray):
        return np.einsum("...j,...j->...", rows, rows)
    return (rows * rows).sum(dim=-1)


def rows_in_use(W: np.ndarray) -> np.ndarray:
    """The rows of W that are not zero; of many short rows ``any`` takes ten times as long."""
    if W.size <= SMALL:
        used: np.ndarray = np.asarray(W.any(axis=1))
        return used.nonzero()[0]
    rows = np.flatnonzero(W != 0)
    if W.shape[1] <= 1:
        return rows
    rows //= W.shape[1]
    is_first = np.ones(len(rows), dtype=bool)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    return rows[is_first]


def largest(values: Any) -> float:
    """The largest of non-negative values; 0 where there are none."""
    return float(values.max()) if len(values) else 0.0


def read_entries(values: Any, places: np.ndarray) -> np.ndarray:
    """A few of the values, in the memory of the host."""
    return to_numpy(values[convert_like(places, values)])


def write_entries(array: Any, places: Any, values: Any) -> None:
    """Write a few of the entries, or rows."""
    if isinstance(values, np.ndarray) and not isinstance(array, np.ndarray):
        values = convert_like(values, array).to(array.dtype)
    array[convert_like(places, array)] = values


def take_columns(array: Any, places: np.ndarray) -> np.ndarray:
    """A few of the columns, in the memory of the host."""
    return to_numpy(array[:, convert_like(places, array)])


def convert_like(array: np.ndarray, other: Any) -> Any:
    """A small array where another one is."""
    if isinstance(other, np.ndarray):
        return array
    import torch

    return torch.from_numpy(np.ascontiguousarray(array)).to(other.device)


def copy_array(array: Any) -> Any:
    """A copy in the same place."""
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def zeros_like_entries(entries: Any) -> Any:
    """A zero in double precision for each of some entries."""
    if isinstance(entries, np.ndarray):
        return np.zeros(len(entries))
    return entries.new_zeros(len(entries)).double()


def stack_rows(arrays: list[Any]) -> Any:
    """Arrays of a size as the rows of one."""
    if isinstance(arrays[0], np.ndarray):
        return np.array(arrays)
    import torch

    return torch.stack(arrays)


def empty_rows(count: int, entries: Any) -> Any:
    """Room for so many rows in double precision, with an entry for each of some entries."""
    if isinstance(entries, np.ndarray):
        return np.empty((count, len(entries)))
    return entries.new_empty((count, len(entries))).double()


def most(array: Any, axis: int) -> np.ndarray:
    """The largest absolute values along an axis, on the host."""
    if isinstance(array, np.ndarray):
        return np.maximum(array.max(axis=axis, initial=0.0), -array.min(axis=axis, initial=0.0))
    return to_numpy(array.abs().amax(dim=axis))


def column_squares(array: Any) -> Any:
    """Squared Euclidean norm of every column."""
    if isinstance(array, np.ndarray):
        return np.einsum("ij,ij->j", array, array)
    return (array * array).sum(dim=0)


def strongest(values: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest values and their places, largest first, in the memory of the host."""
    count = min(count, len(values))
    if not isinstance(values, np.ndarray):
        found = values.topk(count)
        return to_numpy(found.values), to_numpy(found.indices)
    top = np.argpartition(values, -count)[-count:]
    top = top[np.argsort(-values[top], kind="stable")]
    return values[top], top


def in_double(array: Any) -> Any:
    """The same in double precision."""
    if isinstance(array, np.ndarray):
        return array.astype(np.float64, copy=False)
    return array.double()


def mask_indices(mask: Any) -> np.ndarray:
    """Where a mask is true: few places, in the memory of the host."""
    return np.flatnonzero(mask) if isinstance(mask, np.ndarray) else to_numpy(mask.nonzero()[:, 0])
