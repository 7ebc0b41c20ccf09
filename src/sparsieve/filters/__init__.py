"""Filters: features scored one at a time, or greedily, without a model."""

from .fisher import FisherSelector

__all__ = ["FisherSelector"]
