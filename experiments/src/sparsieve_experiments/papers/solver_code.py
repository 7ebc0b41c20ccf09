"""Which code a method is solved by, as a digest that only a change of what runs changes.

From the class of a method every definition is followed that it names: functions, classes and
constants of the packages that compute. Where these lie, what they import and are called, and what
is only said or shown (docstrings, comments, annotations, errors, warnings, sentences, pictures) is
left away, so that a file may move, and a name or a sentence may change. A name of the library
stands as the number of its first place in its definition; where it means a definition, with a
digest of that one, so that another function of the same form is another code.
"""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sparsieve

# The packages whose code decides what a method gives; checks, messages and pictures do not.
COMPUTING = ("design", "filters", "papers", "penalties", "selectors", "solvers")
# Another way to the same numbers, for data that do not lie in memory.
ELSEWHERE = ("design.blocks",)
_DIGITS = 12  # hexadecimal ones of a digest: chance makes no two equal


class _Place(NamedTuple):
    """Where a name is defined: its module, below the package, and the name; a module without."""

    module: str
    name: str = ""


class _Module:
    """The definitions of a module by name, and where the other names that it uses come from."""

    def __init__(self, name: str, file: Path):
        self.defined: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, _Place] = {}
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(file.read_bytes())
        for statement in _outer(tree.body):
            for defined in _names_of(statement):
                self.defined.setdefault(defined, []).append(statement)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                source = _source(node, package)
                for alias in node.names if source is not None else ():
                    self.imported[alias.asname or alias.name] = _Place(source or "", alias.name)


class SolverCode:
    """The code of a version of the library.

    Parameters
    ----------
    root : path
        The folder of the package ``sparsieve``.

    Examples
    --------
    >>> from pathlib import Path
    >>> import sparsieve
    >>> from sparsieve_experiments.papers.solver_code import SolverCode
    >>> code = SolverCode(Path(sparsieve.__file__).parent)
    >>> code.digest(["L20Selector"]) != code.digest(["L0MKLSelector"])
    True
    """

    def __init__(self, root: Path):
        self._modules = {
            _module_name(file.relative_to(root)): file
            for package in COMPUTING
            for file in sorted(root.joinpath(package).rglob("*.py"))
        }
        for name in [*self._modules]:
            if any(name == away or name.startswith(f"{away}.") for away in ELSEWHERE):
                del self._modules[name]
        self._read: dict[str, _Module] = {}
        self._met: dict[_Place, tuple[list[ast.stmt], set[_Place]]] = {}
        self._names: dict[_Place, dict[str, set[_Place]]] = {}

    def digest(self, names: Iterable[str]) -> str:
        """Of all code behind classes or functions, which are given by their bare names."""
        nodes = {place: self._piece(place)[0] for place in self.reached(names)}
        own = {name for some in nodes.values() for node in some for name in _named_by(node)}
        alone = {place: _hashed(_numbered(some, own, {})) for place, some in nodes.items()}
        pieces = []
        for place, some in nodes.items():
            meant = {
                name: " ".join(sorted(alone[one] for one in found))
                for name, found in self._names[place].items()
            }
            pieces.append(_numbered(some, own, meant))
        return _hashed(sorted(pieces))[:_DIGITS]

    def reached(self, names: Iterable[str]) -> set[_Place]:
        """The definitions that code behind these names consists of."""
        todo = [place for name in names for place in self._anywhere(name)]
        met: set[_Place] = set()
        while todo:
            place = todo.pop()
            if place not in met:
                met.add(place)
                todo += self._piece(place)[1]
        return met

    def _anywhere(self, name: str, below: str = "") -> list[_Place]:
        found = [
            _Place(module, name)
            for module in self._modules
            if module.startswith(below)
            and name.encode() in self._modules[module].read_bytes()  # or it need not be parsed
            and name in self._module(module).defined
        ]
        if not (found or below):
            raise LookupError(f"no module that computes defines {name}")
        return found

    def _module(self, name: str) -> _Module:
        if name not in self._read:
            self._read[name] = _Module(name, self._modules[name])
        return self._read[name]

    def _piece(self, place: _Place) -> tuple[list[ast.stmt], set[_Place]]:
        """A definition, and the definitions that it uses."""
        if place not in self._met:
            module = self._module(place.module)
            bare = [
                statement
                for statement in map(_Bare().visit, module.defined[place.name])
                if statement is not None
            ]
            names = self._names[place] = defaultdict(set)
            for node in (node for statement in bare for node in ast.walk(statement)):
                if isinstance(node, ast.Name):
                    names[node.id].update(self._found(_Place(place.module, node.id)))
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    source = module.imported.get(node.value.id)
                    if source is not None:  # or it is an attribute of something else
                        whole = f"{source.module}.{source.name}".strip(".")
                        names[node.attr].update(self._found(_Place(whole, node.attr)))
            self._met[place] = bare, set().union(*names.values())
        return self._met[place]

    def _found(self, place: _Place) -> list[_Place]:
        """Where a name that a module uses is defined, if it is one of a module that computes."""
        if place.module not in self._modules:
            return []
        module = self._module(place.module)
        if place.name in module.defined:
            return [place]
        if place.name in module.imported:
            source = module.imported[place.name]
            if source.module not in self._modules:
                return []
            held = self._module(source.module)
            if source.name in held.defined or source.name in held.imported:
                return self._found(source)
            if f"{source.module}.{source.name}" in self._modules:
                return []  # a module, of which attributes are used
            return self._anywhere(source.name, f"{source.module}.")  # imported at its first use
        return []


