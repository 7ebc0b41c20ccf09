"""How far a long computation is, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .output import say

_LINE_SECONDS = 10.0  # between lines of progress where there is no terminal


@contextmanager
def live(quiet: bool) -> Iterator[Callable[[str, Any], None] | None]:
    """A bar with the time left on a terminal, a line now and then anywhere else.

    Gives a function to call with the name of what is under way and a Progress, or None.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as advance:
            yield advance
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Callable]:
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
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        under_way = ""

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


def _lines() -> Callable:
    under_way, start, last = "", 0.0, 0.0

    def advance(name: str, now: Any) -> None:
        nonlocal under_way, start, last
        if name != under_way:
            under_way, start, last = name, time.monotonic(), -_LINE_SECONDS
        elapsed = time.monotonic() - start
        finished = now.done + now.failed
        if elapsed - last < _LINE_SECONDS and finished < now.total:
            return
        last = elapsed
        left = ""
        if now.computed:
            left = f", about {elapsed / now.computed * (now.total - finished):.0f} s left"
        failed = f", {now.failed} failed" if now.failed else ""
        say(f"{name}: {finished}/{now.total} cells{failed}{left}")

    return advance
