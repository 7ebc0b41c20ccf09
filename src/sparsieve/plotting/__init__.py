"""Pictures for notebooks in the manner of scikit-learn's displays; they need Matplotlib."""

from .accuracy_curve import AccuracyCurveDisplay
from .convergence import ConvergenceDisplay
from .path import PathDisplay
from .ranking import RankingDisplay
from .sample_displays import (
    ClassProfileDisplay,
    FeatureValuesDisplay,
    ProjectionDisplay,
    SampleHeatmapDisplay,
)
from .selection_displays import (
    CorrelationDisplay,
    NullDistributionDisplay,
    PredictionDisplay,
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
