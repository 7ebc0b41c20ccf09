"""The names of :mod:`sparsieve.app.io`, by a shorter way."""

from .app.io import *  # noqa: F403
from .app.io import __all__ as __all__
