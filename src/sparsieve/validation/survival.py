"""Survival targets: times until an event, or until nobody looked any more (censored).

Inside the library such a y is one structured array with the fields ``event`` and ``time`` and,
where they were given, ``entry`` (samples that came under observation later) and ``strata``, by
their labels. It is cut into folds and subsamples like any other y, and nothing of it gets lost on
the way.
"""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._checks import format_names
from ..solvers.losses.cox import Survival
from .containers import plain_vector

_CODES = "code it as 1 or True where the event happened and 0 or False where it did not"
_CODED = re.compile(r"\s*([01])\s*[:=]\s*\S")  # 1:DECEASED and 0:LIVING
_FURTHER = ("entry", "strata")
# What the labels of strata are kept as.
_LABELS: tuple[tuple[Any, Any], ...] = (
    (str, np.str_),
    (bool | np.bool_, np.bool_),
    (Integral, np.int64),
    (Real, np.float64),
)
HOW = (
    "pass a structured array with one boolean and one number field, a frame with the columns "
    '"time" and "event", or (time, event) with task="survival"'
)


def survival_parts(y: np.ndarray) -> Survival:
    """The parts of a y as :func:`as_survival` returns it."""
    names = y.dtype.names or ()
    further = (np.ascontiguousarray(y[n]) if n in names else None for n in _FURTHER)
    return Survival(np.ascontiguousarray(y["time"]), np.ascontiguousarray(y["event"]), *further)


def is_survival(y: Any) -> bool:
    """Whether y says by itself that it holds survival times.

    A structured array does, as does a frame of two columns named "time" and "event" or of one
    boolean column and one of other numbers, also with columns named "entry" and "strata". Plain
    arrays of numbers never do.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.validation.survival import is_survival
    >>> is_survival(np.array([(True, 2.5)], dtype=[("died", "?"), ("years", "f8")]))
    True
    >>> is_survival(np.array([[1.0, 2.5]]))
    False
    """
    if getattr(getattr(y, "dtype", None), "names", None):
        return True
    if getattr(y, "columns", None) is None or (columns := _columns_of_frame(y)) is None:
        return False
    columns = {name: column for name, column in columns.items() if name not in _FURTHER}
    return len(columns) == 2 and _event_by_kind(columns) is not None


def may_be_survival(y: np.ndarray) -> bool:
    """Whether plain columns of numbers could be times and events, which nobody said.

    One of two columns holds 0 and 1 only, the other one numbers from 0 on.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.validation.survival import may_be_survival
    >>> may_be_survival(np.array([[5.0, 1], [2.5, 0]]))
    True
    >>> may_be_survival(np.array([[0, 1], [1, 0]]))  # two labels
    False
    """
    if y.ndim != 2 or y.shape[1] != 2:
        return False
    are_events = [bool(np.isin(column, (0, 1)).all()) for column in y.T]
    return sum(are_events) == 1 and bool((y >= 0).all())


def as_survival(
    y: Any, *, entry: Any = None, strata: Any = None, event_value: Any = None
) -> np.ndarray:
    """Read a survival target in any of its forms; the values are checked.

    Parameters
    ----------
    y : structured array, data frame, tuple (time, event) or array of shape (n_samples, 2)
        The event is the boolean field or column, or the one named "event"; without either the
        order is time, event. A structured array or a frame may have "entry" and "strata" too.
    entry : array-like of shape (n_samples,), default=None
        Times from which on samples were observed.
    strata : array-like of shape (n_samples,), default=None
        Labels of groups of samples that are not compared with each other.
    event_value : str or number, default=None
        The label that says that the event happened; all others are censored. None reads 1 and 0,
        True and False, and labels such as "1:DECEASED" and "0:LIVING".

    Returns
    -------
    y : structured ndarray of shape (n_samples,)
        Fields "event" and "time", and "entry" and "strata" where given. Strata keep their labels,
        so that reading the result again changes nothing.

    Examples
    --------
    >>> from sparsieve.validation.survival import as_survival
    >>> y = as_survival(([5.0, 2.0, 7.0], [1, 0, 1]))
    >>> y["event"].tolist(), y["time"].tolist()
    ([True, False, True], [5.0, 2.0, 7.0])
    """
    columns = _survival_columns(y)
    found = {name: columns.pop(name) for name in _FURTHER if name in columns}
    if len(columns) != 2:
        raise ValueError(
            f"a survival target needs a time and an event, but y has {len(columns)} "
            f"column{'s' * (len(columns) != 1)}; {HOW}"
        )
    event_name = _event_by_kind(columns) or list(columns)[1]
    event = _events(columns.pop(event_name), event_name, event_value)
    ((time_name, values),) = columns.items()
    parts = {
        "event": event,
        "time": _numbers(values, f"survival times {_column_phrase(time_name)}"),
    }
    if (entry := found.get("entry") if entry is None else entry) is not None:
        parts["entry"] = _numbers(entry, "entry times")
    if (strata := found.get("strata") if strata is None else strata) is not None:
        parts["strata"] = strata_labels(strata)
    for name, part in parts.items():
        if len(part) != len(event):
            raise ValueError(
                f"{name} has {len(part)} values, but the event has {len(event)}; pass one of each "
                "per sample"
            )
    array = np.empty(len(event), dtype=[(name, part.dtype) for name, part in parts.items()])
    for name, part in parts.items():
        array[name] = part
    _check_times(array)
    return array


