"""Fitted estimators in files that hold numbers and words only, and so cannot run code."""

from .errors import SavedFileError
from .files import load, save
from .trusted import skops_trusted_types

__all__ = ["SavedFileError", "load", "save", "skops_trusted_types"]
