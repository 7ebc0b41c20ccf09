"""Columns whose coefficients must not be negative: ``nonnegative`` of a selector."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import selector_name
from ..validation.columns import columns_mask
from ..validation.training_data import TrainingData
from .preparation import Units, of_several_columns


def prescribes_signs(selector: Any) -> bool:
    """Whether any coefficients must not be negative.

    Examples
    --------
    >>> from sparsieve import L21Selector
    >>> from sparsieve.selectors.signs import prescribes_signs
    >>> prescribes_signs(L21Selector()), prescribes_signs(L21Selector(nonnegative=["age"]))
    (False, True)
    """
    asked = getattr(selector, "nonnegative", None)
    return bool(asked) if isinstance(asked, bool | np.bool_) else asked is not None


def check_keeps_signs(selector: Any, estimator: Any) -> None:
    """Refuse the usual model, which knows no signs, on features that were chosen with theirs.

    Examples
    --------
    >>> from sparsieve import L21Selector
    >>> from sparsieve.selectors.signs import check_keeps_signs
    >>> check_keeps_signs(L21Selector(nonnegative=True), L21Selector(nonnegative=True))
    """
    while selector is not None and estimator is None:
        if prescribes_signs(selector):
            raise ValueError(
                f"nonnegative of {selector_name(selector)} is about its own coefficients, and "
                "the usual "
                "model on the selected features may give them other signs; pass a model that keeps "
                "them, such as estimator=Ridge(positive=True) for numbers or "
                "estimator=LikelihoodL21Selector(nonnegative=True) for two classes, counts and "
                "survival times"
            )
        selector = getattr(selector, "selector", None)


def column_signs(
    selector: Any, data: TrainingData, n_outputs: int, units: Units | None = None
) -> np.ndarray:
    """1 for every column whose coefficient must not be negative, 0 for the others.

    Where the ``units`` of a problem say that its output stands for two classes, 1 or -1 as the
    sign for the second one. Refused for several outputs, and for groups of columns.
    """
    name, asked = selector_name(selector), selector.nonnegative
    if n_outputs != 1:
        classes = data.target.classes
        held = f"{data.target.Y.shape[1]} columns" if classes is None else f"{len(classes)} classes"
        raise ValueError(
            f"nonnegative of {name} needs two classes or one column of numbers, but y has {held}, "
            "for each of which a feature has a coefficient; leave nonnegative out"
        )
    if of_several_columns(data.groups) is not None:
        raise ValueError(
            f"{name} cannot prescribe the signs of coefficients in feature_groups; leave "
            "nonnegative or feature_groups out"
        )
    n_features, signs = data.design.shape[1], np.ones(data.design.shape[1])
    if not isinstance(asked, bool | np.bool_):
        if not hasattr(asked, "__iter__"):
            raise ValueError(
                "nonnegative must be True, False or a list of column indices or names, "
                f"got {asked!r}"
            )
        names = getattr(selector, "feature_names_in_", None)
        signs = columns_mask("nonnegative", asked, n_features, names).astype(np.float64)
    if units is not None and units.decode is not None:
        signs *= np.sign(units.decode[0, -1])
    return signs
