"""Public names that are imported from where they live at their first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

#: Below selectors/, one per kind of problem.
WINGS = ("least_squares", "row_norms", "hinge", "minimax", "mkl")


def found_in(
    package: dict[str, Any], rooms: tuple[str, ...], *own: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names live in ``rooms``, modules below it.

    ``package`` is its ``globals()``, and ``own`` are public names that it defines itself. Rooms are
    entered in their order, and no further than needed: a method does not wait for the others.
    """
    home = package["__name__"]
    doors = {room.partition(".")[0] for room in rooms}

    def entered(room: str) -> Any:
        return import_module(f"{home}.{room}")

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            publics = {public for room in rooms for public in entered(room).__all__}
            package[name] = sorted(publics.union(own))
            return package[name]
        if name in doors:
            return entered(name)
        if not name.startswith("_"):
            for room in rooms:
                module = entered(room)
                if name in module.__all__:
                    package[name] = getattr(module, name)
                    return package[name]
        raise AttributeError(f"module {home!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*package, *__getattr__("__all__")})

    return __getattr__, __dir__
