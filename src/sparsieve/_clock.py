"""The one clock that limits and waits are counted on, so that a test can bring its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

# Seconds since some moment, never going back. Replaced by tests: look it up, do not import it.
clock: Callable[[], float] = time.monotonic


def is_interactive() -> bool:
    """Whether messages are read as they come: in a terminal, or in a notebook."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal or "ipykernel" in sys.modules


@dataclass(frozen=True)
class Deadline:
    """A moment on the clock at which work should end."""

    at: float = float("inf")

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(clock() + seconds)

    @property
    def is_over(self) -> bool:
        """Whether the moment is over."""
        return clock() > self.at
