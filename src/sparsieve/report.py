"""The names of :mod:`sparsieve.app.report`, by a shorter way."""

from .app.report import *  # noqa: F403
from .app.report import __all__ as __all__
