"""The experiments of the five papers, one file each."""

from .base import Bench, Experiment, Preset
from .numbers import published
from .planning import Kind, Plan
from .records import Record, RecordError, read_record, save_record
from .reproduce import (
    Reproduction,
    check_device,
    check_halving,
    check_repeats,
    find_preset,
    plan,
    reproduce,
)

__all__ = [
    "Bench",
    "Experiment",
    "Kind",
    "Plan",
    "Preset",
    "Record",
    "RecordError",
    "Reproduction",
    "check_device",
    "check_halving",
    "check_repeats",
    "find_preset",
    "plan",
    "published",
    "read_record",
    "reproduce",
    "save_record",
]
