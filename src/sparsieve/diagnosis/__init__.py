"""Is it true? What noise would score, and what is odd about the data."""

from .null import PermutationNull, permutation_null

__all__ = ["PermutationNull", "permutation_null"]
