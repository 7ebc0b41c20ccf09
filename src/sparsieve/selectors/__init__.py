"""Selectors that fit a model, one file per published method."""

from .exact_penalty_svm import ExactPenaltySVMSelector
from .l0_mkl import L0MKLSelector
from .l0_svm import L0SVMSelector
from .mik_fs import MIKFSSelector
from .ridge_forward import RidgeForwardSelector

__all__ = [
    "ExactPenaltySVMSelector",
    "L0MKLSelector",
    "L0SVMSelector",
    "MIKFSSelector",
    "RidgeForwardSelector",
]
