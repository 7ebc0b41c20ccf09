"""``--memory``: data larger than memory on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .output import say

if TYPE_CHECKING:  # loading these takes a while
    from ..io import Table


def limit_memory(amount: str | None) -> None:
    """Set the limit that an option asks for."""
    if amount is None:
        return
    from ...memory import parse_memory, set_memory

    try:
        set_memory(parse_memory(amount, "--memory"))
    except ValueError as error:
        raise UsageError(str(error)) from None


def is_external(table: Table) -> bool:
    """Whether X stays in its file."""
    return hasattr(table.X, "passes")  # of a design alone


def check_in_memory(table: Table, **options: Any) -> None:
    """Refuse options that go over the samples many times where X stays in its file."""
    if not is_external(table):
        return
    for option, value in options.items():
        if value:
            raise UsageError(
                f"{option} needs the features in memory, but they are larger than the memory "
                "limit; leave it out, raise --memory, or first select some features with -o OUT"
            )


def say_passes(selector: Any, X: Any) -> None:
    """How often X was read, where it was read from a file."""
    passes = getattr(selector, "n_passes_", 0)
    if passes:
        often = "once" if passes == 1 else f"{passes} times"
        say(f"read the features {often}, {X.ledger.bytes_read / 2**30:.3g} GB in total")
