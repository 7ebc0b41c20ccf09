"""From what was given to numbers to select from: text, dates, gaps, counts; whole columns kept."""

from .preprocessor import FramePreprocessor, make_preprocessor
from .steps import LogCPM

__all__ = ["FramePreprocessor", "LogCPM", "make_preprocessor"]
