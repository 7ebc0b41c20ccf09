"""Penalties on the rows of a coefficient matrix, one file each."""

from .base import Penalty, require, row_norms
from .l21 import L21

__all__ = ["L21", "Penalty", "require", "row_norms"]
