"""Trees: curves and interactions."""

from .selector import BoostedTreesSelector

__all__ = ["BoostedTreesSelector"]
