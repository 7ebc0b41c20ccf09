"""The commands together, with the options that come before them."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from ..._version import __version__
from .compare import compare
from .demo import demo
from .diagnose import diagnose
from .listings import METHODS_EPILOG, datasets, methods
from .options import Debug, ReadableCommand, ReadableGroup
from .output import ExitCode, report
from .predict import predict
from .select import select

EPILOG = (
    "Exit codes: 0 success; 1 bad data (no such file or column, a target with gaps, only one "
    "class); 2 wrong usage (unknown option or method, bad -k or --param); 3 unexpected error; "
    "130 interrupted."
)


app: typer.Typer = typer.Typer(
    name="sparsieve",
    cls=ReadableGroup,
    help="Keep few features out of many.",
    epilog=EPILOG,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_EPILOGS: dict[Any, str] = {select: EPILOG, methods: METHODS_EPILOG}
for _own in (select, predict, compare, diagnose, methods, datasets, demo):
    app.command(epilog=_EPILOGS.get(_own))(_own)
# Commands of other packages: functions, or applications with commands of their own.
_others = sorted(entry_points(group="sparsieve.commands"), key=lambda entry: entry.name)
_broken: dict[str, ImportError] = {}  # left out, so that the others still work
for _entry in _others:
    try:
        _command = _entry.load()
    except ImportError as _error:
        _broken[_entry.name] = _error
        continue
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_entry.name, cls=ReadableGroup)
        for _registered in _command.registered_commands:
            _registered.cls = ReadableCommand
    else:
        app.command(_entry.name)(_command)
for _registered in app.registered_commands:
    _registered.cls = ReadableCommand
# Commands of a distribution of its own in the same repository.
_EXPERIMENTS = {"reproduce", "study"} - {entry.name for entry in _others}


def _show_version(asked: bool) -> None:
    if asked:
        print(f"sparsieve {__version__}")
        raise typer.Exit()


@app.callback()
def before_any_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Debug = False,
) -> None:
    """Keep few features out of many."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments and return the exit code."""
    _stand_in_for_closed_streams()
    _spell_out_strange_letters()
    if arguments and arguments[0] in _EXPERIMENTS:
        print(
            f"sparsieve {arguments[0]} is a command of sparsieve-experiments, which is not "
            "installed; in a checkout: pip install ./experiments",
            file=sys.stderr,
        )
        return int(ExitCode.BAD_USAGE)
    if arguments and arguments[0] in _broken:
        print(
            f"sparsieve {arguments[0]} cannot be imported ({_broken[arguments[0]]}); install the "
            "package that brings it anew",
            file=sys.stderr,
        )
        return int(ExitCode.BAD_USAGE)
    try:
        code = app(list(arguments) or ["--help"], prog_name="sparsieve", standalone_mode=False)
        sys.stdout.flush()
        if code == ExitCode.INTERRUPTED:  # Typer has caught it, without a word
            return int(report(KeyboardInterrupt(), debug=False))
        return int(code or ExitCode.FINE)
    except (BrokenPipeError, SystemExit) as error:
        # Typer leaves by itself, with code 1, when a pipe breaks while a command prints.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The reader (head, a pager) has seen enough; what is left goes nowhere.
        _drop_stdout()
        return int(ExitCode.FINE)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, OSError):
            _drop_stdout()  # it may be what failed, and Python would try again when it leaves
        return int(report(error, debug="--debug" in arguments))


def _drop_stdout() -> None:
    """Let what is still to be printed go nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spell_out_strange_letters() -> None:
    r"""Print \u03b1 where the encoding of a terminal or a pipe (of Windows, say) has no alpha."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Closed(io.TextIOBase):
    """Standard output that somebody closed: printing to it is an error with a name."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed; open it, or write files with -o")


def _stand_in_for_closed_streams() -> None:
    """Python has None for streams that are closed when it starts."""
    if sys.stdout is None:
        sys.stdout = _Closed()  # type: ignore[unreachable]
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # type: ignore[unreachable]  # noqa: SIM115
