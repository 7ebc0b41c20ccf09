"""Fitted estimators in files that hold numbers and words only, and so cannot run code."""

from .errors import SavedFileError
from .files import load, save

__all__ = ["SavedFileError", "load", "save"]
