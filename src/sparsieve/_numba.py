"""The one place that compiles functions. Imported by kernels only, which are imported when used."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.extending import overload

from . import _clock
from ._clock import is_interactive

Function = TypeVar("Function", bound=Callable[..., Any])

#: Options of a function that only compiled functions call: it needs no entry for Python.
PART: dict[str, Any] = {"no_cpython_wrapper": True}

#: Options of a function that makes no arrays, only views of those it is given: counting who uses
#: them is left out, which saves a twentieth of the compilation.
VIEWS: dict[str, Any] = {"_nrt": False}


#: Every compiled function of the modules that were imported.
KERNELS: list[Any] = []

#: When the source of what was registered for a class of named tuples changed last.
_REGISTERED: dict[type, Any] = {}


def register_kind(stub: Any, kind: type) -> Callable[[Function], Function]:
    """Make code that calls ``stub`` call this where the first argument is a ``kind``.

    ``kind`` is a class of named tuples, and ``stub`` a function of ``functools.singledispatch``,
    which serves uncompiled code. Compiled code that calls it is compiled once for every kind, so
    that nothing is decided while it runs, and nothing is compiled for other kinds. Unlike a
    function that is handed in as an argument, the result is remembered.
    """

    def register(function: Function) -> Function:
        stub.register(kind, function)
        called: Any = function
        source = os.stat(getattr(called, "py_func", called).__code__.co_filename)
        _REGISTERED[kind] = source.st_mtime, source.st_size
        if hasattr(called, "py_func"):  # compiled by itself

            def called(*given: Any) -> Any:
                return function(*given)

        @overload(stub, strict=False)
        def choose(first: Any, *rest: Any) -> Any:
            return called if getattr(first, "instance_class", None) is kind else None

        return function

    return register


class _Remembered(FunctionCache):
    """What numba remembers, until something that was registered for an argument changes."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """None, so that it is compiled anew, where what was kept names a module that has moved."""
        try:
            return super().load_overload(sig, target_context)
        except (ImportError, AttributeError):
            with suppress(OSError):
                self.flush()
            return None

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        kinds = [getattr(kind, "instance_class", None) for kind in sig]
        stamps = tuple(_REGISTERED[kind] for kind in kinds if kind in _REGISTERED)
        return (*super()._index_key(sig, codegen), stamps)


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function by numba at its first call, and remember the result where possible.

    Compiled code is kept beside the source or in the user's cache folder. Code that was compiled
    ahead (``python -m sparsieve.compile``) is used where it is, even if its folder can only be
    read. Where there is none and neither folder can be written to (a read-only installation
    without a home), numba refuses to cache, and the function is compiled anew in every process.
    So it is where others can write to the folder: what is kept there runs as code.
    """
    # Nothing calls kernels from C: leaving that entry out saves a tenth of the compilation.
    options = {"no_cfunc_wrapper": True, **options}

    def decorate(function: Function) -> Function:
        kernel = _locate_cache(function, options) or njit(**options)(function)
        KERNELS.append(kernel)
        return kernel

    return decorate


# Seconds of compilation after which somebody who is watching is told.
PATIENCE = 3.0


class _Announced(event.Listener):
    """Says once that functions are being compiled, where a person waits for it."""

    def __init__(self) -> None:
        self.spent, self.depth, self.start, self.said = 0.0, 0, 0.0, False

    def on_start(self, event: Any) -> None:
        now = _clock.clock()
        if not self.depth:
            self.start = now
        self.depth += 1
        if not self.said and self.spent + now - self.start > PATIENCE and is_interactive():
            self.said = True
            print(
                "compiling, once: up to ten seconds for a method; python -m sparsieve.compile "
                "does it ahead for all",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.spent += _clock.clock() - self.start


ANNOUNCED = _Announced()
event.register("numba:compile", ANNOUNCED)


def _locate_cache(function: Any, options: dict[str, Any]) -> Any:
    """The function with a place for its compiled code; None where there is none."""
    for ahead in (True, False):
        try:
            place = (_CompiledAhead if ahead else _Remembered)(function)
        except RuntimeError:  # "cannot cache function: no locator available"
            continue
        kernel: Any = njit(**options)(function)
        if kernel is not function:  # numba is switched on
            kernel._cache = place
        file = _find_cache(kernel)
        if file is not None and not _is_private(file._cache_path, function.__code__.co_filename):
            return None
        _note_what_it_uses(kernel, function)
        if not ahead or (file is not None and file._load_index()):  # that of older sources is empty
            return kernel
    return None


def _if_only_readable(locator: Any) -> Any:
    """Numba's way to a folder, for one that holds code of a function and cannot be written to."""

    class Readable(locator):
        def ensure_cache_path(self) -> None:
            folder, file = Path(self.get_cache_path()), Path(self._py_file)
            if not any(folder.glob(f"{file.stem}.*.nbi")) or is_writable(folder):
                raise OSError(f"nothing was compiled ahead into {folder}")

    return Readable


def is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


_impl: Any = FunctionCache._impl_class


class _OnlyRead(_impl):
    # The folder that NUMBA_CACHE_DIR names, and the one beside the source.
    _locator_classes: ClassVar = [_if_only_readable(kind) for kind in _impl._locator_classes[:2]]


class _CompiledAhead(_Remembered):
    """Code that was compiled ahead, in a folder that this process cannot write to."""

    _impl_class = _OnlyRead  # type: ignore[assignment]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Code for other types lasts as long as the process."""


def _note_what_it_uses(kernel: Any, function: Any) -> None:
    """Make remembered code depend on all that it was made of.

    numba compiles a function anew when its own file has changed, but not when only a file has
    from which that one imports compiled functions.
    """
    others = {
        name: repr(getattr(_find_cache(value), "_source_stamp", None))
        for name, value in function.__globals__.items()
        if hasattr(value, "py_func") and value.py_func.__module__ != function.__module__
    }
    file = _find_cache(kernel)
    if file is not None:
        file._source_stamp = (file._source_stamp, tuple(sorted(others.items())))


def _find_cache(kernel: Any) -> Any:
    """Where the code of a function is kept, if it is: not while numba is switched off."""
    return getattr(getattr(kernel, "_cache", None), "_cache_file", None)


@cache
def _is_private(folder: str, source: str) -> bool:
    """Whether nobody can put code there who could not change the source as well."""
    if os.name == "nt":  # modes tell nothing there
        return True
    place, beside = Path(folder).absolute(), set(Path(source).absolute().parents)
    try:
        place.mkdir(0o700, parents=True, exist_ok=True)
        trusted = {0, os.getuid(), os.stat(source).st_uid}
        states = {path: path.stat() for path in (place, *place.parents) if path not in beside}
    except OSError:
        return True  # numba will say what is the matter
    for path, state in states.items():
        is_open = state.st_mode & stat.S_IWOTH
        sticks = (
            path != place and state.st_mode & stat.S_ISVTX
        )  # others cannot rename what is in it
        if state.st_uid not in trusted or (is_open and not sticks):
            _warn_unsafe_folder(path)
            return False
    return True


@cache
def _warn_unsafe_folder(folder: Path) -> None:
    warnings.warn(
        f"functions are compiled anew in every process: other users can write to {folder}, and "
        "what is kept there would be run; set NUMBA_CACHE_DIR to a folder of your own",
        stacklevel=2,
    )
