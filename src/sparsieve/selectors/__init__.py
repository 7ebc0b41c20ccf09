"""Selectors that fit a model: one wing per kind of problem, one file per published method."""

from . import hinge, least_squares, minimax, mkl, row_norms
from .hinge import *  # noqa: F403
from .least_squares import *  # noqa: F403
from .minimax import *  # noqa: F403
from .mkl import *  # noqa: F403
from .row_norms import *  # noqa: F403

__all__ = [
    *hinge.__all__,
    *least_squares.__all__,
    *minimax.__all__,
    *mkl.__all__,
    *row_norms.__all__,
]
