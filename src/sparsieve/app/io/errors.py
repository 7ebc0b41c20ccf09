"""What can be wrong with a file, said in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..._files import DataError as DataError
from ..._files import shown as shown
from ...memory import machine_memory


class TargetNeededError(DataError):
    r"""The format does not say which column is the target, and nobody did.

    See Also
    --------
    sparsieve.app.io.read_table : Reads a file.
    sparsieve.app.io.DataError : What an unreadable file raises.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.app.io.errors import TargetNeededError
    >>> from sparsieve.app.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.csv"
    ...     _ = path.write_text("a,b,label\n1,2,x\n3,4,y\n")
    ...     try:
    ...         read_table(path)
    ...     except TargetNeededError:
    ...         print("which column is the target?")
    which column is the target?
    """


def error_line(error: BaseException) -> str:
    """What an error of a library says, on one line."""
    text = " ".join(str(error).split())
    if not text or isinstance(error, KeyError):
        return f"it is damaged ({type(error).__name__})"
    return text


@contextmanager
def explain_failure(failure: str) -> Iterator[None]:
    """What a reader says of a damaged file, which can be anything, as a sentence on the failure."""
    try:
        yield
    except (PermissionError, MemoryError, DataError):
        raise
    except Exception as error:
        raise DataError(f"{failure}: {error_line(error)}") from error


def check_fits(n_bytes: int, owner: str) -> None:
    """Refuse what cannot be held: a small file can declare that it holds very much."""
    most = machine_memory()
    if most is not None and n_bytes > most:
        raise DataError(
            f"{owner} would take {n_bytes / 2**30:.1f} GiB of memory, but this machine has "
            f"{most / 2**30:.1f} GiB"
        )
