"""Selectors that fit a model, one file per published method."""

from .l20 import L20Selector
from .l21 import L21Selector
from .ridge_forward import RidgeForwardSelector
from .svm_rfe import SVMRFESelector

__all__ = [
    "L20Selector",
    "L21Selector",
    "RidgeForwardSelector",
    "SVMRFESelector",
]
