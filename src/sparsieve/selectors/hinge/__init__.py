"""Support vector machines that keep few features."""

from .exact_penalty_svm import ExactPenaltySVMSelector
from .l0_svm import L0SVMSelector
from .svm_rfe import SVMRFESelector

__all__ = [
    "ExactPenaltySVMSelector",
    "L0SVMSelector",
    "SVMRFESelector",
]
