"""Numbers as exhibits show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def rounded(value: float | None, digits: int = 4) -> float | None:
    """A number with this many significant digits; None stays None.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import rounded
    >>> rounded(98.76543), rounded(0.00123456), rounded(None)
    (98.77, 0.001235, None)
    """
    return None if value is None else float(f"{value:.{digits}g}")


def mean(values: Iterable[float | None]) -> float | None:
    """Rounded mean of those that are not None; None of none."""
    known = [value for value in values if value is not None]
    return rounded(float(np.mean(known))) if known else None


def deviation(values: Sequence[float]) -> float | None:
    """Rounded standard deviation of a sample; None of fewer than two."""
    return rounded(float(np.std(values, ddof=1))) if len(values) > 1 else None


def with_deviation(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Mean and standard deviation as two columns of a row.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import with_deviation
    >>> with_deviation("accuracy", [90.0, 92.0])
    {'accuracy': 91.0, 'accuracy_sd': 1.414}
    """
    return {name: mean(values), f"{name}_sd": deviation(values)}


def grouped(rows: Iterable[dict], *names: str) -> dict[tuple, list[dict]]:
    """Rows by the values that they have under some names, in the order of their first.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import grouped
    >>> rows = [{"method": "a", "k": 1}, {"method": "a", "k": 2}]
    >>> [(place, len(group)) for place, group in grouped(rows, "method").items()]
    [(('a',), 2)]
    """
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def mean_rows(
    rows: Iterable[dict], by: str | Sequence[str], columns: Sequence[str], count: str = ""
) -> list[dict[str, Any]]:
    """One row for every group of rows: its size under the name ``count``, and means of columns.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import mean_rows
    >>> rows = [{"method": "a", "accuracy": 90.0}, {"method": "a", "accuracy": 92.0}]
    >>> mean_rows(rows, "method", ["accuracy"])
    [{'method': 'a', 'accuracy': 91.0}]
    """
    by = (by,) if isinstance(by, str) else by
    return [
        {
            **dict(zip(by, place, strict=True)),
            **({count: len(group)} if count else {}),
            **{name: mean(row[name] for row in group) for name in columns},
        }
        for place, group in grouped(rows, *by).items()
    ]


def wide_rows(
    rows: Iterable[dict],
    by: str | Sequence[str],
    column: str,
    at: Mapping[str, Sequence],
    title: str,
) -> list[dict[str, Any]]:
    """One row for every group of rows, with its mean at every value of another column.

    Parameters
    ----------
    rows : iterable of dict
    by : str or sequence of str
        Columns that make a group.
    column : str
        What to take means of.
    at : mapping of one str to a sequence
        The column whose values stand side by side, and which of them.
    title : str
        Name of the new columns, with ``{}`` for the value.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import wide_rows
    >>> rows = [{"method": "a", "k": k, "accuracy": 90.0 + k} for k in (1, 2)]
    >>> wide_rows(rows, "method", "accuracy", {"k": (1, 2)}, "at {}")
    [{'method': 'a', 'at 1': 91.0, 'at 2': 92.0}]
    """
    by = (by,) if isinstance(by, str) else by
    ((over, values),) = at.items()
    return [
        {
            **dict(zip(by, place, strict=True)),
            **{
                title.format(value): mean(row[column] for row in group if row[over] == value)
                for value in values
            },
        }
        for place, group in grouped(rows, *by).items()
    ]


def difference(ours: float | None, printed: float | None) -> float | None:
    """Ours less printed, where both are there; what only rounding leaves is nothing."""
    return None if ours is None or printed is None else rounded(round(ours - printed, 9))


def share(wins: Sequence[bool]) -> str:
    """How often something holds, in words: "3 of 5"."""
    return f"{sum(wins)} of {len(wins)}"
