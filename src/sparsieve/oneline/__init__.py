"""Selection in one line, from data to something to look at."""

from .select import SelectedFeatures, select

__all__ = ["SelectedFeatures", "select"]
