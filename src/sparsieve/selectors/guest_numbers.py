"""How many features an estimator of another package keeps, and how it is told another number."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.pipeline import Pipeline

from .around import last_step
from .base import DEFAULT_COUNT
from .guests import coefficient_path, support_mask

NUMBER = "n_features_to_select"  # by which selectors of other packages take it


def own_count(last: Any, given: Any, n_features: int) -> int:
    """How many features a model keeps by itself: fitted, and as it was given."""
    asked, support = getattr(last_step(given), NUMBER, None), support_mask(last, n_features)
    if isinstance(last, RFE) and not isinstance(last, RFECV):
        if asked is None:
            return max(1, n_features // 2)
        return int(asked * n_features) if isinstance(asked, float) else int(asked)
    if support is not None:
        return int(support.sum())
    if isinstance(asked, int) and not isinstance(asked, bool):
        return min(asked, n_features)
    if (path := coefficient_path(last, n_features)) is not None:  # its last model predicts
        return max(1, int((path[:, -1] != 0).sum()))
    try:  # scikit-learn's rule for models: larger than the mean, or not zero with an l1 penalty
        return int(SelectFromModel(last, prefit=True).get_support().sum())
    except (AttributeError, TypeError, ValueError):
        return min(DEFAULT_COUNT, n_features)


def chooses_number(guest: Any) -> bool:
    """Whether a guest finds the number of features itself, by fits that others do not need."""
    return isinstance(last_step(guest), RFECV)


def takes_number(guest: Any) -> bool:
    """Whether a guest can be told how many features to keep."""
    last = last_step(guest)
    return isinstance(last, RFE) or (
        hasattr(last, "get_params") and NUMBER in last.get_params(deep=False)
    )


def with_number(guest: Any, k: int) -> Any:
    """An unfitted copy that will keep k features, of a guest that can be told so."""
    last = last_step(guest)
    if isinstance(last, RFECV):  # which chooses the number itself
        known = {key: getattr(last, key) for key in ("step", "importance_getter", "verbose")}
        last = RFE(clone(last.estimator), **known)
    return _replace_last_step(guest, clone(last).set_params(**{NUMBER: k}))


def to_fit(guest: Any, count: int | None, n_features: int) -> Any:
    """An unfitted copy that will say as much as it can about ``count`` features and fewer."""
    last = last_step(guest)
    if hasattr(last, "reaching"):
        return _replace_last_step(guest, clone(last) if count is None else last.reaching(count))
    if isinstance(last, RFE):  # only ranks what it eliminates
        return with_number(guest, 1)
    if count is None or not takes_number(guest):
        return clone(guest, safe=False)
    # All features are not a choice, which some refuse.
    return with_number(guest, min(count, max(n_features - 1, 1)))


def _replace_last_step(guest: Any, last: Any) -> Any:
    if not isinstance(guest, Pipeline):
        return last
    name, end = guest.steps[-1]
    return clone(guest).set_params(**{name: _replace_last_step(end, last)})
