"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector
from .selectors import L20Selector, RidgeForwardSelector

__all__ = [
    "FisherSelector",
    "L20Selector",
    "RidgeForwardSelector",
    "__version__",
    "all_selectors",
]
