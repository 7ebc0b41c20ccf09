"""The names of :mod:`sparsieve.app.comparison`, by a shorter way."""

from .app.comparison import *  # noqa: F403
from .app.comparison import __all__ as __all__
