"""Files that are written whole or not at all, and what can be wrong with one."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["set_memory"]


class DataError(ValueError):
    """A file cannot be read as a table of numbers with a target.

    See Also
    --------
    sparsieve.app.io.read_table : Reads a file.
    sparsieve.app.io.errors.TargetNeededError : What a file without a named target raises.

    Examples
    --------
    >>> from sparsieve.app.io import DataError, read_table
    >>> try:
    ...     read_table("nowhere.csv", target="label")
    ... except DataError:
    ...     print("cannot be read")
    cannot be read
    """


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of ``path`` when all went well.

    Links are followed and a replaced file keeps its mode, as ``cp`` would do; pipes and devices
    are written to once all is there. The file itself has a name that nobody can foresee and is
    opened only if it is new, so that no link planted in the folder is ever followed.
    """
    scratch: Path | None = None
    try:
        target = Path(os.path.realpath(path))
        old = target.stat() if target.exists() else None
        is_stream = old is not None and not stat.S_ISREG(old.st_mode)
        folder = Path(tempfile.gettempdir()) if is_stream else target.parent
        scratch = folder / f".{secrets.token_hex(16)}.part"
        # Private until it is known who may read it; a new file is left to the user's mask.
        mode = 0o666 if old is None else 0o600
        os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield scratch
        if is_stream:
            with open(scratch, "rb") as whole, open(target, "wb") as stream:
                shutil.copyfileobj(whole, stream)
            return
        if old is not None:
            os.chmod(scratch, stat.S_IMODE(old.st_mode))
        os.replace(scratch, target)
    except PermissionError:
        raise DataError(
            f"cannot write {shown(path)}: the folder {shown(path.parent)} may not be written to, "
            "or another program has the file open"
        ) from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {shown(path)}: {reason}") from None
    finally:
        if scratch is not None:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)


def shown(path: str | os.PathLike[str]) -> str:
    """A path that can be printed, whatever bytes are in its name, and of a bearable length."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"


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
