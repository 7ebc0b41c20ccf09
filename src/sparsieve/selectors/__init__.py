"""Selectors that fit a model, one file per published method."""

from .l20 import L20Selector
from .l21 import L21Selector
from .ridge_forward import RidgeForwardSelector

__all__ = ["L20Selector", "L21Selector", "RidgeForwardSelector"]
