"""Norms of rows: robust models, which outliers do not dominate, and unsupervised directions."""

from .rfs import RFSSelector
from .robust_l20 import RobustL20Selector
from .rpmfs import RPMFSSelector
from .solvers import IRLS, NmAPG, RobustGreedySearch
from .udfs import UDFSSelector

__all__ = [
    "IRLS",
    "NmAPG",
    "RFSSelector",
    "RPMFSSelector",
    "RobustGreedySearch",
    "RobustL20Selector",
    "UDFSSelector",
]
