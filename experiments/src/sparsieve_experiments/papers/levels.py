"""The levels of a reproduction: how much they compute, and what they leave out, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from types import SimpleNamespace
from typing import Any

LEVELS = ("quick", "standard", "full")
_PROTOCOLS = {
    "splits": "{n_repeats} random splits",
    "folds": "{n_repeats} × {n_folds} folds",
    "first-folds": "the first {n_first} of {n_repeats} × {n_folds} folds",
}


@cache
def content(package: str, file: str) -> dict[str, Any]:
    """What a TOML file of a package declares."""
    return tomllib.loads(resources.files(package).joinpath(file).read_text(encoding="utf-8"))


@cache
def scales(package: str) -> dict[str, SimpleNamespace]:
    """How much every level computes, as ``levels.toml`` of a package declares it.

    What a level does not mention is that of the full one; what that does not mention is None.

    Examples
    --------
    >>> from sparsieve_experiments.papers.levels import scales
    >>> scales("sparsieve_experiments.papers.l20")["full"].n_repeats
    10
    """
    said = content(package, "levels.toml")
    whole = {**dict.fromkeys(said["words"]), **said["full"]}
    return {level: SimpleNamespace(**plain({**whole, **said[level]})) for level in LEVELS}


def with_repeats(scale: SimpleNamespace, n_repeats: int | None) -> SimpleNamespace:
    """The same amount with at most this many repetitions of the splits; None changes nothing.

    Examples
    --------
    >>> from sparsieve_experiments.papers.levels import scales, with_repeats
    >>> full = scales("sparsieve_experiments.papers.robust_l20")["full"]
    >>> with_repeats(full, 1).curves["protocol"]
    {'kind': 'folds', 'n_folds': 5, 'n_repeats': 1}
    """
    if n_repeats is None:
        return scale
    return SimpleNamespace(**_capped(vars(scale), n_repeats))


def _capped(value: Any, n_repeats: int) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        name: min(part, n_repeats) if name == "n_repeats" else _capped(part, n_repeats)
        for name, part in value.items()
    }


def plain(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return tuple(map(plain, value)) if isinstance(value, list) else value


def left_out(package: str) -> dict[str, str]:
    """What the levels below the full one leave out of the paper's protocol, in a sentence each."""
    words, found = content(package, "levels.toml")["words"], scales(package)
    return {level: coarser(vars(found[level]), vars(found["full"]), words) for level in LEVELS[:2]}


def coarser(scale: Mapping, full: Mapping, words: Mapping[str, Any]) -> str:
    """What a scale has less of than the paper's protocol, in a sentence; "" if it is the same.

    Parameters
    ----------
    scale, full : mapping
        How much is computed, and how much the paper computed.
    words : mapping of str to str, or to a mapping of the same kind
        What the numbers are, in the plural: "random splits".

    Examples
    --------
    >>> from sparsieve_experiments.papers.levels import coarser
    >>> words = {"splits": "random splits", "counts": "numbers of features"}
    >>> coarser({"splits": 3, "counts": (20, 60)}, {"splits": 3, "counts": (20, 40, 60)}, words)
    'Less than the paper: 2 instead of 3 numbers of features (20, 60).'
    """
    parts = list(_less(scale, full, words))
    return f"Less than the paper: {'; '.join(parts)}." if parts else ""


def _less(scale: Mapping, full: Mapping, words: Mapping[str, Any]) -> Iterator[str]:
    for name, what in words.items():
        ours, theirs = scale.get(name), full.get(name)
        if ours is None or ours == theirs:
            continue
        if isinstance(what, Mapping):
            yield from _less(ours, theirs or {}, what)
        elif isinstance(ours, tuple):
            of_all = f" instead of {len(theirs)}" if theirs else ""
            yield f"{len(ours)}{of_all} {what} ({', '.join(map(_told, ours))})"
        elif isinstance(ours, Mapping) and "kind" not in ours:
            listed = ", ".join(f"{key}: {_told(value)}" for key, value in ours.items())
            yield f"{what} ({listed})"
        elif theirs is None and isinstance(ours, Mapping):
            yield f"{_told(ours)} {what}"
        else:
            yield f"{_told(ours)} instead of {_told(theirs)} {what}"


def _told(value: Any) -> str:
    """A value in words; a protocol by its kind, None is all."""
    if value is None:
        return "all"
    if isinstance(value, tuple):
        return " and ".join(map(_told, value)) or "none"
    if isinstance(value, Mapping):
        return _PROTOCOLS[value["kind"]].format(**value)
    return f"{value:g}" if isinstance(value, float) else str(value)
