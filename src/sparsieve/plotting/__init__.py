"""Pictures for notebooks in the manner of scikit-learn's displays; they need Matplotlib."""

from .accuracy_curve import AccuracyCurveDisplay
from .convergence import ConvergenceDisplay
from .path import PathDisplay
from .ranking import RankingDisplay
from .stability import StabilityPathDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ConvergenceDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityPathDisplay",
]
