"""Selectors that fit a model: one family per loss, one file per published method."""

from typing import TYPE_CHECKING

from .._lazy import FAMILIES, lazy_names

if TYPE_CHECKING:
    from .hinge import *  # noqa: F403
    from .kernel import *  # noqa: F403
    from .least_squares import *  # noqa: F403
    from .likelihood import *  # noqa: F403
    from .minimax import *  # noqa: F403
    from .robust import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), FAMILIES)
