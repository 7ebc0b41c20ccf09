"""What a raw data frame made into numbers means for the methods that will see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._checks import listed
from ..selectors.groups import with_feature_groups
from ..validation.columns import BY_NAME
from .prepare import preparation
from .raw import Readied, made_of


def filled(prepare: Any, gaps: list[str]) -> tuple[Any, str]:
    """The preparation with a step in front that fills gaps, and the sentence that says so."""
    return preparation(["impute", prepare]), filled_with_medians(gaps)


def filled_with_medians(gaps: Sequence[str]) -> str:
    """That missing values of these columns were filled, in words."""
    medians = "the median of each column" if len(gaps) > 1 else "its median"
    return f"filled the missing values of {listed(gaps)} with {medians}"


def for_made_columns(selector: Any, found: Readied) -> Any:
    """The selector with what it says about columns of the frame said about those made of them."""
    if found.encode is None:
        return selector
    one: Any
    for one in (selector, getattr(selector, "selector", None)):
        for parameter in BY_NAME:
            given = getattr(one, parameter, None)
            if hasattr(given, "__iter__"):
                one.set_params(**{parameter: made_of(parameter, given, found)})
        if getattr(one, "feature_groups", None) is not None:
            one.set_params(feature_groups=found.feature_groups)
    if found.feature_groups is not None and getattr(selector, "feature_groups", None) is None:
        inner = getattr(selector, "selector", None)
        if getattr(inner, "feature_groups", None) is None:
            return with_feature_groups(selector, found.feature_groups)
    return selector
