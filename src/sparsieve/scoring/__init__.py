"""Honest comparison of selectors: metrics, protocols, curves, tuning, statistics."""

from .curves import accuracy_curve
from .feature_sets import recovery_at, redundancy_rate, sparsity_level
from .metrics import classification_scores, regression_scores
from .outcomes import measure
from .protocol import Folds, RepeatedSplits, TimeOrdered
from .stability import jaccard_stability, kuncheva_stability, nogueira_stability, split_difference
from .statistics import (
    average_ranks,
    bootstrap_interval,
    friedman_nemenyi,
    holm,
    paired_wilcoxon,
)
from .survival import concordance_index, martingale_residuals
from .tuning import tune

__all__ = [
    "Folds",
    "RepeatedSplits",
    "TimeOrdered",
    "accuracy_curve",
    "average_ranks",
    "bootstrap_interval",
    "classification_scores",
    "concordance_index",
    "friedman_nemenyi",
    "holm",
    "jaccard_stability",
    "kuncheva_stability",
    "martingale_residuals",
    "measure",
    "nogueira_stability",
    "paired_wilcoxon",
    "recovery_at",
    "redundancy_rate",
    "regression_scores",
    "sparsity_level",
    "split_difference",
    "tune",
]
