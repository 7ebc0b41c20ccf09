"""Selectors that fit a model: one folder per loss, one file per method."""

from typing import TYPE_CHECKING

from .._imports import FAMILIES, lazy_names

if TYPE_CHECKING:
    from .hinge import *  # noqa: F403
    from .least_squares import *  # noqa: F403
    from .likelihood import *  # noqa: F403
    from .robust import *  # noqa: F403
    from .trees import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), FAMILIES)
