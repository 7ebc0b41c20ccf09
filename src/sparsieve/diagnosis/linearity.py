"""Does the target depend on the features in a way that linear selection cannot see?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..scoring.relation import MAX_FEATURES, MIN_SAMPLES, relation_found
from ..selectors.least_squares import RidgeForwardSelector
from ..selectors.trees import BoostedTreesSelector
from ..validation.target import Target
from .columns import spread
from .samples import copied_samples

_MAX_DENSE = 50_000_000  # numbers of a sparse X that are made dense


def beyond_linear(X: Any, target: Target) -> str:
    """A sentence that names a better selector, or nothing.

    The judge is that of :func:`~sparsieve.select`: a linear path of features and one of boosted
    trees, on the same samples held out.
    """
    n_samples, n_features = X.shape
    if n_samples < MIN_SAMPLES or not 2 <= n_features <= MAX_FEATURES:
        return ""
    if sparse.issparse(X):
        if n_samples * n_features > _MAX_DENSE:
            return ""
        X = X.toarray()
    is_classes = target.codes is not None
    if is_classes and np.bincount(target.codes).min() < 2:
        return ""
    task = "classification" if is_classes else "regression"
    y = target.codes if is_classes else target.Y
    paths = RidgeForwardSelector(task=task), BoostedTreesSelector(task=task)
    found = relation_found(
        np.asarray(X, dtype=np.float64), y, task, *paths, groups=_copies(X, target)
    )
    if found.choice != "trees":
        return ""
    linear, trees = (float(found.curve_of(path).mean()) for path in ("linear", "trees"))
    weak = "no better than a guess" if linear <= 0 else "poorly"
    return (
        f"linear selection predicts {weak} ({_share(linear)} of the target explained on samples "
        f"held out), but boosted trees do better ({_share(trees)}): the relation is not linear, so "
        "use BoostedTreesSelector"
    )


def _share(value: float) -> str:
    return f"{100 * max(value, 0.0):.0f} %"


def _copies(X: Any, target: Target) -> np.ndarray | None:
    """A label for every sample, the same for copies, whatever their targets; None without any."""
    _, _, mean, std = spread(X)
    is_classes = target.codes is not None
    y = target.codes if is_classes else target.Y
    found = copied_samples(X, mean, std, y, classes=is_classes)
    return None if found is None else found.groups
