"""Imports that wait for their first use, and those of extras that may be missing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

#: Below selectors/, one per kind of problem.
FAMILIES = ("least_squares", "robust", "hinge", "likelihood", "trees")
#: Below papers/, one per paper that brings selectors.
PAPERS = ("robust_l20", "exclusive_l21", "l0_mkl", "l0_mpm", "baselines")


def lazy_names(
    package: dict[str, Any], modules: tuple[str, ...], *own: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names live in ``modules`` below it.

    ``package`` is its ``globals()``, and ``own`` are public names that it defines itself. They are
    imported in their order, and no further than needed: a method does not wait for the others.
    """
    home = package["__name__"]
    parts = {module.partition(".")[0] for module in modules}

    def import_home(module: str) -> Any:
        return import_module(f"{home}.{module}")

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            publics = {public for module in modules for public in import_home(module).__all__}
            package[name] = sorted(publics.union(own))
            return package[name]
        if name in parts:
            return import_home(name)
        if not name.startswith("_"):
            for module in modules:
                members = import_home(module)
                if name in members.__all__:
                    package[name] = getattr(members, name)
                    return package[name]
        # With both, Python says which name may have been meant.
        error = f"module {home!r} has no attribute {name!r}"
        raise AttributeError(error, name=name, obj=sys.modules.get(home))

    def __dir__() -> list[str]:
        return sorted({*(name for name in package if name[:2] == "__"), *__getattr__("__all__")})

    return __getattr__, __dir__


class MissingExtraError(ImportError):
    """A package of an optional extra is needed but not installed."""


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module or say how to install it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of sparsieve that brings it.
    purpose : str
        What it is needed for, as the end of "is needed to ...".

    Returns
    -------
    module : module
        The imported module.

    Examples
    --------
    >>> from sparsieve._imports import require
    >>> require("json", extra="data", purpose="read JSON").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is needed to {purpose}; install it with pip install 'sparsieve[{extra}]'",
            name=package,
        ) from error


def available(module: str) -> ModuleType | None:
    """Import an optional module, or None where it is not installed.

    Examples
    --------
    >>> from sparsieve._imports import available
    >>> available("no_such_module") is None
    True
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
