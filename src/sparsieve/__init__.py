"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector
from .selectors import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)

__all__ = [
    "FisherSelector",
    "L0MPMSelector",
    "L1MPMSelector",
    "MPMClassifier",
    "SMPMSelector",
    "SparseKernelMPMClassifier",
    "__version__",
    "all_selectors",
]
