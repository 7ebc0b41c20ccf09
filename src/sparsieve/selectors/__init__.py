"""Selectors that fit a model, one file per published method."""

from .l20 import L20Selector
from .ridge_forward import RidgeForwardSelector

__all__ = ["L20Selector", "RidgeForwardSelector"]
