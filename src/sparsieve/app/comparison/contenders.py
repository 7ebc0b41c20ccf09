"""Which methods are compared, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse
from sklearn.base import clone

from ...registry import all_methods, method_name, name_of
from ...selectors.around import takes_task
from ...selectors.base import BaseSelector
from ...selectors.groups import takes_groups, with_feature_groups
from ...selectors.methods import as_selector
from ...selectors.near_copies import with_max_correlation
from ...validation.feature_groups import FeatureGroups

# Fast ones of different families, in this order as far as they take the data: greedy and convex
# least squares, one feature at a time, relevance against redundancy, neighbours, large margins;
# the others step in for those that do not.
FAMILIES = (
    "ridge-forward",
    "l21",
    "f-statistic",
    "mrmr",
    "relieff",
    "svmrfe",
    "rfs",
    "info-gain",
    "rlsr",
)
LIKELIHOODS = ("likelihood-forward", "likelihood-l21")  # for survival times and counts


def contenders(
    methods: Any,
    X: Any,
    task: str,
    feature_groups: FeatureGroups | None = None,
    max_correlation: float | str | None = "auto",
) -> dict[str, BaseSelector]:
    """Unfitted selectors by name; refuses in one sentence what cannot be compared."""
    if methods is None:
        names = [*LIKELIHOODS] * (task in ("counts", "survival")) + [*FAMILIES]
        able = [
            method.cls
            for method in (all_methods()[name] for name in names if name in all_methods())
            if takes_task(method.cls(), task)
            and ("sparse" in method.purposes or not sparse.issparse(X))
            and ("groups" in method.purposes or feature_groups is None)
        ]
        methods = able[:6]
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        raise ValueError(
            "methods must be a list of names, selectors, models, functions or (name, method) "
            f"pairs, got {methods!r}; sparsieve.all_selectors() lists the selectors of this package"
        )
    found: dict[str, BaseSelector] = {}
    for method in methods:
        name, selector = _named(method)
        asked = method[1] if isinstance(method, tuple) else method
        selector = with_max_correlation(selector, asked, max_correlation)
        if name in found:
            raise ValueError(
                f"two methods are called {name!r}; tell them apart by (name, method) pairs"
            )
        if feature_groups is not None:
            selector = with_feature_groups(selector, feature_groups.by_place())
        found[name] = selector
    _check_task(found, task)
    return found


def keep_groups(methods: Any) -> bool:
    """Whether all methods that were asked for keep whole groups of columns."""
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        return False
    return all(takes_groups(_named(method)[1]) for method in methods)


def _named(method: Any) -> tuple[str, BaseSelector]:
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        return method[0], _named(method[1])[1]
    selector = as_selector(method)
    if "n_features_to_select" not in selector.get_params(deep=False):
        raise TypeError(
            f"{type(selector).__name__} chooses the number of features itself; compare the "
            "selector inside it"
        )
    name, kind = name_of(selector), type(selector)
    if kind.__module__.startswith("sparsieve.") and name == kind.__name__:
        name = method_name(name)
    return name, clone(selector)


def _check_task(found: dict[str, BaseSelector], task: str) -> None:
    unable = [name for name, selector in found.items() if not takes_task(selector, task)]
    if unable and task == "survival":
        raise ValueError(
            f"{', '.join(unable)} cannot select for survival times; compare methods that can, such "
            f"as {' and '.join(LIKELIHOODS)}"
        )
    if unable:
        verb = "selects" if len(unable) == 1 else "select"
        raise ValueError(
            f"{', '.join(unable)} {verb} for class labels only, but y is read as numbers; leave "
            f'{"it" if len(unable) == 1 else "them"} out, or pass task="classification" if y '
            "holds classes"
        )
