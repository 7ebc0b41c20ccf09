"""What readers share: names of columns, and what can be wrong with a file in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._checks import format_names, suggestion
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


def dropped_names(
    drop: Sequence[str], names: Sequence[str], owner: str, left_out: Collection[str] = ()
) -> set[str]:
    """The columns to drop; a text with commas that is no name of a column means several.

    Refused is what is neither a column nor ``left_out`` anyway.
    """
    known, dropped = {*names, *left_out}, set()
    for text in drop:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        for name in parts:
            if name not in known:
                hint = suggestion(name, names, "its columns are")
                raise DataError(f"{owner} has no column {name!r} to drop{hint}")
        dropped.update(parts)
    return dropped


def check_unique(names: Sequence[str], owner: str) -> None:
    """Refuse names that mean more than one column."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"{owner} has duplicate column names: {format_names(repeated)}; rename or remove "
            "the copies, "
            "because a selected name must mean one column"
        )


def text_columns_error(
    names: Sequence[str], owner: str, example: str = "", *, first: str = ""
) -> DataError:
    """The sentence for feature columns that are not numbers; ``first`` is the first column."""
    several = len(names) > 1
    is_id = f"; if {first!r} names the samples, add --id {first} (sample_id= from Python)"
    return DataError(
        f"{owner} has {'text columns' if several else 'a text column'} besides the target: "
        f"{format_names(names)}{example}; leave {'them' if several else 'it'} out with --drop NAME "
        "(drop=[...] from Python), or turn text into columns of zeros and ones with --encode-text "
        f"(encode_text=True from Python){is_id * (first in names)}"
    )


def decode_name(value: Any) -> str:
    """A name from a file, where it may be bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def number_names(n_features: int) -> tuple[str, ...]:
    """Names for columns that have none: x0, x1, ... as scikit-learn does."""
    return tuple(f"x{j}" for j in range(n_features))
