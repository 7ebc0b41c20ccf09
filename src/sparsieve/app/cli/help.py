"""``--help``: every option on a line of its own, what it does below it."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

SELDOM = "Seldom needed"  # the heading that comes last


class _Readable:
    """Help as text that fits the terminal, options under the headings of their panels."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:  # with --help, which is made here
            if getattr(param, "is_flag", False):
                param.metavar = ""  # flags take no value
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; both names are those of Click."""
        command: Any = self
        width = min(shutil.get_terminal_size().columns, 100)  # longer lines are hard to read
        params = command.get_params(ctx)
        usage = ["[OPTIONS]", *(_metavar(one) for one in params if _is_argument(one))]
        usage += ["COMMAND ..."] if hasattr(command, "list_commands") else []
        parts = [f"Usage: {ctx.command_path} {' '.join(usage)}"]
        parts += [_wrap_text(text, width) for text in _paragraphs(command.help)]
        parts += [
            "\n".join([_bold(title), *(_entry(*record, width) for record in records)])
            for title, records in _panels(command, ctx, params)
        ]
        parts += [_wrap_text(text, width) for text in _paragraphs(command.epilog)]
        formatter.write("\n\n".join(parts) + "\n")


class ReadableCommand(_Readable, TyperCommand):
    """A command with this help."""


class ReadableGroup(_Readable, TyperGroup):
    """A group of commands with this help."""


def _is_argument(param: Any) -> bool:
    return param.param_type_name == "argument"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _panels(
    command: Any, ctx: Any, params: Iterable[Any]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Headings with what is below each: a name and a description."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for param in params:
        if getattr(param, "hidden", False):
            continue
        if _is_argument(param):
            panels.setdefault("Arguments", []).append((_metavar(param), param.help or ""))
            continue
        record = param.get_help_record(ctx)
        if record is not None:
            title = getattr(param, "rich_help_panel", None) or "Options"
            panels.setdefault(title, []).append((record[0], _without_range(record[1])))
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        inner = command.get_command(ctx, name)
        if inner is not None and not inner.hidden:
            first = next(iter(_paragraphs(inner.help)), "")
            panels.setdefault("Commands", []).append((name, first))
    seldom = panels.pop(SELDOM, None)
    yield from panels.items()
    if seldom is not None:
        yield SELDOM, seldom


def _without_range(text: str) -> str:
    """Without what Typer adds in formulas, such as [x>=1]; errors say it in words."""
    return re.sub(r" *\[[^\]]*\bx[<>=][^\]]*\]$", lambda found: _default(found[0]), text)


def _default(shown: str) -> str:
    told = re.search(r"default: [^;\]]*", shown)
    return f"  [{told[0]}]" if told else ""


def _entry(name: str, text: str, width: int) -> str:
    """A name, and its description beside it if both fit into a line, else below it."""
    described = " ".join(text.split())
    beside = f"{name:<16}  {described}"
    if len(name) <= 16 and len(beside) + 2 <= width:
        return f"  {_bold(name)}{beside[len(name) :]}"
    return "\n".join([f"  {_bold(name)}", _wrap_text(described, width, "      ")])


def _paragraphs(text: str | None) -> list[str]:
    """Without the line breaks of the source."""
    parts = inspect.cleandoc(text or "").partition("\f")[0].split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def _wrap_text(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _bold(text: str) -> str:
    return typer.style(text, bold=True)
