"""Robust models: norms of residuals, which outliers do not dominate."""

from .rfs import RFSSelector

__all__ = [
    "RFSSelector",
]
