"""What survival times a user means who names columns of a data frame or of AnnData."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..validation.survival import as_survival, is_survival
from .given import given, is_annotated, obs_column


def names_survival(y: Any) -> bool:
    """Whether y names two columns: a time and an event."""
    return isinstance(y, tuple | list) and len(y) == 2 and all(isinstance(n, str) for n in y)


def survival_given(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    entry: Any = None,
    strata: Any = None,
    event_value: Any = None,
) -> tuple[Any, Any]:
    """(X without the columns that are named, survival times); any other y stays as it is.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or AnnData
    y : tuple of two names, or values
        A time and an event.
    task : str, default="auto"
        "survival" says that plain values are (time, event).
    entry, strata : array-like or str, default=None
        Values, or the name of a column.
    event_value : str or number, default=None
        The label of the event, see :func:`~sparsieve.validation.survival.as_survival`.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.survival import survival_given
    >>> frame = pd.DataFrame({"age": [50, 60], "months": [3.0, 7.0], "died": [1, 0]})
    >>> X, y = survival_given(frame, ("months", "died"))
    >>> list(X.columns), y["time"].tolist()
    (['age'], [3.0, 7.0])
    """
    if not (names_survival(y) or task == "survival" or is_survival(y)):
        if entry is None and strata is None and event_value is None:
            return X, y
        raise ValueError(
            "entry, strata and event_value are for survival times, but y holds none; name the "
            'columns of the time and the event, such as y=("months", "died")'
        )
    if task not in ("auto", "survival"):
        raise ValueError(f'y holds survival times, but task="{task}"; leave task out')
    parts = {"entry": entry, "strata": strata}
    if names_survival(y):
        parts |= {"time": y[0], "event": y[1]}
    taken: dict[str, Any] = {}
    left = X
    for name, values in parts.items():
        if not isinstance(values, str):
            taken[name] = values
            continue
        if is_annotated(X):
            taken[name] = obs_column(X, values)
            continue
        # Every name is looked up in X as it was given: two may be the same column.
        taken[name] = np.asarray(given(X, values).y)
        if values in left.columns:
            left = given(left, values).X
    further = {"entry": taken["entry"], "strata": taken["strata"]}
    if "time" in taken:
        y = (taken["time"], taken["event"])
    return left, as_survival(y, **further, event_value=event_value)
