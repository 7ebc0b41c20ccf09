"""What is done to X before features are selected from it, learnt on training samples only."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .log_cpm import LogCPM

PREPARATIONS = {"log-cpm": LogCPM}


def preparation(prepare: Any) -> Any:
    """The unfitted transformer that ``prepare`` stands for, which returns arrays; None for none.

    Examples
    --------
    >>> from sparsieve.preprocessing.prepare import preparation
    >>> preparation("log-cpm")
    LogCPM()
    """
    if prepare is None:
        return None
    if isinstance(prepare, str) and prepare in PREPARATIONS:
        prepare = PREPARATIONS[prepare]()
    if isinstance(prepare, str | type) or not hasattr(prepare, "transform"):
        known = ", ".join(map(repr, PREPARATIONS))
        raise ValueError(f"prepare must be {known}, a transformer or None, got {prepare!r}")
    made = clone(prepare)
    return made.set_output(transform="default") if hasattr(made, "set_output") else made
