"""The Fisher score: between-class over within-class variance, one feature at a time."""

from __future__ import annotations

import numpy as np

from ..selectors.base import BaseSelector, FeatureScores, TrainingData
from .base import DEFAULT_COUNT, class_moments, ratio


class FisherSelector(BaseSelector):
    """Keep the features whose class means lie far apart compared with their spread.

    The score of feature j is sum_k n_k (mu_kj - mu_j)^2 / sum_k n_k var_kj; the F statistic of
    a one-way analysis of variance is this score times (n - c) / (c - 1), so the ranking is the
    same. A feature that separates the classes perfectly (no spread within any class) scores
    infinity.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps the ten best.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fisher scores.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> FisherSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6,  9, 12])
    """

    _accepts_regression = False

    def __init__(self, n_features_to_select=None, *, class_weight=None):
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight

    def _fit(self, data: TrainingData) -> FeatureScores:
        moments = class_moments(data)
        scores = np.where(moments.constant, 0.0, ratio(moments.between, moments.within))
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=moments.constant)
