"""Selectors that fit a model, one file per published method."""

from .mpm import MPMClassifier
from .mpm_kernel import SparseKernelMPMClassifier
from .mpm_level import L0MPMSelector, L1MPMSelector
from .mpm_ratio import SMPMSelector

__all__ = [
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
]
