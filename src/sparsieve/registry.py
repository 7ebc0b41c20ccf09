"""The methods of the package: their names, and what each of them says of itself.

There is no list to keep. A selector that its family exports is a method, those of other packages
included (entry point ``sparsieve.selectors``), and its docstring and class attributes are what
there is to say of it. They are read from the source: importing every
selector, and scikit-learn with them, takes seconds, which a list of methods or a misspelt name
need not wait for.
"""

from __future__ import annotations

import ast
import csv
import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

from ._imports import FAMILIES
from ._wings import list_entries

__all__ = ["all_estimators", "all_selectors"]

DEFAULT_METHOD = "ridge-forward"
LIKELIHOOD_METHOD = "likelihood-forward"  # of survival times and counts
FAST_SECONDS = 1.0  # CPU time on 100 x 20,000 that a method for large data may take
SHORT_NAMES = {"trees": "boostedtrees"}  # what a method may be called as well
_HERE = Path(__file__).parent
# What runs by its name alone; meta needs another selector.
_OURS = ("sparsieve.selectors", "sparsieve.filters")
_BY_FAMILY = (*(f"sparsieve.selectors.{family}" for family in FAMILIES), "sparsieve.filters")

PURPOSES = {
    "regression": "the target is numeric: age, dose, temperature, yield",
    "survival": "the target is a time until an event, for some samples censored (--time, --event)",
    "counts": "the target counts something, and has a likelihood of its own (--task counts)",
    "large": f"20,000 features and 100 samples take at most {FAST_SECONDS:.0f} second",
    "sparse": "X is mostly zeros, such as single-cell counts or words, and stays sparse",
    "nonlinear": (
        "the relation to the target is not linear: thresholds, optima, combinations of features"
    ),
    "panel": "a small panel of features that are not redundant",
    "markers": "markers of single classes, such as cell types",
    "wrong-labels": "some class labels are wrong",
    "outliers": "some numbers of the target are far off",
    "outliers-in-x": "some values of the features are far off, and classes are to be told apart",
    "missing": "some values are missing",
    "unsupervised": "there is no target",
    "groups": (
        "columns belong together, such as those of a category, and are kept or left out as a whole "
        "(--feature-groups)"
    ),
    "p-values": "a p-value for every single feature",
    "proof": "a proof of how close the selection is to the best one (--certify)",
}

# Purposes that measurements decide, and their columns in method_outliers.csv; those methods are for
# them that are no further behind the best one, in percentage points.
MEASURED = {"wrong-labels": "labels", "outliers": "y", "outliers-in-x": "X"}
BEHIND = 1.5


@dataclass(frozen=True)
class Method:
    """A selector that runs by its name alone.

    Attributes
    ----------
    name, class_name, module : str
        What the command line calls it, and where it is.
    description : str
        First line of the docstring.
    words : str
        What it does for somebody who has not read the paper: the paragraph of the docstring that
        begins with "In short:".
    seconds : float or None
        CPU time on 100 x 20,000, where it was measured.
    purposes : frozenset of str
        What it takes and what it is for, in the words of ``PURPOSES``.
    """

    name: str
    class_name: str
    module: str
    description: str
    words: str
    seconds: float | None
    purposes: frozenset[str]

    @classmethod
    def from_class_name(cls, class_name: str) -> Method:
        """All that a selector says of itself."""
        module, node = _find_definitions()[1][class_name]
        doc = ast.get_docstring(node) or ""
        said = re.search(r"^In short: (.*?)(?:\n\n|\Z)", doc, re.M | re.S)
        description = doc.partition("\n")[0]
        row = load_measurements().get(method_name(class_name))
        seconds = None if row is None else float(row["seconds"])
        facts = {
            "regression": _attribute(class_name, "_accepts_regression"),
            "survival": _attribute(class_name, "_accepts_survival"),
            "counts": _attribute(class_name, "_accepts_counts"),
            "sparse": _attribute(class_name, "_accepts_sparse"),
            "missing": _attribute(class_name, "_accepts_nan"),
            "unsupervised": not _attribute(class_name, "_needs_target"),
            "proof": _attribute(class_name, "certify"),
            "groups": _declares(class_name, "feature_groups")
            and not _attribute(class_name, "_single_columns_only"),
            "large": seconds is not None and seconds <= FAST_SECONDS,
        }
        for purpose, figures in withstood().items():
            mine = figures.get(method_name(class_name))
            facts[purpose] = mine is not None and mine >= max(figures.values()) - BEHIND
        own = _attribute(class_name, "_purposes")
        return cls(
            name=method_name(class_name),
            class_name=class_name,
            module=module,
            description=description,
            words=" ".join(said[1].split()) if said else description,
            seconds=seconds,
            purposes=frozenset((*own, *(name for name, holds in facts.items() if holds))),
        )

    @property
    def cls(self) -> type[Any]:
        """The selector itself, imported when it is needed."""
        return getattr(import_module(self.module), self.class_name)


