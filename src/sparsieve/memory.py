"""How much memory reading a file may take."""

from __future__ import annotations

import os
import re

__all__ = ["set_memory"]

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SHARE = 4  # of the machine's memory, where nobody has said how much to use
_UNKNOWN_BYTES = 2 << 30
_MIN_BYTES = 1 << 20

# Data of up to this share of the limit are loaded as a whole.
LOAD_SHARE = 4

_limit: int | None = None


class set_memory:
    """Set the memory limit for data that are read from a file block by block.

    Data on disk of up to a quarter of the limit are loaded completely. Larger data are read a few
    blocks of rows at a time, using at most half of the limit; the rest is for what a fit needs
    besides X: some rows of length n_features, and columns of length n_samples for every selected
    feature. Data that are already loaded are not affected.

    Parameters
    ----------
    limit : int, str or None
        Bytes, or a number with a unit such as "2GB" or "500 MB" (powers of 1024). None, the default
        before this is called, means a quarter of the machine's memory.

    See Also
    --------
    sparsieve.on_device : Moves X to a GPU.
    sparsieve.app.io.read_table : Reads a file.

    Examples
    --------
    >>> import sparsieve
    >>> with sparsieve.set_memory("2GB"):  # without "with", for the rest of the program
    ...     pass
    """

    def __init__(self, limit: int | str | None):
        global _limit
        self._before = _limit
        _limit = None if limit is None else parse_memory(limit)

    def __enter__(self) -> set_memory:
        return self

    def __exit__(self, *error: object) -> None:
        global _limit
        _limit = self._before


def parse_memory(limit: int | str, name: str = "limit") -> int:
    """Bytes meant by a number or by text with a unit."""
    amount: float = -1
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", limit, re.IGNORECASE)
        if found:
            amount = float(found[1]) * 1024 ** _UNITS[found[2].upper()]
    elif isinstance(limit, int) and not isinstance(limit, bool):
        amount = limit
    if amount < _MIN_BYTES:
        raise ValueError(
            f'{name} must be an amount of memory of at least 1MB such as "2GB", got {limit!r}'
        )
    return int(amount)


def memory_limit() -> int:
    """The limit in bytes."""
    if _limit is not None:
        return _limit
    whole = machine_memory()
    return _UNKNOWN_BYTES if whole is None else whole // _SHARE


def machine_memory() -> int | None:
    """The memory of this machine in bytes, where that is known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(what: str, n_bytes: float, remedy: str) -> None:
    """Refuse what this machine cannot hold, in a sentence before the work.

    ``what`` is the beginning of the sentence, up to "take", and ``remedy`` what to do instead.
    """
    whole = machine_memory()
    if whole is not None and n_bytes > whole:
        raise MemoryError(
            f"{what} would take {n_bytes / 2**30:.1f} GiB of memory, but this machine has "
            f"{whole / 2**30:.1f} GiB; {remedy}"
        )


def explicit_limit() -> int | None:
    """The limit that somebody has set."""
    return _limit
