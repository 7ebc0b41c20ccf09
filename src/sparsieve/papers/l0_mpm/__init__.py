"""l0-MPM: minimax probability machines, sparse in features or in samples.

The problems, the algorithms and their certificates are explained in ``solvers``; the algorithms as
printed are in ``solvers.published``.
"""

from .classifiers import MPMClassifier, SparseKernelMPMClassifier
from .convex import L1MPMSelector, SMPMSelector
from .selector import L0MPMSelector

__all__ = [
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
]
