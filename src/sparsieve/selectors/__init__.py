"""Selectors that fit a model, one file per published method."""

from .ridge_forward import RidgeForwardSelector

__all__ = ["RidgeForwardSelector"]
