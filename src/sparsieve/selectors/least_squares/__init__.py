"""Least squares: a squared loss and a row penalty, a price or a limit on features."""

from .esfs import ESFSSelector
from .exclusive_l21 import ExclusiveL21Selector
from .exclusive_lasso import ExclusiveLassoSelector
from .fdr import FDRSelector
from .l20 import L20Selector
from .l21 import L21Selector
from .linf import LInfSelector
from .ridge_forward import RidgeForwardSelector
from .rlsr import RLSRSelector

__all__ = [
    "ESFSSelector",
    "ExclusiveL21Selector",
    "ExclusiveLassoSelector",
    "FDRSelector",
    "L20Selector",
    "L21Selector",
    "LInfSelector",
    "RLSRSelector",
    "RidgeForwardSelector",
]
