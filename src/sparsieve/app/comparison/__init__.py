"""Several methods on one data set, side by side."""

from .compare import compare
from .result import Comparison

__all__ = ["Comparison", "compare"]
