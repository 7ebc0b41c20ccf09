"""The ``sparsieve`` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    import os
    import sys

    # A file opened while a standard stream is closed would get its number and what is printed.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    from .app import run

    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]
