"""Data frames with text, dates and gaps: from columns to numbers, and whole columns selected."""

from .group_forward import GroupForwardSelector
from .preprocessor import FramePreprocessor, make_preprocessor

__all__ = ["FramePreprocessor", "GroupForwardSelector", "make_preprocessor"]
