"""Is it true? What noise would score, and what is odd about the data."""

from .data import diagnose
from .findings import Diagnosis
from .null import permutation_null

__all__ = ["Diagnosis", "diagnose", "permutation_null"]
