"""Find every selector of the package by walking it, so that no list has to be kept."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

__all__ = ["all_estimators", "all_selectors"]


def all_selectors() -> dict[str, type[BaseEstimator]]:
    """All public selectors of the package by class name, sorted.

    Examples
    --------
    >>> from sparsieve import all_selectors
    >>> "FisherSelector" in all_selectors()
    True
    """
    return {n: cls for n, cls in all_estimators().items() if issubclass(cls, SelectorMixin)}


def all_estimators() -> dict[str, type[BaseEstimator]]:
    """All public estimators of the package, selectors and classifiers, by class name."""
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


def _is_public_estimator(name: str, member) -> bool:
    return (
        inspect.isclass(member)
        and issubclass(member, BaseEstimator)
        and not name.startswith("_")
        and not inspect.isabstract(member)
        and member.__module__.startswith("sparsieve")
    )
