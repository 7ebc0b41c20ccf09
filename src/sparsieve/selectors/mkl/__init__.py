"""Multiple kernel learning with one kernel per feature."""

from .l0_mkl import L0MKLSelector
from .mik_fs import MIKFSSelector

__all__ = [
    "L0MKLSelector",
    "MIKFSSelector",
]
