"""Near-duplicates of selected features, or feature groups, among those that were left out."""

from __future__ import annotations

import numpy as np

from ..design import DesignMatrix, standardised
from ..validation.feature_groups import FeatureGroups
from .group_bases import group_bases

# Selected columns correlated with all others at a time: bounds the memory to this many columns.
BLOCK = 64


def correlated_features(
    design: DesignMatrix, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected column the others with |correlation| of at least ``threshold``.

    Returns the columns left out with their signed correlations, the strongest first.
    """
    view = standardised(design, centre=True, scale=True)
    n_samples = design.shape[0]
    selected = np.flatnonzero(support)
    others = ~support & ~view.constant
    found: dict[int, list[tuple[int, float]]] = {}
    for start in range(0, len(selected), BLOCK):
        block = selected[start : start + BLOCK]
        correlation = view.design.rmatmul(view.design.dense_columns(block)) / n_samples
        for position, feature in enumerate(block):
            column = correlation[:, position]
            close = np.flatnonzero(others & (np.abs(column) >= threshold))
            close = close[np.argsort(-np.abs(column[close]), kind="stable")]
            found[int(feature)] = [(int(j), float(column[j])) for j in close]
    return found


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
    found = {}
    for i, g in enumerate(selected):
        close = np.flatnonzero(strength[i] >= threshold)
        close = close[np.argsort(-strength[i, close], kind="stable")]
        found[int(g)] = [(int(h), float(strength[i, h])) for h in close]
    return found
