"""Robust models: a sum of residual norms, which outliers do not dominate."""

from .rfs import RFSSelector
from .robust_l20 import RobustL20Selector
from .rpmfs import RPMFSSelector
from .solvers import IRLS, NmAPG, RobustGreedySearch

__all__ = [
    "IRLS",
    "NmAPG",
    "RFSSelector",
    "RPMFSSelector",
    "RobustGreedySearch",
    "RobustL20Selector",
]
