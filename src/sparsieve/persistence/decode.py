"""From JSON and arrays to an estimator, believing nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..validation.values import check_sparse
from .classes import rebuilt
from .encode import DEEPEST
from .errors import SavedFileError
from .pools import NUMBER_TYPES, view

_SCALARS = (bool, int, float, str, type(None), np.generic)


class Decoder:
    """Makes values again; every kind of value has one method, whose name ends with the kind."""

    def __init__(self, pools: dict[str, np.ndarray], written_by: str) -> None:
        self._pools = pools
        self._written_by = written_by

    def decode(self, node: Any, depth: int = 0) -> Any:
        """The value that a piece of JSON stands for."""
        if depth > 2 * DEEPEST:
            raise SavedFileError("it is nested too deeply")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if "object" in node:
            return self._object(node, depth)
        ((kind, content),) = node.items()
        make = getattr(self, f"_from_{kind}", None)
        if make is None:
            raise SavedFileError(f"it holds a {kind[:60]!r}, which this version does not know")
        return make(content, depth)

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        name, fields = node["object"], node["fields"]
        if len(node) != 2 or not isinstance(name, str) or not isinstance(fields, dict):
            raise SavedFileError("an object in it is not described as one")
        values = {n: self.decode(v, depth + 1) for n, v in fields.items()}
        return rebuilt(name, values, self._written_by)

    def _from_float(self, content: Any, depth: int) -> float:
        return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[content]

    def _from_tuple(self, content: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.decode(list(content), depth + 1))

    def _from_dict(self, content: Any, depth: int) -> dict[Any, Any]:
        made = {}
        for key, value in content:
            key = self.decode(key, depth + 1)
            flat = key if isinstance(key, tuple) else (key,)
            if not all(isinstance(part, _SCALARS) for part in flat):
                raise SavedFileError("a dictionary in it has impossible keys")
            made[key] = self.decode(value, depth + 1)
        return made

    def _from_scalar(self, content: Any, depth: int) -> np.generic:
        kind, value = content
        if kind == "str":
            return np.str_(value)
        value = self.decode(value, depth + 1)
        if not isinstance(value, bool | int | float):
            raise SavedFileError("a number in it is invalid")
        return NUMBER_TYPES[kind].newbyteorder("=").type(value)

    def _from_dtype(self, content: Any, depth: int) -> np.dtype:
        return NUMBER_TYPES[content].newbyteorder("=")

    def _from_array(self, content: Any, depth: int) -> np.ndarray:
        return view(self._pools, *content)

    def _from_text(self, content: Any, depth: int) -> np.ndarray:
        width, offset, shape = content
        if type(width) is not int or width < 1:
            raise SavedFileError("a text in it has an impossible size")
        letters = view(self._pools, "uint32", offset, [*shape, width])
        if letters.size == 0:
            return np.empty(shape, dtype=f"U{width}")
        if letters.max() > 0x10FFFF:
            raise SavedFileError("a text in it has invalid characters")
        return np.ascontiguousarray(letters).view(f"U{width}").reshape(shape)

    def _from_words(self, content: Any, depth: int) -> np.ndarray:
        letters, lengths, shape = content
        letters, lengths = view(self._pools, *letters), view(self._pools, *lengths)
        ends = np.cumsum(lengths, dtype=np.int64)
        if lengths.ndim != 1 or letters.dtype != np.uint8 or (lengths < 0).any():
            raise SavedFileError("a text in it has an impossible size")
        if (len(ends) and ends[-1] != letters.size) or (np.diff(ends) < 0).any():
            raise SavedFileError("a text in it has an impossible size")
        data, words = letters.tobytes(), np.empty(len(lengths), dtype=object)
        for i, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist(), strict=True)):
            words[i] = data[end - length : end].decode("utf-8", "surrogatepass")
        return words.reshape(shape)

    def _from_objects(self, content: Any, depth: int) -> np.ndarray:
        shape, items = content
        made = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            made[i] = self.decode(item, depth + 1)
            if not isinstance(made[i], _SCALARS):
                raise SavedFileError("an array in it has invalid contents")
        return made.reshape(shape)

    def _from_sparse(self, content: Any, depth: int) -> Any:
        form, is_array, shape, *parts = content
        data, indices, indptr = (self.decode(part, depth + 1) for part in parts)
        if any(type(length) is not int or not 0 <= length < 2**31 for length in shape):
            raise SavedFileError("a sparse array in it has an impossible size")
        arrays = {"csr": sparse.csr_array, "csc": sparse.csc_array}
        matrices = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
        if data.dtype.kind not in "fbiu" or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
            raise SavedFileError("a sparse array in it has no numbers")
        kind = (arrays if is_array else matrices)[form]
        made = kind((data, indices, indptr), shape=tuple(shape))
        check_sparse(made)
        return made

    def _from_random_state(self, content: Any, depth: int) -> np.random.RandomState:
        keys, *rest = content
        made = np.random.RandomState()
        made.set_state(("MT19937", self.decode(keys, depth + 1), *rest))
        return made
