"""The names of :mod:`sparsieve.app.plotting`, by a shorter way."""

from .app.plotting import *  # noqa: F403
from .app.plotting import __all__ as __all__
