"""Hand feature groups to a selector that keeps whole groups; others say that they cannot."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..registry import all_methods, name_of
from .base import BaseSelector
from .parameters import reconfigured


def with_feature_groups(selector: BaseSelector, given: Any) -> BaseSelector:
    """The selector with these ``feature_groups``; None leaves it as it is.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.grouped import with_feature_groups
    >>> with_feature_groups(RidgeForwardSelector(), [0, 0, 1])
    RidgeForwardSelector(feature_groups=[0, 0, 1])
    """
    if given is None:
        return selector
    if not takes_groups(selector):
        able = [name for name, method in all_methods().items() if "groups" in method.purposes]
        raise ValueError(
            f"{name_of(selector)} selects single columns and takes no feature_groups; methods that "
            f"keep whole groups are {', '.join(able)}"
        )
    return reconfigured(clone(selector), {"feature_groups": given})


def takes_groups(selector: Any) -> bool:
    """Whether a selector has the parameter ``feature_groups``."""
    return "feature_groups" in selector.get_params(deep=False)
