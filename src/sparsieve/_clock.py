"""The one clock that time limits are counted on, so that a test can bring its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# Seconds since some moment, never going back. Replaced by tests: look it up, do not import it.
clock: Callable[[], float] = time.monotonic


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