@cache
def all_methods() -> dict[str, Method]:
    """Every selector that runs without further arguments, by its command-line name.

    Examples
    --------
    >>> from sparsieve.registry import all_methods
    >>> all_methods()["fisher"].cls()
    FisherSelector()
    """
    exported, _ = _find_definitions()
    names = sorted((name for name in exported if name.endswith("Selector")), key=method_name)
    return {method_name(name): Method.from_class_name(name) for name in names}


@cache
def _find_definitions() -> tuple[set[str], dict[str, tuple[str, ast.ClassDef]]]:
    """The names that families export, and module and definition of every class by its name."""
    exported: set[str] = set()
    classes = {}
    # Those of others come first, so that none of them takes the name of one of ours.
    for home in (*_others(), "sparsieve.validation", *_OURS):
        public = set()
        for module, path in _files(home):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    classes[node.name] = module, node
                elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                    public.update(ast.literal_eval(node.value))
        exported |= public
    return exported, classes


def _others() -> tuple[str, ...]:
    """The packages outside the core that bring selectors."""
    return tuple(dict.fromkeys(list_entries("sparsieve.selectors").values()))


def _files(home: str) -> Iterator[tuple[str, Path]]:
    """The modules of a package, or a module alone, by name and file; none of them is imported."""
    spec = find_spec(home)
    if spec is None:
        raise ModuleNotFoundError(
            f"an installed package says that {home} has selectors (entry point "
            "sparsieve.selectors), but there is no such module; reinstall or remove that package",
            name=home,
        )
    for folder in map(Path, spec.submodule_search_locations or ()):
        for path in sorted(folder.rglob("*.py")):
            yield ".".join((home, *path.relative_to(folder).with_suffix("").parts)), path
    if spec.submodule_search_locations is None and spec.origin:
        yield home, Path(spec.origin)


def _family(class_name: str) -> Iterator[ast.ClassDef]:
    """The definition of a class, then those of what it inherits from, as far as they are ours."""
    if class_name in (classes := _find_definitions()[1]):
        node = classes[class_name][1]
        yield node
        for base in node.bases:
            yield from _family(ast.unparse(base))


def _attribute(class_name: str, attribute: str) -> Any:
    """The value of a class attribute, its own or inherited; True for a method, None for nothing.

    Of a property parameters decide: what holds of the defaults is inherited.
    """
    for one in (one for node in _family(class_name) for one in node.body):
        if isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == attribute:
            return ast.literal_eval(one.value) if one.value else None
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == attribute:
            return ast.literal_eval(one.value)
        if isinstance(one, ast.FunctionDef) and one.name == attribute and not _is_property(one):
            return True
    return None


def _is_property(method: ast.FunctionDef) -> bool:
    return "property" in map(ast.unparse, method.decorator_list)


def _declares(class_name: str, field: str) -> bool:
    """Whether a class, or one that it inherits from, has a field of this name."""
    parts = (one for node in _family(class_name) for one in node.body)
    return any(isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == field for one in parts)


@cache
def load_measurements() -> dict[str, dict[str, str]]:
    """What benchmarks/method_times.py found, by method; a new method has no line yet."""
    with (_HERE / "method_times.csv").open(encoding="utf-8", newline="") as rows:
        return {row["method"]: row for row in csv.DictReader(rows)}


@cache
def withstood() -> dict[str, dict[str, float]]:
    """What benchmarks/outliers.py found, by purpose and method: percent, larger is better."""
    with (_HERE / "method_outliers.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {
        purpose: {row["method"]: float(row[column]) for row in rows if row[column]}
        for purpose, column in MEASURED.items()
    }


