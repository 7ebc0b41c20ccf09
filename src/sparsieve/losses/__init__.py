"""Losses as functions of (Y, Z = XW)."""

from .base import Loss
from .squared import SquaredLoss

__all__ = ["Loss", "SquaredLoss"]
