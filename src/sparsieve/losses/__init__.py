"""Losses as functions of (Y, Z = XW)."""

from .base import Loss
from .l21 import L21Loss
from .squared import SquaredLoss

__all__ = ["L21Loss", "Loss", "SquaredLoss"]
