"""Is it true? What noise would score, and what is odd about the data."""

from .data import diagnose
from .findings import Diagnosis, Finding
from .null import PermutationNull, permutation_null

__all__ = ["Diagnosis", "Finding", "PermutationNull", "diagnose", "permutation_null"]
