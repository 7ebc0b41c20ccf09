"""From what was given to numbers to select from: text, dates, gaps, counts; whole columns kept."""

from .group_forward import GroupForwardSelector
from .log_cpm import LogCPM
from .preprocessor import FramePreprocessor, make_preprocessor

__all__ = ["FramePreprocessor", "GroupForwardSelector", "LogCPM", "make_preprocessor"]
