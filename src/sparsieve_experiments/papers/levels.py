"""What a level of a reproduction computes less of than the paper, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def coarser(scale: Any, full: Any, counted: Mapping[str, str], *names: str) -> str:
    """What a scale has less of than the paper's protocol, in a sentence; "" if it is the same.

    Parameters
    ----------
    scale, full : dataclass
        How much is computed, and how much the paper computed.
    counted : mapping of str to str
        What the fields hold, in the plural: "random splits".
    *names : str
        Only these fields.

    Examples
    --------
    >>> from collections import namedtuple
    >>> from sparsieve_experiments.papers.levels import coarser
    >>> Scale = namedtuple("Scale", "splits, counts")
    >>> words = {"splits": "random splits", "counts": "numbers of features"}
    >>> coarser(Scale(3, (20, 60)), Scale(10, (20, 40, 60)), words, "counts")
    'Less than the paper: 2 instead of 3 numbers of features (20, 60).'
    """
    parts = []
    for name, what in counted.items():
        ours, theirs = getattr(scale, name), getattr(full, name)
        if ours == theirs or (names and name not in names):
            continue
        if isinstance(ours, tuple):
            listed = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in ours)
            of_all = f" instead of {len(theirs)}" if theirs else ""
            parts.append(f"{len(ours)}{of_all} {what} ({listed})")
        elif isinstance(ours, Mapping):
            listed = ", ".join(f"{key}: {value}" for key, value in ours.items())
            parts.append(f"{what} ({listed})")
        else:
            parts.append(f"{ours} instead of {'all' if theirs is None else theirs} {what}")
    return f"Less than the paper: {'; '.join(parts)}." if parts else ""
