"""Selection in one line, from data to something to look at."""

from .result import SelectedFeatures
from .select import select

__all__ = ["SelectedFeatures", "select"]
