"""Least squares: a squared loss and a row penalty, a price or a limit on features."""

from .fdr import FDRSelector
from .l20 import L20Selector
from .l21 import L21Selector
from .ridge_forward import RidgeForwardSelector
from .row_penalty import LInfSelector

__all__ = [
    "FDRSelector",
    "L20Selector",
    "L21Selector",
    "LInfSelector",
    "RidgeForwardSelector",
]
