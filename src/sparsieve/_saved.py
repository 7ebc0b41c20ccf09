"""Which classes of ours files may hold, and names for the arrays that they keep.

``Annotated[Floats, "features"]`` tells readers what the axes of an array are.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

Floats = Annotated[np.ndarray, np.floating]
Ints = Annotated[np.ndarray, np.signedinteger]
Bools = Annotated[np.ndarray, np.bool_]
Labels = Annotated[np.ndarray, np.generic]  # text as well
Value = TypeVar("Value")
Maybe = Annotated[Value, None]  # an attribute that not every fit sets

CLASSES: set[type] = set()
#: Whether states are asked for to be written to a file, rather than to be copied.
TO_FILE: ContextVar[bool] = ContextVar("to_file", default=False)


class Savable:
    """Base of everything of ours that files may hold."""

    _not_saved: ClassVar[tuple[str, ...]] = ()  # attributes that live as long as the program

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        CLASSES.add(cls)

    def __getstate__(self) -> dict[str, Any]:
        parent: Any = super()
        state = dict(parent.__getstate__() or vars(self))
        if TO_FILE.get():
            state = {name: value for name, value in state.items() if name not in self._not_saved}
        return state
