"""Selectors that fit a model, one file per published method."""

from .l21 import L21Selector
from .mpm import MPMClassifier
from .mpm_kernel import SparseKernelMPMClassifier
from .mpm_level import L0MPMSelector, L1MPMSelector
from .mpm_ratio import SMPMSelector
from .ridge_forward import RidgeForwardSelector
from .svm_rfe import SVMRFESelector

__all__ = [
    "L0MPMSelector",
    "L1MPMSelector",
    "L21Selector",
    "MPMClassifier",
    "RidgeForwardSelector",
    "SMPMSelector",
    "SVMRFESelector",
    "SparseKernelMPMClassifier",
]
