"""What can be wrong with a file, said in one sentence."""

from __future__ import annotations


class DataError(ValueError):
    """A file cannot be read as a table of numbers with a target."""


class TargetNeededError(DataError):
    """The format does not say which column is the target, and nobody did."""
