"""Filters: features scored one at a time, or greedily, without a model."""

from .chi_square import ChiSquareSelector
from .fisher import FisherSelector
from .information import InfoGainSelector
from .mrmr import MRMRSelector
from .permutation import PermutationSelector
from .relieff import ReliefFSelector
from .statistics import FStatisticSelector, TTestSelector

__all__ = [
    "ChiSquareSelector",
    "FStatisticSelector",
    "FisherSelector",
    "InfoGainSelector",
    "MRMRSelector",
    "PermutationSelector",
    "ReliefFSelector",
    "TTestSelector",
]
