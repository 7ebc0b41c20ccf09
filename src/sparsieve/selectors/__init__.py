"""Selectors that fit a model, one file per published method."""

from .rfs import RFSPath, RFSSelector
from .ridge_forward import RidgeForwardSelector
from .robust_l20 import RobustL20Selector, SupportPath
from .rpmfs import RPMFSSelector

__all__ = [
    "RFSPath",
    "RFSSelector",
    "RPMFSSelector",
    "RidgeForwardSelector",
    "RobustL20Selector",
    "SupportPath",
]
