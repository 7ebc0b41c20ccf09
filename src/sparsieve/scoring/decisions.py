"""What a classifier says of every class, beyond the label: the same kind of numbers from any."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata


def class_votes(model: Any, X_train: Any, y_train: np.ndarray, X_test: Any) -> np.ndarray:
    """Numbers for every class of the training part, whose mean there are the shares of the classes.

    They are probabilities where the model has them, otherwise its decision values less their mean
    over the training part, otherwise its labels as 0 and 1. Labels say nothing of a rare class that
    is never the most likely one; the other two do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sparsieve.scoring.decisions import class_votes
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 0, 1])
    >>> class_votes(RidgeClassifier(alpha=100.0).fit(X, y), X, y, X).round(3)
    array([[0.771, 0.229],
           [0.757, 0.243],
           [0.743, 0.257],
           [0.729, 0.271]])
    """
    classes, counts = np.unique(y_train, return_counts=True)
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(X_test))
        if found.shape == (X_test.shape[0], len(classes)):
            return found
    if hasattr(model, "decision_function"):
        values, known = model.decision_function(X_test), model.decision_function(X_train)
        if values.ndim == 1 and len(classes) == 2:
            values, known = (np.column_stack([-part, part]) / 2 for part in (values, known))
        if values.ndim == 2 and values.shape[1] == len(classes):
            return values - known.mean(axis=0) + counts / counts.sum()
    return (np.asarray(model.predict(X_test))[:, None] == classes).astype(np.float64)


def area(is_positive: np.ndarray, values: np.ndarray) -> float:
    """Area under the ROC curve: how often a positive sample has the larger value, ties half.

    NaN where all samples are of one kind. Values that differ by rounding alone are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.decisions import area
    >>> area(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    n_positive, n_samples = int(is_positive.sum()), len(is_positive)
    if n_positive in (0, n_samples):
        return float("nan")
    size = float(np.abs(values).max())
    # beyond these they differ by rounding
    ranks = rankdata(np.round(values / size, 12) if size > 0 else values)
    above = float(ranks[is_positive].sum()) - n_positive * (n_positive + 1) / 2
    return above / (n_positive * (n_samples - n_positive))
