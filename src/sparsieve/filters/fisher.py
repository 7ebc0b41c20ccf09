"""The Fisher score: between-class over within-class variance, one feature at a time."""

from __future__ import annotations

import numpy as np

from ..selectors.base import BaseSelector, FeatureScores, TrainingData
from .base import DEFAULT_COUNT


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
    array([ 6, 11, 12])
    """

    _accepts_regression = False

    def __init__(self, n_features_to_select=None, *, class_weight=None):
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight

    def _fit(self, data: TrainingData) -> FeatureScores:
        codes, weights, design = data.target.codes, data.sample_weight, data.design
        means, variances = design.column_moments(weights)
        total = data.total_weight * variances
        within = np.zeros_like(total)
        for k in range(len(data.target.classes)):
            rows = np.flatnonzero(codes == k)
            class_weights = None if weights is None else weights[rows]
            size = len(rows) if class_weights is None else class_weights.sum()
            within += size * design.rows(rows).column_moments(class_weights)[1]
        # Rounding leaves crumbs where the spread is exactly zero.
        crumbs = 1e-14 * (total + data.total_weight * means**2 * 1e-14)
        constant = total <= crumbs
        between = np.maximum(total - within, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(constant, 0.0, between / within)
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant)
