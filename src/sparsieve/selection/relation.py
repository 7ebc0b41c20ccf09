"""Whether ``sparsieve.select`` takes features by a linear path or by trees, where nobody said."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..meta import SelectorCV
from ..preprocessing.inputs import Inputs
from ..preprocessing.kept_columns import as_matrix
from ..registry import find_selector
from ..scoring.engine import fit_preparation
from ..scoring.relation import MAX_FEATURES, MIN_SAMPLES, RelationFound, compare_relations
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.likelihood.forward import LikelihoodForwardSelector
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library

TREES = "boosted-trees"
# Survival times have none: the model on features that trees find would be Cox's, which is linear.
LINEAR: dict[str, Any] = {
    "classification": RidgeForwardSelector,
    "regression": RidgeForwardSelector,
    "counts": LikelihoodForwardSelector,
}


def compare_paths(selector: Any, inputs: Inputs) -> RelationFound | None:
    """Both paths on the same held-out samples; None where there is nothing to compare.

    They are compared for classes, numbers and counts in memory, of at least 100 samples and at most
    2,000 columns, where neither a model nor folds of the user's own say what a good list is. The
    columns of covariates are kept by both.
    """
    X, y, task, places = inputs.X, inputs.y, inputs.task, inputs.covariates.places
    inner = selector.selector if isinstance(selector, SelectorCV) else selector
    if type(inner) is not LINEAR.get(task):
        return None
    if inputs.estimator is not None or inputs.cv is not None:
        return None
    is_frame = frame_library(X) is not None
    if not (is_frame or type(X) is np.ndarray):
        return None
    values = as_matrix(X) if is_frame else X
    target = np.asarray(plain_vector("y", y))
    if values.dtype.kind not in "biuf" or target.ndim != 1 or len(target) != len(values):
        return None
    if len(values) < MIN_SAMPLES or not len(places) < values.shape[1] <= MAX_FEATURES:
        return None
    if inputs.prepare is not None:
        values = np.asarray(as_matrix(fit_preparation(clone(inputs.prepare), X, slice(None))[1]))
    how: dict[str, Any] = {"task": task, "always_keep": list(places) or None}
    return compare_relations(
        np.asarray(values, dtype=np.float64),
        target,
        task,
        LINEAR[task](**how),
        find_selector(TREES)(**how),
        sample_weight=inputs.sample_weight,
        groups=inputs.groups,
        n_kept=len(places),
    )
