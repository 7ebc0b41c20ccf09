"""Numbers: the printed ones, and ours as exhibits show them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
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
    """Rounded standard deviation of a sample, without what only rounding leaves; None of one."""
    return rounded(round(float(np.std(values, ddof=1)), 9)) if len(values) > 1 else None


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


def picked(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What a row has under some names.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import picked
    >>> picked({"method": "a", "k": 1, "seconds": 2.0}, "method", "k")
    {'method': 'a', 'k': 1}
    """
    return {name: row[name] for name in names}


def mean_rows(
    rows: Sequence[dict],
    by: str | Sequence[str],
    columns: Sequence[str] | Mapping[str, str],
    count: str = "",
) -> list[dict[str, Any]]:
    """One row for every group of rows, with means of columns.

    Parameters
    ----------
    rows : sequence of dict
    by : str or sequence of str
        Columns that make a group.
    columns : sequence of str, or mapping of str to str
        What to take means of, or what to call the means, and of what to take them.
    count : str
        Name of a column for the number of data sets; without a name there is none.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import mean_rows
    >>> rows = [{"method": "a", "accuracy": 90.0}, {"method": "a", "accuracy": 92.0}]
    >>> mean_rows(rows, "method", ["accuracy"])
    [{'method': 'a', 'accuracy': 91.0}]
    """
    named = columns if isinstance(columns, Mapping) else dict(zip(columns, columns, strict=True))
    return [
        {**place, **{name: mean(row[column] for row in group) for name, column in named.items()}}
        for place, group in _groups(rows, by, count)
    ]


def wide_rows(
    rows: Sequence[dict],
    by: str | Sequence[str],
    column: str,
    at: str,
    title: str,
    values: Sequence | None = None,
    count: str = "",
) -> list[dict[str, Any]]:
    """One row for every group of rows, with its mean at every value of another column.

    Only values that every data set has stand side by side.

    Parameters
    ----------
    rows, by, count
        As of :func:`mean_rows`.
    column : str
        What to take means of.
    at : str
        The column whose values stand side by side.
    title : str
        Name of the new columns, with ``{}`` for the value.
    values : sequence, default=None
        Only these values; all if not given.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import wide_rows
    >>> rows = [{"method": "a", "k": k, "accuracy": 90.0 + k} for k in (1, 2)]
    >>> wide_rows(rows, "method", "accuracy", "k", "at {}")
    [{'method': 'a', 'at 1': 91.0, 'at 2': 92.0}]
    """
    of_sets = grouped(({"dataset": None, **row} for row in rows), "dataset").values()
    common = set.intersection(*({row[at] for row in group} for group in of_sets))
    shown = sorted(common if values is None else common & set(values))
    return [
        {
            **place,
            **{
                title.format(value): mean(row[column] for row in group if row[at] == value)
                for value in shown
            },
        }
        for place, group in _groups(rows, by, count)
    ]


def _groups(
    rows: Sequence[dict], by: str | Sequence[str], count: str
) -> Iterator[tuple[dict[str, Any], list[dict]]]:
    """What the rows of a group share, with its number of data sets if that has a name; the rows."""
    by = (by,) if isinstance(by, str) else by
    for place, group in grouped(rows, *by).items():
        sets = {count: len({row["dataset"] for row in group})} if count else {}
        yield {**dict(zip(by, place, strict=True)), **sets}, group


def difference(ours: float | None, printed: float | None) -> float | None:
    """Ours less printed, where both are there; what only rounding leaves is nothing."""
    return None if ours is None or printed is None else rounded(round(ours - printed, 9))


def share(wins: Sequence[bool]) -> str:
    """How often something holds, in words: "3 of 5"."""
    return f"{sum(wins)} of {len(wins)}"


def published(table: str) -> list[dict]:
    """The rows of a printed table; numbers are floats, empty cells None.

    Parameters
    ----------
    table : str
        "data_sets", "l20_table2", "l0mkl_tables4_5_6", "l0mkl_table7", "l0mpm_table2",
        "l0mpm_tables3_5_6_7", "l0mpm_table4" or "l0mpm_synthetic".

    Returns
    -------
    rows : list of dict
        One per printed number.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import published
    >>> published("l0mkl_table7")[0]["dataset"]
    'ALLAML'
    """
    path = resources.files(__package__).joinpath("tables", f"{table}.csv")
    with path.open(encoding="utf-8") as lines:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]


def published_by(table: str, *names: str) -> dict[Any, dict]:
    """The rows of a printed table by what some columns hold: a value, or a tuple of several.

    Examples
    --------
    >>> from sparsieve_experiments.papers.numbers import published_by
    >>> published_by("l0mkl_table7", "dataset")["ALLAML"]["dataset"]
    'ALLAML'
    """
    return {
        row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row
        for row in published(table)
    }


def _value(text: str) -> str | float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text
