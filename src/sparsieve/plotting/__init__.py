"""Pictures for notebooks in the manner of scikit-learn's displays; they need Matplotlib."""

from .accuracy_curve import AccuracyCurveDisplay
from .convergence import ConvergenceDisplay
from .path import PathDisplay
from .ranking import RankingDisplay
from .selection_displays import (
    ClassProfileDisplay,
    CorrelationDisplay,
    FeatureValuesDisplay,
    NullDistributionDisplay,
    PredictionDisplay,
    ProjectionDisplay,
    SampleHeatmapDisplay,
    SelectionFrequencyDisplay,
    SubstitutesDisplay,
    WeightsDisplay,
)
from .stability import StabilityPathDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ClassProfileDisplay",
    "ConvergenceDisplay",
    "CorrelationDisplay",
    "FeatureValuesDisplay",
    "NullDistributionDisplay",
    "PathDisplay",
    "PredictionDisplay",
    "ProjectionDisplay",
    "RankingDisplay",
    "SampleHeatmapDisplay",
    "SelectionFrequencyDisplay",
    "StabilityPathDisplay",
    "SubstitutesDisplay",
    "WeightsDisplay",
]
