"""What can be wrong with a file, said in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..memory import machine_memory


class DataError(ValueError):
    """A file cannot be read as a table of numbers with a target.

    See Also
    --------
    sparsieve.io.read_table : Reads a file.
    sparsieve.io.errors.TargetNeededError : What a file without a named target raises.

    Examples
    --------
    >>> from sparsieve.io import DataError, read_table
    >>> try:
    ...     read_table("nowhere.csv", target="label")
    ... except DataError:
    ...     print("cannot be read")
    cannot be read
    """


class TargetNeededError(DataError):
    r"""The format does not say which column is the target, and nobody did.

    See Also
    --------
    sparsieve.io.read_table : Reads a file.
    sparsieve.io.DataError : What an unreadable file raises.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.io.errors import TargetNeededError
    >>> from sparsieve.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.csv"
    ...     _ = path.write_text("a,b,label\n1,2,x\n3,4,y\n")
    ...     try:
    ...         read_table(path)
    ...     except TargetNeededError:
    ...         print("which column is the target?")
    which column is the target?
    """


def said(error: BaseException) -> str:
    """What an error of a library says, on one line."""
    text = " ".join(str(error).split())
    if not text or isinstance(error, KeyError):
        return f"it is damaged ({type(error).__name__})"
    return text


@contextmanager
def explained(failure: str) -> Iterator[None]:
    """What a reader says of a damaged file, which can be anything, as a sentence on the failure."""
    try:
        yield
    except (PermissionError, MemoryError, DataError):
        raise
    except Exception as error:
        raise DataError(f"{failure}: {said(error)}") from error


def check_fits(n_bytes: int, owner: str) -> None:
    """Refuse what cannot be held: a small file can declare that it holds very much."""
    most = machine_memory()
    if most is not None and n_bytes > most:
        raise DataError(
            f"{owner} would take {n_bytes / 2**30:.1f} GiB of memory, but this machine has "
            f"{most / 2**30:.1f} GiB"
        )


def shown(path: str | os.PathLike[str]) -> str:
    """A path that can be printed, whatever bytes are in its name, and of a bearable length."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"
