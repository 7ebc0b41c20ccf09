"""Penalties on the rows of a coefficient matrix, one file each."""

from .base import Penalty, require, row_norms
from .l21 import L21
from .top_k import TopKGap

__all__ = ["L21", "Penalty", "TopKGap", "require", "row_norms"]
