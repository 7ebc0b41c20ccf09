"""From an estimator to JSON and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from .classes import fields_of, name_of
from .pools import NUMBER_TYPES, PoolWriter

DEEPEST = 64


class Encoder:
    """Writes values as JSON; what is no plain value is an object with one key, its kind."""

    def __init__(self) -> None:
        self.arrays: PoolWriter = PoolWriter()
        self._inside: list[int] = []

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value; ``where`` tells the user what could not be saved."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self._inside or len(self._inside) >= DEEPEST:
            raise TypeError(f"cannot save {where}: it contains itself or is nested too deeply")
        self._inside.append(id(value))
        try:
            return self._composite(value, where)
        finally:
            self._inside.pop()

    def _composite(self, value: Any, where: str) -> Any:
        name = name_of(type(value))
        if name is not None:
            fields = fields_of(value)
            return {
                "object": name,
                "fields": {n: self.encode(v, f"{where}.{n}") for n, v in fields.items()},
            }
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            return {
                "dict": [
                    [self.encode(k, f"a key of {where}"), self.encode(v, f"{where}[{k!r}]")]
                    for k, v in value.items()
                ]
            }
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if type(value) is np.ndarray:
            return self._array(value, where)
        if isinstance(value, np.dtype) and value.name in NUMBER_TYPES:
            return {"dtype": value.name}
        if sparse.issparse(value) and value.format in ("csr", "csc"):
            parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
            is_array = isinstance(value, sparse.sparray)
            return {"sparse": [value.format, is_array, list(map(int, value.shape)), *parts]}
        if isinstance(value, np.random.RandomState):
            kind, keys, *rest = value.get_state(legacy=True)
            if kind == "MT19937":
                return {"random_state": [self._array(np.asarray(keys), where), *rest]}
        raise TypeError(_refusal(value, where))

    def _scalar(self, value: np.generic, where: str) -> Any:
        if isinstance(value, np.str_):
            return {"scalar": ["str", str(value)]}
        if value.dtype.name not in NUMBER_TYPES:
            raise TypeError(_refusal(value, where))
        return {"scalar": [value.dtype.name, self.encode(value.item(), where)]}

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.name in NUMBER_TYPES:
            return {"array": self.arrays.add(array)}
        if array.dtype.kind == "U":
            letters = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
            width = array.dtype.itemsize // 4
            place = self.arrays.add(letters.reshape(-1).view("<u4"))
            return {"text": [width, place[1], list(array.shape)]}
        if array.dtype == object and all(type(item) is str for item in array.flat):
            parts = [item.encode("utf-8", "surrogatepass") for item in array.flat]
            letters = np.frombuffer(b"".join(parts), dtype=np.uint8)
            lengths = np.array([len(part) for part in parts], dtype=np.int64)
            places = [self.arrays.add(letters), self.arrays.add(lengths)]
            return {"words": [*places, list(array.shape)]}
        if array.dtype == object:
            items = [self.encode(item, f"an entry of {where}") for item in array.flat]
            return {"objects": [list(array.shape), items]}
        raise TypeError(_refusal(array, where))


def _refusal(value: Any, where: str) -> str:
    cls = type(value)
    if callable(value) and hasattr(value, "__name__"):
        return (
            f"cannot save {where}: it is a function, which a file that cannot run code cannot "
            "contain; use a name instead, or pickle"
        )
    if isinstance(value, np.ndarray):
        return (
            f"cannot save {where}: it is an array of {value.dtype}; only numbers and text can "
            "be saved"
        )
    return (
        f"cannot save {where}: it is a {cls.__name__} of {cls.__module__.partition('.')[0]}, "
        "which is not among the classes that can be saved; save only the selector inside, or "
        "pickle"
    )
