"""Selectors that fit a model, one file per published method."""

from .rfs import RFSPath, RFSSelector
from .ridge_forward import RidgeForwardSelector

__all__ = ["RFSPath", "RFSSelector", "RidgeForwardSelector"]
