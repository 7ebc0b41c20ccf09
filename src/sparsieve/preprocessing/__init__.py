"""From what was given to numbers to select from: text, dates, gaps, counts; whole columns kept."""

from typing import TYPE_CHECKING

from .._imports import lazy_names

if TYPE_CHECKING:
    from .preprocessor import *  # noqa: F403
    from .steps import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), ("preprocessor", "steps"))
