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
            kernel = njit(cache=True, **options)(function)
        except RuntimeError:  # "cannot cache function: no locator available"
            return njit(**options)(function)
        _note_what_it_uses(kernel, function)
        return kernel

    return decorate


def _note_what_it_uses(kernel: Any, function: Any) -> None:
    """Make remembered code depend on all that it was made of.

    numba compiles a function anew when its own file has changed, but not when only a file has
    from which that one imports compiled functions.
    """
    others = {
        name: repr(getattr(_remembered(value), "_source_stamp", None))
        for name, value in function.__globals__.items()
        if hasattr(value, "py_func") and value.py_func.__module__ != function.__module__
    }
    file = _remembered(kernel)
    if file is not None:
        file._source_stamp = (file._source_stamp, tuple(sorted(others.items())))


def _remembered(kernel: Any) -> Any:
    """Where the code of a function is kept, if it is: not while numba is switched off."""
    return getattr(getattr(kernel, "_cache", None), "_cache_file", None)
