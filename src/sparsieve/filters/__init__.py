"""Filters: features scored one at a time, or greedily, without a model."""

from .chi_square import ChiSquareSelector
from .fisher import FisherSelector
from .inf_fs import InfFSSelector
from .information import InfoGainSelector
from .laplacian import LaplacianScoreSelector
from .mrmr import MRMRSelector
from .permutation import PermutationSelector
from .relieff import ReliefFSelector
from .statistics import FStatisticSelector, TTestSelector

__all__ = [
    "ChiSquareSelector",
    "FStatisticSelector",
    "FisherSelector",
    "InfFSSelector",
    "InfoGainSelector",
    "LaplacianScoreSelector",
    "MRMRSelector",
    "PermutationSelector",
    "ReliefFSelector",
    "TTestSelector",
]
