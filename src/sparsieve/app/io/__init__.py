"""Read data files into arrays with feature names, and write selections back."""

from ...preprocessing.table import Table
from .errors import DataError
from .read import read_table
from .write import write_table

__all__ = [
    "DataError",
    "Table",
    "read_table",
    "write_table",
]
