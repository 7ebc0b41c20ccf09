"""What commands print: results to stdout, everything else to stderr; and how they end."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, TextIO

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


PAGES = (".html", ".htm")


def print_rows(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
    for_reading: bool = False,
) -> None:
    """Print a table to read on a terminal, and tab-separated lines anywhere else.

    With ``for_reading`` the table is drawn anywhere.
    """
    if not (for_reading or sys.stdout.isatty()):
        for row in (header, *rows):
            print("\t".join(" ".join(str(cell).split()) for cell in row))
        return

    shown = [[visible(str(cell)) for cell in row] for row in rows]
    print_table(header, shown, title=title, right=right)


def print_names(names: Iterable[str]) -> None:
    """Print names as they are for other programs, and without hidden characters for readers."""
    text = "\n".join(names)
    print(visible(text) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """Print strict JSON."""
    print(as_json(value))


def as_json(value: Any) -> str:
    """Strict JSON: numbers that JSON has no word for (NaN, infinity) become null."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def check_page(path: Path | None) -> None:
    """Refuse, before any work, a report that could not be written after it."""
    check_outputs({"--report": (path, PAGES)})


def check_outputs(
    outputs: Mapping[str, tuple[Path | None, Sequence[str] | None]], source: Path | None = None
) -> None:
    """Refuse, before any work, what could not be written after it.

    ``outputs`` are paths with the suffixes they may have, by option; None is those of tables.
    ``source`` is the file with the data, which must not be written over.
    """
    from ..io.errors import DataError
    from ..io.write import check_writable

    taken: dict[Path, str] = {}
    for option, (path, suffixes) in outputs.items():
        if path is None:
            continue
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise UsageError(f"{other} and {option} both write {path}")
        if source is not None and path.resolve() == source.resolve():
            raise UsageError(f"{path} would overwrite the data; choose another output")
        try:
            check_writable(path, suffixes)
        except DataError as error:
            raise UsageError(str(error)) from None
        if suffixes is PAGES:
            from ..report.page import check_packages  # which takes a while

            check_packages()


def export_files(
    paths: Sequence[Path] | None,
) -> dict[str, tuple[Path | None, Sequence[str] | None]]:
    """Files of ``--export``, to be checked by :func:`check_outputs`."""
    if not paths:
        return {}
    from ..report.tables import EXPORT_SUFFIXES  # which takes a while

    return {f"--export {place}": (path, EXPORT_SUFFIXES) for place, path in enumerate(paths, 1)}


def command_line() -> str:
    """What the user typed, to be typed again."""
    typed = shlex.join(["sparsieve", *sys.argv[1:]])
    return typed.encode("utf-8", "backslashreplace").decode()  # names may hold any bytes


def say(*messages: str) -> None:
    """Tell the user what is not part of the result, each on a line of its own."""
    for message in messages:
        print(in_lines(message, sys.stderr), file=sys.stderr)


def in_lines(sentence: str, stream: TextIO) -> str:
    """A sentence as it is shown: on a terminal in lines that end between words."""
    text = visible(sentence)
    width = shutil.get_terminal_size().columns
    if not stream.isatty() or len(text) <= width:
        return text
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """What users are warned of inside, as sentences; warnings for developers are left out."""
    from ..._checks import warning_sentences

    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said += warning_sentences([one for one in caught if issubclass(one.category, UserWarning)])


_FRAME = 3  # characters of a column beside its text; one more for the whole table


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
) -> None:
    """Draw a table as wide as the terminal; columns without room follow in tables below it."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    columns = [[header[j], *(row[j] for row in rows)] for j in range(len(header))]
    wide = [max(map(cell_len, column)) for column in columns]
    narrow = [
        # Numbers stay in one piece, text and headings break between words.
        max(
            [
                _longest(column[0]),
                *(cell_len(t) if name in right else _longest(t) for t in column[1:]),
            ]
        )
        for name, column in zip(header, columns, strict=True)
    ]
    for part in divide_columns(narrow, console.width):
        texts = [header[j] not in right for j in part]
        limits = [wide[j] for j in part], [narrow[j] for j in part]
        widths = squeeze(*limits, texts, console.width)
        table = Table(title=title, title_justify="left", header_style="bold")
        for j, width in zip(part, widths, strict=True):
            how = "right" if header[j] in right else "left"
            table.add_column(header[j], justify=how, overflow="fold", width=width)  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(Text(row[j]) for j in part))  # Text: names may look like markup
        console.print(table)
        title = None


def divide_columns(narrow: Sequence[int], room: int) -> list[list[int]]:
    """Columns by the table that they are in; the first is in all of them, as the name of rows.

    Examples
    --------
    >>> from sparsieve.app.cli.output import divide_columns
    >>> divide_columns([10, 10, 10, 10], 80), divide_columns([10, 10, 10, 10], 40)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    parts: list[list[int]] = [[0]]
    for j in range(1, len(narrow)):
        taken = sum(narrow[i] + _FRAME for i in parts[-1])
        if len(parts[-1]) > 1 and taken + narrow[j] + _FRAME + 1 > room:
            parts.append([0])
        parts[-1].append(j)
    return parts


def squeeze(
    wide: Sequence[int], narrow: Sequence[int], texts: Sequence[bool], room: int
) -> list[int]:
    """Widths of columns: what they would like to have, the widest made narrower until they fit.

    Headings over numbers give way first, then texts; words break only if nothing else helps.

    Examples
    --------
    >>> from sparsieve.app.cli.output import squeeze
    >>> squeeze([10, 30], [10, 5], [True, True], 80), squeeze([10, 30], [10, 5], [True, True], 40)
    ([10, 30], [10, 23])
    >>> squeeze([20, 12], [9, 6], [True, False], 36), squeeze([30, 4], [30, 4], [True, False], 24)
    ([20, 9], [13, 4])
    """
    widths = list(wide)
    free = room - _FRAME * len(widths) - 1
    headings = [
        most if is_text else least for most, least, is_text in zip(wide, narrow, texts, strict=True)
    ]
    for least in (headings, list(narrow), [min(4, one) for one in narrow]):
        while sum(widths) > free:
            spare = [width - low for width, low in zip(widths, least, strict=True)]
            if max(spare) <= 0:
                break
            widest = max((j for j, one in enumerate(spare) if one > 0), key=widths.__getitem__)
            widths[widest] -= 1
    return widths


def _longest(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split()), default=0)
