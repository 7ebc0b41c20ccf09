"""Selectors that fit a model, one file per published method."""

from .ridge_forward import RidgeForwardSelector
from .svm_rfe import SVMRFESelector

__all__ = ["RidgeForwardSelector", "SVMRFESelector"]
