"""Selectors that fit a model: one wing per kind of problem, one file per published method."""

from typing import TYPE_CHECKING

from .._rooms import WINGS, found_in

if TYPE_CHECKING:
    from .hinge import *  # noqa: F403
    from .least_squares import *  # noqa: F403
    from .minimax import *  # noqa: F403
    from .mkl import *  # noqa: F403
    from .row_norms import *  # noqa: F403

__getattr__, __dir__ = found_in(globals(), WINGS)
