"""Filters: features scored one at a time, or greedily, without a model."""

from .fisher import FisherSelector
from .relieff import ReliefFSelector

__all__ = ["FisherSelector", "ReliefFSelector"]
