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
    >>> from sparsieve.frames.prepare import preparation
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


def fitted_on(prepare: Any, X: Any, rows: Any) -> tuple[Any, Any]:
    """(a copy of the transformer fitted on these rows, all of X transformed by it).

    Without a transformer None and X.
    """
    if prepare is None:
        return None, X
    fitted = clone(prepare).fit(X[rows])
    made = fitted.transform(X)
    if made.shape != X.shape:
        raise ValueError(
            f"{type(prepare).__name__} makes {made.shape[1]} columns of {X.shape[1]}; it must keep "
            "the columns of X"
        )
    return fitted, made
