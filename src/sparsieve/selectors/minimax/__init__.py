"""Minimax probability machines, sparse in features or in samples."""

from .exact import ExactMinimax
from .level import L0MPMSelector, L1MPMSelector
from .mpm import MPMClassifier
from .s_mpm import SMPMSelector
from .sparse_kernel_mpm import SparseKernelMPMClassifier

__all__ = [
    "ExactMinimax",
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
]
