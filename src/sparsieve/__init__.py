"""sparsieve: keep few features out of many."""

from ._version import __version__
from .discovery import all_selectors
from .filters import FisherSelector

__all__ = [
    "FisherSelector",
    "__version__",
    "all_selectors",
]
