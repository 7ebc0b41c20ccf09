"""What the code of a guest is: it changes with every edit that may change what the guest selects.

Of a user's own module that is the contents of its file and of all files of the user's that it
imports; of an installed package its version and the files that define the guest. Python does not
read a module twice, so a file that was edited after it had been imported says nothing about the
code that runs: such a guest is refused.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import inspect
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache, partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import decode_source, find_spec, resolve_name
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .kinds import StudyError
from .names import imported

_OURS = ("sparsieve", "sparsieve_experiments")  # whose version is part of every cell
# What this package computes with as well: of what a guest only uses, no version counts.
_SHARED = ("numpy", "scipy", "sklearn", "joblib", "numba")
_seen: dict[str, tuple[ModuleSpec, str]] = {}  # what a file held when its module was first met


def code_of(names: Iterable[str]) -> str:
    """A digest of the code behind ``package.module:Class``, of which the user allowed the import.

    Parameters
    ----------
    names : iterable of str
        Of classes, functions or other objects of modules.

    Returns
    -------
    digest : str

    Raises
    ------
    StudyError
        If a file of a guest was edited after Python had imported it.

    Examples
    --------
    >>> from sparsieve_experiments.studies.guest_code import code_of
    >>> one, two = "sklearn.feature_selection:SelectKBest", "sklearn.feature_selection:chi2"
    >>> code_of([one, two]) == code_of([two, one]) != code_of([two])
    True
    """
    found: dict[str, str] = {}
    for name in names:
        module, _, attribute = name.partition(":")
        guest = imported(name, allow_import=True)
        own = {part for each in (module, *_modules_of(guest)) for part in _with_packages(each)}
        held = _held_by(own)
        if not held and module.partition(".")[0] not in _OURS:  # a notebook, for example
            with contextlib.suppress(OSError, TypeError):
                held[attribute] = inspect.getsource(guest)
        found |= {name: "", **held}
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _modules_of(guest: Any) -> Iterator[str]:
    """The modules that define an object: of a class, or what is made of it, those of its bases."""
    while isinstance(guest, partial):
        guest = guest.func
    guest = guest if isinstance(guest, type) or inspect.isroutine(guest) else type(guest)
    parts = guest.__mro__ if isinstance(guest, type) else (guest, inspect.unwrap(guest))
    for part in parts:
        if isinstance(name := getattr(part, "__module__", None), str):
            yield name


def _with_packages(name: str) -> list[str]:
    """A module and the packages that it lies in, which Python reads first."""
    parts = name.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def _held_by(own: set[str]) -> dict[str, str]:
    """Digests of the files, and versions of the packages, that modules of a guest consist of."""
    held: dict[str, str] = {}
    todo, met = sorted(own), set(own)
    while todo:
        name = todo.pop()
        top = name.partition(".")[0]
        file = None if top in _OURS or top in sys.stdlib_module_names else _file_of(name)
        if file is None:
            continue
        if _is_installed(file):
            if name in own and file.suffix == ".py":
                held[name] = _digest(file.read_bytes())
            if name in own or top not in _SHARED:
                held[f"version of {top}"] = _version_of(top)
            continue
        content = file.read_bytes()
        held[name] = _digest(content)
        if file.suffix == ".py":
            _check_loaded(name, file, content)
            new = {each for one in _imports(name, content) for each in _with_packages(one)} - met
            met |= new
            todo += sorted(new)
    return held


def _digest(content: bytes) -> str:
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module comes from; nothing is imported for it."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return getattr(loaded, "__spec__", None)
    package = name.rpartition(".")[0]
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        if not package:
            return find_spec(name)
        above = _spec_of(package)
        if above is not None and above.submodule_search_locations is not None:
            return PathFinder.find_spec(name, list(above.submodule_search_locations))
    return None


def _file_of(name: str) -> Path | None:
    spec = _spec_of(name)
    file = None if spec is None or spec.origin is None else Path(spec.origin)
    return file if file is not None and file.is_file() else None


@cache
def _installed_folders() -> tuple[Path, ...]:
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(Path(sysconfig.get_path(kind)).resolve() for kind in kinds)


def _is_installed(file: Path) -> bool:
    file = file.resolve()
    return any(part in ("site-packages", "dist-packages") for part in file.parts) or any(
        file.is_relative_to(folder) for folder in _installed_folders()
    )


@cache
def _version_of(package: str) -> str:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    if isinstance(own := getattr(sys.modules.get(package), "__version__", None), str):
        return own
    owners = importlib.metadata.packages_distributions().get(package, [])  # looks at all of them
    return " ".join(f"{owner} {importlib.metadata.version(owner)}" for owner in sorted(owners))


def _imports(name: str, content: bytes) -> Iterator[str]:
    """The modules that the code of a module names in imports, wherever in it they stand."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    spec = _spec_of(name)
    package = spec.parent if spec is not None else ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            with contextlib.suppress(ImportError):  # more dots than there are packages
                base = resolve_name("." * node.level + (node.module or ""), package)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)


# -- whether the file holds what runs -------------------------------------------------------------


def _check_loaded(name: str, file: Path, content: bytes) -> None:
    """Refuse a module that Python imported before its file was edited."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is None or spec is None:  # it will be read from the file
        return
    digest = _digest(content)
    first = _seen.setdefault(name, (spec, digest))
    if first[0] is not spec:  # read again, with importlib.reload
        first = _seen[name] = (spec, digest)
    if first[1] != digest or not _defines_what_runs(module, spec, content):
        raise StudyError(
            f"{file.name} was changed after Python had imported it, so that its old code would be "
            "run; start Python anew and run the study again"
        )


def _defines_what_runs(module: ModuleType, spec: ModuleSpec, content: bytes) -> bool:
    """Whether functions and methods of a module are those of its file, as far as can be seen."""
    if type(spec.loader) is not SourceFileLoader:
        return True  # others may change code while they read it
    try:
        text = decode_source(content)
        whole = compile(text, str(spec.origin), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    written: dict[str, list[CodeType]] = {}
    for code in _codes_in(whole):
        written.setdefault(code.co_qualname, []).append(code)
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    spaces = [module, *(one for one in classes if one.__module__ == module.__name__)]
    running = (value for space in spaces for value in vars(space).values())
    return all(
        any(_same(value.__code__, code) for code in written.get(value.__code__.co_qualname, ()))
        for value in running
        if isinstance(value, FunctionType) and value.__code__.co_filename == whole.co_filename
    )


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _codes_in(part)


def _same(one: CodeType, two: CodeType) -> bool:
    return (
        (one.co_code, one.co_names, one.co_varnames) == (two.co_code, two.co_names, two.co_varnames)
        and len(one.co_consts) == len(two.co_consts)
        and all(map(_same_constant, one.co_consts, two.co_consts))
    )


def _same_constant(one: object, two: object) -> bool:
    if isinstance(one, CodeType) and isinstance(two, CodeType):
        return _same(one, two)
    if isinstance(one, frozenset):
        return one == two
    return type(one) is type(two) and repr(one) == repr(two)