def asked_times(times: Any) -> np.ndarray:
    """Times at which somebody wants to know a probability, none of them NaN."""
    try:
        found = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("times must be numbers, in the unit of the survival times") from None
    if bad := int(np.isnan(found).sum()):
        raise ValueError(
            f"{bad} of the {found.size} times asked for {'is' if bad == 1 else 'are'} NaN; leave "
            "them out"
        )
    return found


def check_informative(y: np.ndarray) -> None:
    """Refuse a target that no survival model can learn from; one event is enough."""
    if not y["event"].any():
        raise ValueError(
            f"all {len(y)} samples are censored: no event happened, so there is nothing to learn "
            "from; check which value codes the event (1 or True means that it happened)"
        )
    if (y["time"] == y["time"][0]).all():
        raise ValueError(
            f"all {len(y)} survival times are {y['time'][0]:g}, so nothing says who had the event "
            "earlier; pass times that differ, or use the event as a class label"
        )


def _columns_of_frame(y: Any) -> dict[Any, Any] | None:
    if getattr(y, "columns", None) is None or not hasattr(y, "dtypes"):
        return None
    if getattr(y, "ndim", 2) != 2:  # a Dask Series lists its name as a column
        return None
    return {name: y[name] for name in y.columns}


def _survival_columns(y: Any) -> dict[Any, Any]:
    """The columns by their names; plain ones are (time, event)."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names:
        return {name: np.asarray(y)[name] for name in names}
    if (columns := _columns_of_frame(y)) is not None:
        return columns
    if isinstance(y, Survival):
        return {name: part for name, part in y._asdict().items() if part is not None}
    if isinstance(y, tuple) and len(y) == 2:
        return {"time": y[0], "event": y[1]}
    y = np.asarray(y)
    if y.ndim != 2 or y.shape[1] != 2:
        raise ValueError(
            f"a survival target needs a time and an event, but y has shape {y.shape}; {HOW}"
        )
    return {"time": y[:, 0], "event": y[:, 1]}


def _event_by_kind(columns: dict[Any, Any]) -> Any:
    """Which of the columns is the event, where their names or types say so."""
    lower = {str(name).lower(): name for name in columns}
    if {"time", "event"} <= set(lower):
        return lower["event"]
    is_truth = {name: _kind(column) == "b" for name, column in columns.items()}
    numbers = [name for name, column in columns.items() if _kind(column) in "iuf"]
    events = [name for name, truth in is_truth.items() if truth]
    return events[0] if len(events) == 1 and len(numbers) == 1 else None


def _kind(column: Any) -> str:
    """The kind of a column's values, also of pandas' and Polars' own types."""
    dtype = getattr(column, "dtype", None)
    kind = getattr(dtype, "kind", None)
    return kind if isinstance(kind, str) else np.asarray(column).dtype.kind


def _column_phrase(name: Any) -> str:
    return "" if name in ("time", "event") else f"in {name!r} "


