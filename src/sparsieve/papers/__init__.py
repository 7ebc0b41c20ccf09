"""The experiments of the five papers, one file each."""

from .base import Bench, Experiment, Preset
from .published import published
from .reproduce import Reproduction, find_preset, reproduce

__all__ = [
    "Bench",
    "Experiment",
    "Preset",
    "Reproduction",
    "find_preset",
    "published",
    "reproduce",
]
