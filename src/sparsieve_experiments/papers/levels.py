"""The levels of a reproduction: how much they compute, and what they leave out, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any, TypeVar

Scale = TypeVar("Scale")
LEVELS = ("quick", "standard", "full")


@cache
def content(package: str, file: str) -> dict[str, Any]:
    """What a TOML file of a package declares."""
    return tomllib.loads(resources.files(package).joinpath(file).read_text(encoding="utf-8"))


def scales(package: str, kind: type[Scale]) -> dict[str, Scale]:
    """How much every level computes, as ``levels.toml`` of a package declares it.

    Examples
    --------
    >>> from sparsieve_experiments.papers.l20.plan import Scale
    >>> from sparsieve_experiments.papers.levels import scales
    >>> scales("sparsieve_experiments.papers.l20", Scale)["full"].n_repeats
    10
    """
    said = content(package, "levels.toml")
    full: Any = kind(**plain(said["full"]))
    return {level: replace(full, **plain(said[level])) for level in LEVELS}


def left_out(package: str, declared: Mapping[str, Any]) -> dict[str, str]:
    """What the levels below the full one leave out of the paper's protocol, in a sentence each."""
    words = content(package, "levels.toml")["words"]
    return {level: coarser(declared[level], declared["full"], words) for level in LEVELS[:2]}


def plain(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return tuple(map(plain, value)) if isinstance(value, list) else value


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
