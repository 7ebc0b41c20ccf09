"""Selectors that fit a model, one file per published method."""

from .l21 import L21Selector
from .ridge_forward import RidgeForwardSelector

__all__ = ["L21Selector", "RidgeForwardSelector"]
