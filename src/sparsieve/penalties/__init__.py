"""Penalties on the rows of a coefficient matrix, one file each."""

from .base import Penalty, require, row_norms
from .exclusive import ExclusiveL21
from .l20 import L20
from .l21 import L21

__all__ = ["L20", "L21", "ExclusiveL21", "Penalty", "require", "row_norms"]
