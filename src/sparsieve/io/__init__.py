"""Read data files into arrays with feature names, and write selections back."""

from .errors import DataError, TargetNeededError
from .read import READABLE_SUFFIXES, read_table
from .table import Table
from .write import WRITABLE_SUFFIXES, write_table

__all__ = [
    "READABLE_SUFFIXES",
    "WRITABLE_SUFFIXES",
    "DataError",
    "Table",
    "TargetNeededError",
    "read_table",
    "write_table",
]
