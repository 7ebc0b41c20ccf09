"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector
from .selectors import (
    ExactPenaltySVMSelector,
    L0MKLSelector,
    L0SVMSelector,
    MIKFSSelector,
    RidgeForwardSelector,
)

__all__ = [
    "ExactPenaltySVMSelector",
    "FisherSelector",
    "L0MKLSelector",
    "L0SVMSelector",
    "MIKFSSelector",
    "RidgeForwardSelector",
    "__version__",
    "all_selectors",
]
