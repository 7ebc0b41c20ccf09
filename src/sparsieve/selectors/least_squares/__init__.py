"""Least squares: a squared loss and a row penalty, a price or a limit on features."""

from .certificate import Certificate
from .esfs import ESFSSelector
from .exclusive_l21 import ClassHeatmap, ExclusiveL21Selector
from .exclusive_lasso import ExclusiveLassoSelector
from .l20 import L20Selector
from .l20_exact import ExactSearch
from .l20_greedy import Greedy
from .l20_homotopy import AHIHT, HIHT
from .l21 import L21Selector
from .linf import LInfSelector
from .ridge_forward import RidgeForwardSelector
from .rlsr import RLSRSelector

__all__ = [
    "AHIHT",
    "HIHT",
    "Certificate",
    "ClassHeatmap",
    "ESFSSelector",
    "ExactSearch",
    "ExclusiveL21Selector",
    "ExclusiveLassoSelector",
    "Greedy",
    "L20Selector",
    "L21Selector",
    "LInfSelector",
    "RLSRSelector",
    "RidgeForwardSelector",
]
