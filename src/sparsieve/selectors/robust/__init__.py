"""Norms of rows: robust models, which outliers do not dominate, and unsupervised directions."""

from .rfs import RFSSelector
from .robust_l20 import RobustL20Selector
from .rpmfs import RPMFSSelector
from .udfs import UDFSSelector

__all__ = [
    "RFSSelector",
    "RPMFSSelector",
    "RobustL20Selector",
    "UDFSSelector",
]
