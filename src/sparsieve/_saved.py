"""How a class says that it may be saved to a file, what its state is, and what must hold of it.

A class inherits from :class:`Savable`; nothing has to be entered anywhere else. The annotations of
its attributes are checked when a file is loaded, before anything is computed with them::

    class Plane(Savable):
        features: Annotated[Ints, "features"]
        columns: Annotated[Floats, "samples", "features"]

Axes of the same name have the same length within one object, "*" is any length; objects of ours
have the axes of their own attributes. Functions, as in ``Annotated[Floats, "samples", is_finite]``,
must return true. What annotations cannot say is said in ``_state_checks`` of every class; those of
its bases are called before.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

# Beyond it the square of a number is none; the solvers are made for numbers in between.
MAX_MAGNITUDE = 1e100

Floats = Annotated[np.ndarray, np.floating]
Ints = Annotated[np.ndarray, np.signedinteger]
Bools = Annotated[np.ndarray, np.bool_]
Labels = Annotated[np.ndarray, np.generic]  # text as well
if TYPE_CHECKING:
    SparseFloats: TypeAlias = Any  # SciPy has no annotations
else:
    SparseFloats = Annotated[sparse.sparray, np.floating] | Annotated[sparse.spmatrix, np.floating]
Value = TypeVar("Value")
_ABSENT = object()
Maybe = Annotated[Value, _ABSENT]  # an attribute that not every fit sets

CLASSES: dict[str, type[Savable]] = {}


class Savable:
    """Base of everything of ours that files may hold.

    The state of an instance is what its constructor takes, under the same names, and what the fit
    of an estimator has set. A private class is savable only if this is one of its own bases.
    """

    _not_saved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if Savable in cls.__bases__ or not cls.__name__.startswith("_"):
            name = name_in_files(cls)
            other = CLASSES.get(name, cls)
            if name == cls.__name__.lstrip("_") and _source(other) != _source(cls):
                raise TypeError(f"{_source(cls)} and {_source(other)} have one name in saved files")
            CLASSES[name] = cls  # of others' classes of one name in one module, the last

    def _state_checks(self) -> Iterator[bool]:
        """Conditions on what was loaded; each may rely on those before it, and on the types."""
        yield from ()

    def _is_consistent(self) -> bool:
        own = [vars(part).get("_state_checks") for part in reversed(type(self).__mro__)]
        return all(all(checks(self)) for checks in own if checks is not None)

    def _restored(self) -> None:
        """Complete what was loaded."""


def _source(cls: type) -> str:
    """Where a class is defined."""
    return f"{cls.__module__}.{cls.__qualname__}"


def name_in_files(cls: type) -> str:
    """The name of a class, with its module where that is not ours."""
    name = cls.__name__.lstrip("_")
    return name if cls.__module__.startswith("sparsieve.") else f"{cls.__module__}.{name}"


@cache
def declared(cls: type) -> dict[str, Any]:
    """The annotations of a class and its bases by attribute."""
    return typing.get_type_hints(cls, include_extras=True)


def required(cls: Any) -> set[str]:
    """The attributes that every instance must have: neither optional nor those of the class."""
    return {
        name
        for name, hint in declared(cls).items()
        if not (hint is dataclasses.KW_ONLY or hasattr(cls, name) or name in cls._not_saved)
        and _ABSENT not in getattr(hint, "__metadata__", ())
    }


def has_declared_types(cls: type, fields: dict[str, Any], axes: dict[str, Any]) -> bool:
    """Whether all values are of their types, and lengths of axes with the same name agree."""
    return all(_is(value, declared(cls).get(name, Any), axes) for name, value in fields.items())


def _is(value: Any, hint: Any, axes: dict[str, int]) -> bool:
    """Whether a value is what an annotation says."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return True
    if origin in (types.UnionType, typing.Union):
        return any(_is(value, one, axes) for one in inside)
    if origin is Annotated:
        return _is_annotated(value, *inside, axes=axes)
    if origin in (Sequence, list):
        return isinstance(value, list | tuple) and all(_is(one, inside[0], axes) for one in value)
    if origin is tuple:
        same_length = isinstance(value, tuple) and len(value) == len(inside)
        return same_length and all(map(_is, value, inside, [axes] * len(inside)))
    if hint is np.ndarray:
        return isinstance(value, np.ndarray) and (_holds(value, np.number) or _holds(value, bool))
    if hint is np.dtype:
        return isinstance(value, np.dtype) and value in (np.float32, np.float64)
    if hint in _NUMBERS:
        return isinstance(value, _NUMBERS[hint]) and (hint is bool or not isinstance(value, bool))
    return isinstance(value, _class_of(hint))


def _class_of(hint: Any) -> Any:
    """The class behind an annotation: ndarray of NDArray[...], an alias from NumPy 2.5 on."""
    origin = typing.get_origin(hint) or hint
    meant = getattr(origin, "__value__", None)
    return origin if meant is None else _class_of(meant)


_NUMBERS: dict[type, Any] = {
    bool: bool | np.bool_,
    int: int | np.integer,
    float: int | float | np.floating,
}


def _holds(value: Any, kind: type) -> bool:
    """Whether an array is of this kind of number; half precision is none, but may be a label."""
    is_half = value.dtype == np.float16
    return kind is np.generic or (np.issubdtype(value.dtype, kind) and not is_half)


def _is_annotated(value: Any, base: Any, *details: Any, axes: dict[str, int]) -> bool:
    """Whether it is of the base type, of a kind of number, has axes of these names, and so on."""
    kinds = [detail for detail in details if isinstance(detail, type)]
    names = [detail for detail in details if isinstance(detail, str)]
    if kinds:
        is_right = isinstance(value, _class_of(base)) and _holds(value, kinds[0])
    else:
        is_right = _is(value, base, axes)
    if is_right and names:
        lengths = _lengths(value, names)
        is_right = len(lengths) == len(names) and all(
            name == "*" or axes.setdefault(name, length) == length
            for name, length in zip(names, lengths, strict=True)
        )
    return is_right and all(
        detail(value) for detail in details if isinstance(detail, types.FunctionType)
    )


def _lengths(value: Any, names: list[str]) -> Sequence[Any]:
    """Lengths of an array or list, or of the axes that an object of ours has under these names."""
    if isinstance(value, Savable) and not hasattr(value, "shape"):
        axes: dict[str, Any] = {}
        fields = {name: getattr(value, name) for name in required(type(value))}
        has_declared_types(type(value), fields, axes)
        return [axes.get(name) for name in names]
    return value.shape if hasattr(value, "shape") else (len(value),)


def is_finite(values: np.ndarray) -> bool:
    """No NaN and no infinity."""
    return bool(np.isfinite(values).all())


def is_moderate(values: np.ndarray) -> bool:
    """Zero, or of a size whose square is a number."""
    size = np.abs(values)
    is_usual = (size < MAX_MAGNITUDE) & (size > 1 / MAX_MAGNITUDE)
    return bool(((size == 0) | is_usual).all())


def is_nonnegative(values: Any) -> bool:
    """Zero or more, not NaN."""
    return bool(np.all(values >= 0))


def are_signs(values: np.ndarray) -> bool:
    """Minus one or one."""
    return bool((np.abs(values) == 1.0).all())


def are_indices(values: np.ndarray, n: int) -> bool:
    """Whole numbers from 0 to n - 1, none twice."""
    is_inside = bool(((values >= 0) & (values < n)).all())
    return is_inside and len(np.unique(values)) == len(values)
