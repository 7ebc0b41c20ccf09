"""From what was given to numbers to select from: text, dates, gaps, counts; whole columns kept."""

from .log_cpm import LogCPM
from .preprocessor import FramePreprocessor, make_preprocessor

__all__ = ["FramePreprocessor", "LogCPM", "make_preprocessor"]
