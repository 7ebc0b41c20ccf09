"""Whether ``sparsieve.select`` takes features by a linear path or by trees, where nobody said."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..meta import SelectorCV
from ..preprocessing.inputs import Inputs
from ..preprocessing.kept_columns import as_matrix
from ..registry import find_selector
from ..scoring.engine import fitted_on
from ..scoring.relation import MAX_FEATURES, MIN_SAMPLES, RelationFound, relation_found
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library

TREES = "boosted-trees"


def relation_of(selector: Any, inputs: Inputs) -> RelationFound | None:
    """Both paths on the same held-out samples; None where there is nothing to compare.

    They are compared for classes and numbers in memory, of at least 100 samples and at most 2,000
    columns, where neither a model nor folds of the user's own say what a good list is.
    """
    inner = selector.selector if isinstance(selector, SelectorCV) else selector
    if type(inner) is not RidgeForwardSelector:
        return None
    if inputs.estimator is not None or inputs.cv is not None:
        return None
    X, y, task, prepare = inputs.X, inputs.y, inputs.task, inputs.prepare
    is_frame = frame_library(X) is not None
    if not (is_frame or type(X) is np.ndarray) or task not in ("classification", "regression"):
        return None
    values = as_matrix(X) if is_frame else X
    target = np.asarray(plain_vector("y", y))
    if values.dtype.kind not in "biuf" or target.ndim != 1 or len(target) != len(values):
        return None
    if len(values) < MIN_SAMPLES or values.shape[1] > MAX_FEATURES:
        return None
    if prepare is not None:
        values = np.asarray(as_matrix(fitted_on(clone(prepare), X, slice(None))[1]))
    trees = find_selector(TREES)(task=task)
    return relation_found(
        np.asarray(values, dtype=np.float64),
        target,
        task,
        RidgeForwardSelector(task=task),
        trees,
        sample_weight=inputs.sample_weight,
        groups=inputs.groups,
    )
