"""Pictures for notebooks in the manner of scikit-learn's displays; they need Matplotlib."""

from .accuracy_curve import AccuracyCurveDisplay
from .kinds import plot
from .path import PathDisplay
from .ranking import ConvergenceDisplay, RankingDisplay, StabilityPathDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ConvergenceDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityPathDisplay",
    "plot",
]
