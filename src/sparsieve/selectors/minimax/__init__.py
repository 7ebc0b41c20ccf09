"""Minimax probability machines, sparse in features or in samples."""

from .l0_mpm import L0MPMSelector
from .l1_mpm import L1MPMSelector
from .mpm import MPMClassifier
from .s_mpm import SMPMSelector
from .sparse_kernel_mpm import SparseKernelMPMClassifier

__all__ = [
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
]
