"""Multiple kernel learning with one kernel per feature."""

from .hsic_lasso import HSICLassoSelector
from .l0_mkl import L0MKLSelector
from .mik_fs import MIKFSSelector

__all__ = [
    "HSICLassoSelector",
    "L0MKLSelector",
    "MIKFSSelector",
]
