"""Going: the l2,1 loss belongs to its wing."""

from .l21 import L21Loss

__all__ = ["L21Loss"]