def _events(values: Any, name: Any, event_value: Any = None) -> np.ndarray:
    where = f"the event {_column_phrase(name)}".strip()
    values = _plain(values, where)
    if event_value is not None:
        return _find_events(values, event_value, where)
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        _check_numbers(values, where)
        odd = np.unique(values[(values != 0) & (values != 1)])
        if not len(odd):
            return values.astype(bool)
        raise ValueError(f"{where} holds {format_names(odd.tolist())}; {_CODES}")
    labels = sorted({str(value) for value in values.ravel()})
    codes = {label: _CODED.match(label) for label in labels}
    if all(codes.values()) and len({found[1] for found in codes.values() if found}) == len(labels):
        return np.array([str(value).lstrip()[0] == "1" for value in values])
    raise ValueError(
        f"{where} holds {format_names(labels)}; say which of them is the event, for example with "
        f"event_value={labels[-1]!r}, or {_CODES}"
    )


def _find_events(values: np.ndarray, event_value: Any, where: str) -> np.ndarray:
    """Where the label of the event stands, whether it is written as a number or as text."""
    wanted = {str(event_value).strip().casefold()}
    if not isinstance(event_value, str | bool | np.bool_):
        wanted |= {f"{float(event_value):g}"}
    texts = [f"{one:g}" if isinstance(one, float) else str(one).strip() for one in values.tolist()]
    found = np.array([text.casefold() in wanted for text in texts])
    if not found.any():
        raise ValueError(
            f"{where} never holds {event_value!r}; it holds {format_names(sorted(set(texts)))}"
        )
    return found


def _numbers(values: Any, where: str) -> np.ndarray:
    where = where.strip()
    values = _plain(values, where)
    if values.dtype.kind not in "iuf":
        raise ValueError(f"{where} must be numbers, such as days; convert them first")
    values = values.astype(np.float64)
    _check_numbers(values, where)
    return values


def strata_labels(strata: Any) -> np.ndarray:
    """One label per sample, all of one kind: text, truth values, whole or other numbers.

    Examples
    --------
    >>> from sparsieve.validation.survival import strata_labels
    >>> strata_labels(["north", "south"]).tolist(), strata_labels([3, 1]).tolist()
    (['north', 'south'], [3, 1])
    """
    values = _one_column(np.asarray(plain_vector("strata", strata)), "strata")
    if values.dtype.kind in "OT":
        found = values.astype(object)
        kinds = (as_ for kind, as_ in _LABELS if all(isinstance(one, kind) for one in found))
        try:
            values = found.astype(next(kinds))
        except StopIteration:
            raise ValueError(
                f"strata hold values such as {found[0]!r}; pass their names as text"
            ) from None
        except OverflowError:
            raise ValueError(
                f"strata hold whole numbers as large as {max(found, key=abs)}; pass them as text"
            ) from None
    _check_numbers(values, "strata")
    return values


def _one_column(values: np.ndarray, where: str) -> np.ndarray:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{where} must be one column, but has shape {values.shape}")
    return values


def _plain(values: Any, where: str) -> np.ndarray:
    """One column as an array of numbers or truth values where it is one, without gaps."""
    values = _one_column(np.asarray(values), where)
    if values.dtype.kind != "O":
        return values
    missing = sum(v is None or type(v).__name__ in ("NAType", "NaTType") or v != v for v in values)
    if missing:
        raise ValueError(
            f"{where}: {missing} of {len(values)} values are missing; drop these samples"
        )
    if all(isinstance(value, bool | np.bool_) for value in values):
        return values.astype(bool)
    try:
        return values.astype(np.float64) if not isinstance(values[0], str) else values.astype(str)
    except (TypeError, ValueError, IndexError):
        return values.astype(str)


def _check_numbers(values: np.ndarray, where: str) -> None:
    if values.dtype.kind == "f" and (bad := int((~np.isfinite(values)).sum())):
        raise ValueError(
            f"{where}: {bad} of {len(values)} values are NaN or infinite; drop these samples"
        )


def _check_times(y: np.ndarray) -> None:
    if bad := int((y["time"] < 0).sum()):
        raise ValueError(
            f"{bad} of {len(y)} survival times are negative; pass the time from the start of "
            "observation to the event or to censoring"
        )
    if "entry" in (y.dtype.names or ()) and (bad := int((y["entry"] >= y["time"]).sum())):
        raise ValueError(
            f"{bad} of {len(y)} samples have an entry time that is not before their survival time; "
            "correct or drop them"
        )
