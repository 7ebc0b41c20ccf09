"""All arrays of a file, one long array per number type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .errors import SavedFileError

# Plain numbers in the byte order that nearly all machines have.
NUMBER_TYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        "bool",
        *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")),
        *("float16", "float32", "float64"),
    )
}


class PoolWriter:
    """Collects arrays; one that is seen again, or that is part of another, costs nothing."""

    def __init__(self) -> None:
        self._parts: dict[str, list[np.ndarray]] = {}
        self._lengths: dict[str, int] = {}
        self._places: dict[tuple[int, str], int] = {}
        self._alive: list[np.ndarray] = []  # so that no id is used twice

    def add(self, array: np.ndarray) -> list[Any]:
        """Where the array will be: [number type, offset, shape], "F" for Fortran order."""
        kind = array.dtype.name
        if array.ndim == 1 and array.strides == (array.itemsize,):
            offset = self._place_in_base(array, kind)
            return [kind, offset, [len(array)]]
        is_fortran = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        flat = array.ravel(order="F" if is_fortran else "C")
        offset = self._place(flat, array, kind)
        return [kind, offset, list(array.shape), *(["F"] if is_fortran else [])]

    def _place_in_base(self, array: np.ndarray, kind: str) -> int:
        """The beginnings of one list, say, are stored once."""
        base = array.base
        if (
            isinstance(base, np.ndarray)
            and base.ndim == 1
            and base.dtype == array.dtype
            and base.strides == array.strides
            and len(array)
        ):
            ahead = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            return self._place(base, base, kind) + ahead // array.itemsize
        return self._place(array, array, kind)

    def _place(self, flat: np.ndarray, owner: np.ndarray, kind: str) -> int:
        key = (id(owner), kind)
        if key not in self._places:
            self._alive.append(owner)
            self._places[key] = self._lengths.get(kind, 0)
            self._lengths[kind] = self._places[key] + len(flat)
            self._parts.setdefault(kind, []).append(flat.astype(NUMBER_TYPES[kind], copy=False))
        return self._places[key]

    def pools(self) -> dict[str, np.ndarray]:
        """The long arrays by number type."""
        return {kind: np.concatenate(parts) for kind, parts in self._parts.items()}


def view(pools: dict[str, np.ndarray], kind: Any, offset: Any, shape: Any, order: Any = "C") -> Any:
    """An array out of its pool, never copied: many references cannot fill the memory."""
    counts = [offset, *shape]
    if any(type(count) is not int or count < 0 for count in counts) or order not in ("C", "F"):
        raise SavedFileError("an array has an impossible size")
    size = math.prod(shape)
    pool = pools.get(kind)
    if pool is None and size == 0:
        pool = np.empty(0, dtype=NUMBER_TYPES[kind])
    if pool is None or (size and offset + size > len(pool)) or max(counts) > 2**62:
        raise SavedFileError("an array is larger than the file")
    return pool[offset : offset + size].reshape(shape, order=order)
