"""What a fitted selector chose among: single features, or feature groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..validation.feature_groups import FeatureGroups


def groups_of(selector: Any) -> FeatureGroups | None:
    """The feature groups that a fitted selector kept or left out; None for single features."""
    # Of a search for the number of features: those of the selector inside.
    model = getattr(selector, "selector_", selector)
    return getattr(model, "__dict__", {}).get("_feature_groups")


def of_several_columns(groups: FeatureGroups | None) -> FeatureGroups | None:
    """The groups, or None where every column is a group of its own."""
    return None if groups is None or groups.are_single else groups


def is_grouped(selector: Any) -> bool:
    """Whether a fitted selector has scores of groups of several columns."""
    return of_several_columns(vars(selector).get("_feature_groups")) is not None


def unit_of(selector: Any, count: int = 1) -> str:
    """What is counted, in words.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.units import unit_of
    >>> unit_of(RidgeForwardSelector(), 2)
    'features'
    """
    word = "feature" if groups_of(selector) is None else "feature group"
    return word if count == 1 else f"{word}s"


def unit_names(selector: Any, names: Any) -> Any:
    """Names of what is counted; ``names`` are those of the columns."""
    groups = groups_of(selector)
    return names if groups is None else np.array(groups.names, dtype=object)


def unit_masks(groups: FeatureGroups | None, columns: np.ndarray) -> np.ndarray:
    """Which units are selected, from masks of the selected columns (in the last axis)."""
    if groups is None:
        return columns
    return np.stack([columns[..., some].all(axis=-1) for some in groups.columns], axis=-1)


def n_selected(selector: Any) -> int:
    """How many features, or feature groups, a fitted selector keeps."""
    if groups_of(selector) is None:
        return int(selector.get_support().sum())
    return int(getattr(selector, "selector_", selector).group_support_.sum())


def kept_words(selector: Any) -> str:
    """How much a fitted selector keeps, in words.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.units import kept_words
    >>> X, y = load_wine(return_X_y=True)
    >>> kept_words(RidgeForwardSelector(1, feature_groups={"phenols": [5, 6, 7]}).fit(X, y))
    '1 of 11 feature groups (3 of 13 columns)'
    """
    support, groups = selector.get_support(), groups_of(selector)
    if groups is None:
        return f"{support.sum()} of {len(support):,} features"
    return (
        f"{n_selected(selector)} of {groups.n_groups:,} feature groups ({support.sum()} of "
        f"{len(support):,} columns)"
    )
