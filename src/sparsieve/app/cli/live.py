"""How far a long computation is, and how long it will take: never five seconds without a word."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from ... import _clock
from .output import say

SILENCE = 4.5  # seconds after which a line says what is under way, where there is no terminal


class Stage:
    """What is under way, how far it is, and when that was said last."""

    def __init__(self, message: str = "", unit: str = "") -> None:
        self.message: str = message
        self.unit: str = unit
        self.begun: float = _clock.clock()
        self.start: float = self.begun
        self.said: float = self.begun
        self.at: Any = None
        self.before: int = 0  # steps done when the clock of the steps was started

    def advance(self, unit: str, now: Any) -> None:
        """So many of these, such as folds, are done."""
        head, of, rest = unit.partition(" of ")
        if self.unit != (units := f"{head}s{of}{rest}"):
            self.unit, self.start, self.before = units, _clock.clock(), now.computed
        self.at = now

    def advance_named(self, name: str, now: Any) -> None:
        """So much of this is done; said at its beginning and at its end."""
        is_new = name != self.message
        if is_new:
            self.message, self.begun = name, _clock.clock()
            self.start, self.before = self.begun, now.computed
        self.at = now
        if is_new or now.done + now.failed == now.total:
            self.say()

    def say(self) -> None:
        """What is under way, how far it is, and how long that will take."""
        self.said = _clock.clock()
        elapsed, ahead, parts = self.said - self.start, "", []
        if (now := self.at) is not None:
            finished = now.done + now.failed
            parts = [f"{finished}/{now.total} {self.unit}"]
            if now.failed:
                parts.append(f"{now.failed} failed")
            computed = now.computed - self.before
            if computed and elapsed >= 1.0 and finished < now.total:
                ahead = f"about {elapsed / computed * (now.total - finished):.0f} s left"
        if not ahead and self.said - self.begun >= SILENCE:
            ahead = f"{self.said - self.begun:.0f} s so far"
        say(f"{self.message}: {', '.join(filter(None, [*parts, ahead]))}")

    def say_if_silent(self) -> None:
        """The same where nothing was said for long."""
        if _clock.clock() - self.said >= SILENCE:
            self.say()


@contextmanager
def progress(message: str, *, quiet: bool = False) -> Iterator[None]:
    """Show what is under way: a spinner with the time on a terminal, lines anywhere else."""
    if quiet:
        yield
    elif sys.stderr.isatty():
        with _bar(message, is_counted=False):
            yield
    else:
        with _lines(Stage(message)):
            yield


@contextmanager
def following(message: str, *, quiet: bool = False) -> Iterator[None]:
    """The same with how far loops inside are, and the time that is left."""
    if quiet:
        yield
        return
    from ...meta.progress import listening  # which takes a while

    if sys.stderr.isatty():
        with _bar(message) as advance, listening(lambda unit, now: advance(message, now, unit)):
            yield
    else:
        stage = Stage(message)
        with _lines(stage), listening(stage.advance):
            yield


@contextmanager
def live(quiet: bool) -> Iterator[Callable[[str, Any], None] | None]:
    """A function to call with the name of what is under way and a Progress, or None.

    It shows a bar with the time left on a terminal, a line now and then anywhere else.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as advance:
            yield advance
    else:
        stage = Stage(unit="cells")
        with _lines(stage):
            yield stage.advance_named


@contextmanager
def _lines(stage: Stage) -> Iterator[None]:
    """Say where the stage is whenever nothing was said for long."""
    done = Event()

    def watch() -> None:
        while not done.wait(SILENCE / 10):
            stage.say_if_silent()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _bar(message: str = "", *, is_counted: bool = True) -> Iterator[Callable]:
    """A bar to be told how far it is, or a spinner; with a message, nothing is left of it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[Any] = [TextColumn("{task.description}", markup=False)]
    if is_counted:
        columns += [BarColumn(), MofNCompleteColumn(), TextColumn("elapsed"), TimeElapsedColumn()]
        columns += [TextColumn("left"), TimeRemainingColumn()]
    else:
        columns = [SpinnerColumn(), *columns, TimeElapsedColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=bool(message)) as bar:
        task = bar.add_task(message, total=None)
        under_way = message, ""

        def advance(name: str, now: Any, unit: str = "") -> None:
            nonlocal under_way
            if (name, unit) != under_way:  # the time left is that of what is under way
                bar.reset(task)
                under_way = name, unit
            failed = f", {now.failed} failed" if now.failed else ""
            bar.update(
                task,
                description=f"{name}{failed}",
                total=now.total,
                completed=now.done + now.failed,
            )

        yield advance
