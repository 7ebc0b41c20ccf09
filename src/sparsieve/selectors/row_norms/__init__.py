"""Robust models: a sum of residual norms, which outliers do not dominate."""

from .rfs import RFSPath, RFSSelector
from .robust_l20 import RobustL20Selector, SupportPath
from .rpmfs import RPMFSSelector

__all__ = [
    "RFSPath",
    "RFSSelector",
    "RPMFSSelector",
    "RobustL20Selector",
    "SupportPath",
]
