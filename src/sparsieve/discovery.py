"""Find every selector of the package by walking it, so that no list has to be kept."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names of methods are looked up by commands that need nothing else
    from sklearn.base import BaseEstimator

__all__ = ["all_estimators", "all_selectors"]


def all_selectors() -> dict[str, type[BaseEstimator]]:
    """All public selectors of the package by class name, sorted.

    Returns
    -------
    selectors : dict of str to type
        Estimators that select features, wrappers included.

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
    """All public estimators of the package, selectors and classifiers, by class name.

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
    return dict(_walked())


@functools.cache
def _walked() -> dict[str, type[BaseEstimator]]:
    """The estimators; the package does not change while it runs, so it is walked once."""
    import sparsieve

    found = {}
    for room in ("selectors", "filters", "choose"):
        package = importlib.import_module(f"sparsieve.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.rpartition(".")[2].startswith("_"):
                continue  # compiled kernels: importing them would import numba
            for name, member in vars(importlib.import_module(module.name)).items():
                if _is_public_estimator(name, member) and hasattr(sparsieve, name):
                    found[name] = member
    return dict(sorted(found.items()))


def find_selector(name: str) -> type[BaseEstimator]:
    """The selector meant by ``ridge-forward``, ``ridge_forward`` or ``RidgeForwardSelector``.

    Examples
    --------
    >>> from sparsieve.discovery import find_selector
    >>> find_selector("ridge-forward").__name__
    'RidgeForwardSelector'
    """
    by_key = {method_key(cls.__name__): cls for cls in all_selectors().values()}
    if method_key(name) in by_key:
        return by_key[method_key(name)]
    close = difflib.get_close_matches(method_key(name), list(by_key), n=1, cutoff=0.5)
    hint = f"did you mean {method_name(by_key[close[0]].__name__)!r}? " if close else ""
    raise ValueError(f"unknown method {name!r}; {hint}sparsieve.all_selectors() has them all")


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


def method_key(name: str) -> str:
    """What all ways to write the name of a method have in common."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("selector")


def _is_public_estimator(name: str, member: Any) -> bool:
    from sklearn.base import BaseEstimator

    return (
        inspect.isclass(member)
        and issubclass(member, BaseEstimator)
        and not name.startswith("_")
        and not inspect.isabstract(member)
        and member.__module__.startswith("sparsieve")
    )
