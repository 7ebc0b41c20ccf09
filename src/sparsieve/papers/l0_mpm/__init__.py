"""l0-MPM: minimax probability machines, sparse in features or in samples.

The problems, the algorithms and their certificates are explained in ``solvers``; the algorithms as
printed are ``solvers.published_l0mpm`` and ``solvers.published_smpm``.
"""

from .l1_mpm import L1MPMSelector
from .mpm import MPMClassifier
from .s_mpm import SMPMSelector
from .selector import L0MPMSelector
from .sparse_kernel_mpm import SparseKernelMPMClassifier

__all__ = [
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
]
