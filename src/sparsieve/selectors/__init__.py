"""Selectors that fit a model, one file per published method."""

from .esfs import ESFSSelector
from .exclusive import ClassHeatmap, ExclusiveL21Selector
from .exclusive_lasso import ExclusiveLassoSelector
from .l20 import L20Selector
from .l21 import L21Selector
from .ridge_forward import RidgeForwardSelector
from .rlsr import RLSRSelector
from .svm_rfe import SVMRFESelector

__all__ = [
    "ClassHeatmap",
    "ESFSSelector",
    "ExclusiveL21Selector",
    "ExclusiveLassoSelector",
    "L20Selector",
    "L21Selector",
    "RLSRSelector",
    "RidgeForwardSelector",
    "SVMRFESelector",
]