def all_selectors() -> dict[str, type[BaseEstimator]]:
    """Return all public selectors by class name, sorted.

    Returns
    -------
    selectors : dict of str to type
        Estimators that select features, including wrappers.

    See Also
    --------
    sparsieve.all_estimators : Every estimator by name, classifiers included.

    Examples
    --------
    >>> from sparsieve import all_selectors
    >>> "FisherSelector" in all_selectors()
    True
    """
    from sklearn.feature_selection import SelectorMixin

    return {n: cls for n, cls in all_estimators().items() if issubclass(cls, SelectorMixin)}


def all_estimators() -> dict[str, type[BaseEstimator]]:
    """Return all public estimators, selectors and classifiers, by class name.

    Returns
    -------
    estimators : dict of str to type
        Sorted by name.

    See Also
    --------
    sparsieve.all_selectors : Every selector by name.

    Examples
    --------
    >>> from sparsieve import all_estimators
    >>> "MPMClassifier" in all_estimators()
    True
    """
    packages = [import_module(home) for home in (*_others(), *_OURS, f"{__package__}.meta")]
    found = {name: getattr(package, name) for package in packages for name in package.__all__}
    return dict(sorted(found.items()))


def find_selector(name: str) -> type[BaseEstimator]:
    """The selector meant by ``ridge-forward``, ``ridge_forward`` or ``RidgeForwardSelector``.

    Examples
    --------
    >>> from sparsieve.registry import find_selector
    >>> find_selector("ridge-forward").__name__
    'RidgeForwardSelector'
    """
    # Family by family, those of other packages last: most names need few imports.
    for home in _BY_FAMILY:
        family = import_module(home)
        for class_name in family.__all__:
            if _key(class_name) == _key(name):
                return getattr(family, class_name)
    selectors = all_selectors()
    return selectors[find_class_name(name, selectors)]


def find_class_name(
    name: str,
    known: Iterable[str],
    *,
    kind: str = "method",
    shown: Callable[[str], str] = lambda class_name: repr(method_name(class_name)),
    where: str = "sparsieve.all_selectors() lists them all",
) -> str:
    """The class that any way to write the name of a method means; the only look-up by name.

    Parameters
    ----------
    name : str
        As somebody wrote it.
    known : iterable of str
        Names of classes.
    kind, where : str
        What is looked for and where all are listed, for the ValueError on a name that none has.
    shown : callable
        How its hint writes the name of a class.

    Examples
    --------
    >>> from sparsieve.registry import find_class_name
    >>> find_class_name("ridge forward", ["FisherSelector", "RidgeForwardSelector"])
    'RidgeForwardSelector'
    """
    by_key = {_key(class_name): class_name for class_name in known}
    if _key(name) in by_key:
        return by_key[_key(name)]
    # With and without the ending, which may be misspelled too.
    spelled = {f"{key}selector": class_name for key, class_name in by_key.items()} | by_key
    close = difflib.get_close_matches(_key(name), list(spelled), n=1, cutoff=0.5)
    hint = f"did you mean {shown(spelled[close[0]])}? " if close else ""
    text = repr(name)
    text = text if len(text) <= 80 else f"{text[:77]}..."
    raise ValueError(f"unknown {kind} {text}; {hint}{where}")


def method_name(class_name: str) -> str:
    """``RidgeForwardSelector`` becomes ``ridge-forward``.

    A word begins at a capital after a small letter or digit, and at the last capital of a run
    before a small letter. Runs of capitals stay one word, and a single capital at the end
    belongs to the word before it: MRMR is mrmr, L0MKL is l0-mkl, ReliefF is relieff.

    Examples
    --------
    >>> [method_name(f"{name}Selector") for name in ("RobustL20", "ReliefF", "L0MKL", "FTest")]
    ['robust-l20', 'relieff', 'l0-mkl', 'f-test']
    """
    stem = class_name.removesuffix("Selector")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z].)|(?<=[A-Z])(?=[A-Z][a-z])", "-", stem).lower()


def selector_name(selector: Any) -> str:
    """What a selector is called in sentences and tables: its class, or the guest that it adapts."""
    return getattr(selector, "guest_name", type(selector).__name__)


@cache
def _key(name: str) -> str:
    """What all ways to write the name of a method have in common."""
    key = re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("selector")
    return SHORT_NAMES.get(key, key)
