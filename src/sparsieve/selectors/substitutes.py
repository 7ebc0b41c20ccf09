"""Near-duplicates of selected features, or feature groups, among those that were left out.

A substitute is a column whose absolute correlation with another one is at least a threshold: the
correlation of the columns as they are given, centred and weighted by the samples. Tables, reports
and claims name substitutes by this measure, and say the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_real
from ..design import DesignMatrix, as_design, external_design, standardised
from ..validation.external import check_same_features
from ..validation.feature_groups import FeatureGroups
from ..validation.scaling import with_usual_columns
from ..validation.training_data import transform_data
from .group_bases import group_bases
from .units import groups_of

# The absolute correlation from which on a feature is a substitute where nobody said another.
SUBSTITUTE = 0.9
# Selected columns correlated with all others at a time: bounds the memory to this many columns.
BLOCK = 64


def substitutes_in(selector: Any, X: Any, threshold: float) -> dict[Any, list[tuple[Any, float]]]:
    """Of every feature (or group) that a fitted selector keeps, what could replace it in X."""
    check_is_fitted(selector)
    check_real("threshold", threshold, minimum=0, strict=True)
    design = external_design(X)
    if design is None:
        X = transform_data(selector, X, min_samples=2)
        X, _ = with_usual_columns(X, scale_free=True, owner=type(selector).__name__)
        design = as_design(X)
    else:
        check_same_features(selector, design)
    names, groups = getattr(selector, "feature_names_in_", None), groups_of(selector)
    if groups is None:
        found = correlated_features(design.ready(), selector.support_, threshold)
    else:
        model = getattr(selector, "selector_", selector)
        found = groups_explaining(design.ready(), groups, model.group_support_, threshold)
        names = groups.names
    if names is None:
        return found
    return {names[one]: [(names[j], r) for j, r in others] for one, others in found.items()}


def correlated_features(
    design: DesignMatrix, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected column the others with |correlation| of at least ``threshold``.

    Returns the columns left out with their signed correlations, the strongest first.
    """
    return {
        feature: _strongest(np.where(support, 0.0, correlation), threshold)
        for feature, correlation in correlations(design, np.flatnonzero(support))
    }


def correlations(
    design: DesignMatrix, features: np.ndarray, sample_weight: np.ndarray | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Some columns, each with its correlations with all columns; 0 with constant ones."""
    if not len(features):
        return
    view = standardised(design, centre=True, scale=True, sample_weight=sample_weight)
    total = float(design.shape[0] if sample_weight is None else sample_weight.sum())
    for start in range(0, len(features), BLOCK):
        block = features[start : start + BLOCK]
        products = view.design.rmatmul(view.design.dense_columns(block)) / total
        products[view.constant] = 0.0
        yield from zip(block.tolist(), products.T, strict=True)


def groups_explaining(
    design: DesignMatrix, groups: FeatureGroups, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected group the others whose columns explain it, the strongest first.

    Measured by the multiple correlation: the square root of the share of variance of its
    standardised columns that a regression on the other group's columns explains. Columns beyond
    the first explain something of anything, which is taken off (adjusted R squared); between
    single columns this is the absolute correlation.
    """
    view = standardised(design, centre=True, scale=True, dtype=np.float64)
    n_samples = design.shape[0]
    selected = np.flatnonzero(support)
    wanted = [view.design.dense_columns(groups.columns[g]) for g in selected]
    power = [max(float((values**2).sum()), 1e-300) for values in wanted]
    strength = np.zeros((len(selected), groups.n_groups))
    for some, bases, ranks in group_bases(view.design, groups, np.dtype(design.dtype)):
        freedom = n_samples - 1.0 - ranks
        penalty = np.where(freedom > 0, (n_samples - 2.0) / np.maximum(freedom, 1.0), np.inf)
        for i, values in enumerate(wanted):
            products = np.swapaxes(bases, 1, 2) @ values
            left = np.maximum(1.0 - (products**2).sum(axis=(1, 2)) / power[i], 0.0)
            left = np.where(np.isinf(penalty), 1.0, left * penalty)
            strength[i, some] = np.where(ranks > 0, np.sqrt(np.clip(1.0 - left, 0.0, 1.0)), 0.0)
    strength[:, support] = 0.0
    return {int(g): _strongest(strength[i], threshold) for i, g in enumerate(selected)}


def _strongest(values: np.ndarray, threshold: float) -> list[tuple[int, float]]:
    """Places and values of at least this size (more than 0), the largest first."""
    close = np.flatnonzero(np.abs(values) >= threshold)
    close = close[np.argsort(-np.abs(values[close]), kind="stable")]
    return [(int(j), float(values[j])) for j in close]
