"""The one place that compiles functions. Imported by kernels only, which are imported when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

#: Options of a function that only compiled functions call: it needs no entry for Python.
PART: dict[str, Any] = {"no_cpython_wrapper": True}

#: Options of a function that makes no arrays, only views of those it is given: counting who uses
#: them is left out, which saves a twentieth of the compilation.
VIEWS: dict[str, Any] = {"_nrt": False}


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function by numba at its first call, and remember the result where possible.

    Compiled code is kept beside the source or in the user's cache folder. Where neither can be
    written (a read-only installation without a home), numba refuses to cache, and the function
    is compiled anew in every process.
    """
    # Nothing calls kernels from C: leaving that entry out saves a tenth of the compilation.
    options = {"no_cfunc_wrapper": True, **options}

    def decorate(function: Function) -> Function:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # "cannot cache function: no locator available"
            return njit(**options)(function)

    return decorate
