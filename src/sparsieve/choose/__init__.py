"""Selectors around selectors: how many features, how stable, and what do several agree on."""

from .display import CurveDisplay
from .selector_cv import SelectorCV

__all__ = ["CurveDisplay", "SelectorCV"]
