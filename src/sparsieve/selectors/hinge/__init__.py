"""Recursive elimination by support vector machines."""

from .svm_rfe import SVMRFESelector

__all__ = [
    "SVMRFESelector",
]
