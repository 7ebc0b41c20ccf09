"""Honest comparison of selectors: metrics, protocols, resumable studies, statistics."""

from .baseline import AllFeatures
from .curves import Curve, accuracy_curve
from .metrics import (
    Recovery,
    Redundancy,
    classification_scores,
    recovery_at,
    redundancy_rate,
    sparsity_level,
)
from .protocol import Folds, RepeatedSplits, Split
from .resources import Measured, measure
from .results import ScoreTable, result_rows, score_table, summarise
from .run import RunSummary, run_study
from .sources import DatasetSpec, StudyError
from .stability import Stability, jaccard_stability, kuncheva_stability, nogueira_stability
from .statistics import (
    Friedman,
    Interval,
    PairedTest,
    average_ranks,
    bootstrap_interval,
    friedman_nemenyi,
    holm,
    paired_wilcoxon,
)
from .store import Store, StoreError
from .study import SelectorSpec, Study
from .tuning import Tuned, tune
from .worker import Progress

__all__ = [
    "AllFeatures",
    "Curve",
    "DatasetSpec",
    "Folds",
    "Friedman",
    "Interval",
    "Measured",
    "PairedTest",
    "Progress",
    "Recovery",
    "Redundancy",
    "RepeatedSplits",
    "RunSummary",
    "ScoreTable",
    "SelectorSpec",
    "Split",
    "Stability",
    "Store",
    "StoreError",
    "Study",
    "StudyError",
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
    "result_rows",
    "run_study",
    "score_table",
    "sparsity_level",
    "summarise",
    "tune",
]
