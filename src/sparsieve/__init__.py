"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector
from .selectors import RFSSelector, RidgeForwardSelector, RobustL20Selector, RPMFSSelector

__all__ = [
    "FisherSelector",
    "RFSSelector",
    "RPMFSSelector",
    "RidgeForwardSelector",
    "RobustL20Selector",
    "__version__",
    "all_selectors",
]
