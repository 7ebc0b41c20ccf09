"""Selectors around selectors: how many features, how stable, and what do several agree on."""

from .display import CurveDisplay
from .ensemble import EnsembleSelector
from .selector_cv import SelectorCV
from .stability import StabilityPath, StabilitySelection

__all__ = [
    "CurveDisplay",
    "EnsembleSelector",
    "SelectorCV",
    "StabilityPath",
    "StabilitySelection",
]
