"""What readers share: which columns are dropped, names that must be unique, and their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from ..._checks import format_names, suggestion
from .errors import DataError


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
