"""Selectors around selectors: how many features, how stable, and what do several agree on."""

from ..selectors.adapter import SelectorAdapter
from .ensemble import EnsembleSelector
from .selector_cv import SelectorCV
from .shadow import ShadowSelector
from .stability import StabilitySelection

__all__ = [
    "EnsembleSelector",
    "SelectorAdapter",
    "SelectorCV",
    "ShadowSelector",
    "StabilitySelection",
]
