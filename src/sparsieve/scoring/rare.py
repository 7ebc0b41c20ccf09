"""Which score stands in for accuracy where most samples are in one class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .folds import Fold


def seeing_score(y: Any, folds: Iterable[Fold] | None = None) -> str | None:
    """The score that sees rare classes, where nobody asked for one; None where accuracy does.

    It is the area under the ROC curve of two classes, and the balanced accuracy of more of them, or
    where the smaller one has too few samples for every fold to hold some.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class labels.
    folds : list of (train, test) or None
        Where none of them holds out samples of two classes (leave one out), no score sees more
        than accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.rare import seeing_score
    >>> y = np.arange(1000) < 40
    >>> seeing_score(y), seeing_score(np.arange(1000) < 400)
    ('roc_auc', None)
    """
    counts = np.unique(y, return_counts=True)[1]
    # From this share of the largest class on, the most likely class of nearly every sample is that
    # one whatever the features say, and accuracy is the same for all numbers of features.
    if len(counts) < 2 or counts.max() < 0.85 * counts.sum():
        return None
    y = np.asarray(y)
    if folds is not None and not any((y[test] != y[test][:1]).any() for _, test in folds):
        return None
    # Five samples of the smaller class: one for every one of five folds.
    return "roc_auc" if len(counts) == 2 and counts.min() >= 5 else "balanced_accuracy"


def why_seeing(y: Any, title: str) -> str:
    """Why a score of this title was taken in the place of accuracy."""
    counts = np.unique(y, return_counts=True)[1]
    return (
        f"{100 * counts.max() / counts.sum():.0f} % of the samples are in one class, so accuracy "
        f"hardly depends on the features, and {title} is measured instead"
    )
