"""Penalties on the rows of a coefficient matrix, one file each, and the l0 surrogates."""

from .base import Penalty, require, row_norms
from .l21 import L21
from .surrogates import SURROGATES, Surrogate, surrogate

__all__ = ["L21", "SURROGATES", "Penalty", "Surrogate", "require", "row_norms", "surrogate"]
