"""Exit codes, and the one place that turns exceptions into a sentence and a code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from enum import IntEnum

import typer

from ..._text import visible

# Typer brings its own copy of click or uses the installed one, depending on its version; these
# are the bases of the class that it exports in either case.
_ParserError = typer.BadParameter.__mro__[2]


# What a message tells who called the library from Python.
_FROM_PYTHON = re.compile(r" \([\w.]+(?:=(?:\[\.\.\.\]|\w*))? from Python\)")
_LIMIT = re.compile(r"\bmax_(categories|missing)=(?=\d)")


class ExitCode(IntEnum):
    """What a script can tell from the exit code."""

    FINE = 0
    BAD_DATA = 1
    BAD_USAGE = 2
    UNEXPECTED = 3
    INTERRUPTED = 130


class UsageError(Exception):
    """The command was called in a way that cannot work, whatever the data."""


def without_python(sentence: str) -> str:
    """A sentence about options without the same for who called the library from Python."""
    sentence = _LIMIT.sub(r"--max-\1 ", sentence)
    return _FROM_PYTHON.sub("", sentence)


def report(error: BaseException, *, debug: bool) -> ExitCode:
    """Say on stderr what went wrong and return the exit code."""
    code, sentence = _explain_error(error)
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    print(visible(sentence), file=sys.stderr)
    return code


def _explain_error(error: BaseException) -> tuple[ExitCode, str]:
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return ExitCode.INTERRUPTED, "interrupted"
    if isinstance(error, UsageError):
        return ExitCode.BAD_USAGE, f"error: {error}"
    if isinstance(error, _ParserError):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "sparsieve"
        message = error.format_message().rstrip(".")  # type: ignore[attr-defined]
        return ExitCode.BAD_USAGE, f"error: {message} (see {command} --help)"
    from ..._imports import MissingExtraError
    from ..io.errors import DataError, shown

    if isinstance(error, (DataError, MissingExtraError)):
        sentence = without_python(" ".join(str(error).split()))
        return ExitCode.BAD_DATA, f"error: {sentence}"
    if isinstance(error, MemoryError):
        return ExitCode.BAD_DATA, "error: the data do not fit into memory"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{shown(os.fsdecode(error.filename))}: "
        return ExitCode.BAD_DATA, f"error: {where}{error.strerror}"
    kind = type(error).__name__
    return (
        ExitCode.UNEXPECTED,
        f"error: unexpected {kind}: {error}; run again with --debug to see where",
    )
