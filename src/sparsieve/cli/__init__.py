"""The ``sparsieve`` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    import sys

    from .app import run

    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]
