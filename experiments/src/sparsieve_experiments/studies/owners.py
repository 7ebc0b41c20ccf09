"""Who is at work on a store: processes that hold a lock on a file beside it.

The system drops a lock when its process ends, however it ends, so a killed process's claims are
free at once and no clock is involved.
"""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from pathlib import Path
from typing import IO


def owners_of(store: Path) -> Path:
    """The folder of the lock files of a store."""
    return store.with_name(f"{store.name}-owners")


def is_alive(folder: Path, name: str) -> bool:
    """Whether the process behind a claim still runs; looks, and changes nothing.

    ``name`` must be an owner's: it becomes a path.
    """
    try:
        # Neither a link to somewhere else nor a pipe that nobody writes to.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(folder / name, (os.O_RDWR if os.name == "nt" else os.O_RDONLY) | flags)
    except OSError:
        return False
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return False
    with os.fdopen(handle, "rb") as file:
        try:
            _lock(file, shared=True)
        except OSError:  # locked by its owner
            return True
    return False


class Owner:
    """The lock file of this process, held locked as long as the process lives."""

    def __init__(self, store: Path):
        self._folder = owners_of(store)
        self.name = uuid.uuid4().hex
        self._file: IO | None = None

    def hold(self) -> None:
        """Lock the file; to be called before the first claim."""
        while self._file is None:
            self._folder.mkdir(exist_ok=True)
            # Another owner that retires may remove the folder in between.
            with contextlib.suppress(FileNotFoundError):
                self._file = (self._folder / self.name).open("x")
                _lock(self._file)

    def is_alive(self, name: str) -> bool:
        """Whether this or another process that claimed something still runs."""
        return name == self.name or is_alive(self._folder, name)

    def forget(self, name: str) -> None:
        """Remove the file of a dead owner whose claims have been taken over."""
        with contextlib.suppress(OSError):
            (self._folder / name).unlink()

    def retire(self) -> None:
        """Unlock and remove the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
            with contextlib.suppress(OSError):  # others may still be at work
                (self._folder / self.name).unlink()
                self._folder.rmdir()


def _lock(file: IO, *, shared: bool = False) -> None:
    """Lock a file until it is closed or the process ends; OSError if somebody else has.

    Shared locks get along with each other, so two processes may look at a third one at a time.
    """
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
