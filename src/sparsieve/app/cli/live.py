"""How far a long computation is, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .output import progress, say

_LINE_SECONDS = 10.0  # between lines of progress where there is no terminal


@contextmanager
def live(
    quiet: bool, unit: str = "cells", *, message: str = "", brief: bool = False
) -> Iterator[Callable[[str, Any], None] | None]:
    """A bar with the time left on a terminal, a line now and then anywhere else.

    Gives a function to call with the name of what is under way and a Progress, or None. Until then
    the bar shows the message. If ``brief``, nothing is left of the bar, and there are lines only
    about what takes long.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(message, brief) as advance:
            yield advance
    else:
        yield _lines(unit, brief)


@contextmanager
def following(message: str, parts: str, *, quiet: bool) -> Iterator[None]:
    """Show how far fits inside this context are, by their parts, such as folds; "" for none."""
    if not parts:
        with progress(message, quiet=quiet):
            yield
        return
    from ...meta.progress import listening

    with (
        live(quiet, parts, message=message, brief=True) as tell,
        listening(None if tell is None else lambda _, now: tell(message, now)),
    ):
        yield


@contextmanager
def _bar(message: str, brief: bool) -> Iterator[Callable]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=brief) as bar:
        task = bar.add_task(message, total=None)
        under_way = message

        def advance(name: str, now: Any) -> None:
            nonlocal under_way
            if name != under_way:  # the time left is that of what is under way
                bar.reset(task)
                under_way = name
            failed = f", {now.failed} failed" if now.failed else ""
            bar.update(
                task,
                description=f"{name}{failed}",
                total=now.total,
                completed=now.done + now.failed,
            )

        yield advance


def _lines(unit: str, brief: bool) -> Callable:
    under_way, start, last = "", 0.0, 0.0

    def advance(name: str, now: Any) -> None:
        nonlocal under_way, start, last
        if name != under_way:
            under_way, start = name, time.monotonic()
            last = 0.0 if brief else -_LINE_SECONDS
        elapsed = time.monotonic() - start
        finished = now.done + now.failed
        if elapsed - last < _LINE_SECONDS and (finished < now.total or (brief and not last)):
            return
        last = elapsed
        left = ""
        if now.computed and elapsed >= 1.0 and finished < now.total:
            left = f", about {elapsed / now.computed * (now.total - finished):.0f} s left"
        failed = f", {now.failed} failed" if now.failed else ""
        say(f"{name}: {finished}/{now.total} {unit}{failed}{left}")

    return advance