@cache
def code_now() -> SolverCode:
    """The code that runs."""
    return SolverCode(Path(sparsieve.__file__).parent)


def _module_name(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _source(node: ast.ImportFrom, package: str) -> str | None:
    """The module that names are imported from, below the library; None of others."""
    module = node.module or ""
    if not node.level:
        top, _, rest = module.partition(".")
        return rest if top == "sparsieve" else None
    above = package.split(".") if package else []
    base = above[: len(above) - node.level + 1]
    return ".".join([*base, module] if module else base)


def _outer(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under a condition included."""
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            for part in ("body", "orelse", "finalbody"):
                yield from _outer(getattr(statement, part, ()))
        else:
            yield statement


def _names_of(statement: ast.stmt) -> set[str]:
    """What a statement of a module defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    else:
        return set()
    return {node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)}


class _Bare(ast.NodeTransformer):
    """Leaves away what decides no number: what is said or shown, types and imports."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("annotation", "returns", "type_params"):
            if hasattr(node, name):
                setattr(node, name, None)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        warns = isinstance(called, ast.Attribute) and called.attr == "warn"
        said = warns or isinstance(node.value, ast.Constant)
        return None if said else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return None if node.name.startswith("_repr_") else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()

    def visit_Import(self, node: ast.AST) -> None:
        return None

    visit_ImportFrom = visit_Import


# What a node of a kind calls a thing of the library.
_NAMES = {
    ast.FunctionDef: "name",
    ast.ClassDef: "name",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.ExceptHandler: "name",
}


def _named_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a definition gives: to itself, its arguments, fields and variables."""
    for node in ast.walk(statement):
        name = getattr(node, _NAMES.get(type(node), ""), None)
        used = isinstance(node, ast.keyword) or isinstance(getattr(node, "ctx", None), ast.Load)
        if name is not None and not used:
            yield name


def _numbered(statements: list[ast.stmt], own: set[str], meant: dict[str, str]) -> str:
    """A definition as text, with numbers and digests for the names of the library."""
    numbers: dict[str, str] = {}

    def dumped(value: object) -> str:
        if isinstance(value, list):
            return f"[{','.join(map(dumped, value))}]"
        if isinstance(value, str):  # a word is a setting, several are a sentence
            return repr(value if len(value.split()) < 2 else "")
        if not isinstance(value, ast.AST):
            return repr(value)
        named, fields = _NAMES.get(type(value)), []
        for field, part in ast.iter_fields(value):
            if part is None or part == []:
                continue  # for Python versions differ in what is empty
            # What arrays have as well is theirs.
            theirs = field == "attr" and hasattr(np.ndarray, part)
            if field == named and part in own and not theirs:
                number = numbers.setdefault(part, f"#{len(numbers)}")
                fields.append(f"{field}={number}{meant.get(part, '')}")
            else:
                fields.append(f"{field}={dumped(part)}")
        return f"{type(value).__name__}({','.join(fields)})"

    return dumped(statements)


def _hashed(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()
