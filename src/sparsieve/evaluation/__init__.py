"""Honest comparison of selectors: metrics, protocols, curves, tuning, statistics."""

from .curves import Curve, accuracy_curve
from .held_out import HeldOutCheck
from .metrics import (
    Recovery,
    Redundancy,
    classification_scores,
    recovery_at,
    redundancy_rate,
    regression_scores,
    sparsity_level,
)
from .protocol import Folds, RepeatedSplits, Split, TimeOrdered
from .resources import Measured, measure
from .stability import Stability, jaccard_stability, kuncheva_stability, nogueira_stability
from .statistics import (
    Friedman,
    Interval,
    PairedTest,
    SplitDifference,
    average_ranks,
    bootstrap_interval,
    friedman_nemenyi,
    holm,
    paired_wilcoxon,
    split_difference,
)
from .tuning import Tuned, tune

__all__ = [
    "Curve",
    "Folds",
    "Friedman",
    "HeldOutCheck",
    "Interval",
    "Measured",
    "PairedTest",
    "Recovery",
    "Redundancy",
    "RepeatedSplits",
    "Split",
    "SplitDifference",
    "Stability",
    "TimeOrdered",
    "Tuned",
    "accuracy_curve",
    "average_ranks",
    "bootstrap_interval",
    "classification_scores",
    "friedman_nemenyi",
    "holm",
    "jaccard_stability",
    "kuncheva_stability",
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
