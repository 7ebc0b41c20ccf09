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
    try:
        import rich  # noqa: F401  # before work begins that would end without it

        from .app import run  # which takes long enough to be interrupted

        code = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in ("rich", "typer"):
            raise
        print(
            f"sparsieve: the command needs {missing}; install it with: "
            "pip install 'sparsieve[cli]'",
            file=sys.stderr,
        )
        code = 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)


__all__ = ["main"]
