"""Fitted estimators in files that cannot run code: those of skops, with our classes trusted."""

from .files import SavedFileError, load, save, skops_trusted_types

__all__ = ["SavedFileError", "load", "save", "skops_trusted_types"]
