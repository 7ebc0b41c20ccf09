"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector
from .selectors import ExactPenaltySVMSelector, L0SVMSelector, RidgeForwardSelector

__all__ = [
    "ExactPenaltySVMSelector",
    "FisherSelector",
    "L0SVMSelector",
    "RidgeForwardSelector",
    "__version__",
    "all_selectors",
]
